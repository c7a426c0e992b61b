package buildinfo

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func recorded(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
	return &debug.BuildInfo{Main: debug.Module{Path: "mediagen", Version: version}, Settings: settings}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef01234567"
	git := []debug.BuildSetting{
		{Key: "vcs", Value: "git"},
		{Key: "vcs.revision", Value: hash},
		{Key: "vcs.time", Value: "2026-11-30T16:00:00Z"},
		{Key: "vcs.modified", Value: "false"},
	}
	dirty := append(git[:3:3], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	tests := []struct {
		name string
		set  Info
		rec  *debug.BuildInfo
		want Info
	}{
		{"nothing", Info{}, nil, Info{Version: "dev"}},
		{"no version control", Info{}, recorded("(devel)"), Info{Version: "dev"}},
		{"empty version", Info{}, recorded(""), Info{Version: "dev"}},
		{
			"go build",
			Info{},
			recorded("v1.2.4-0.2026", git...),
			Info{Version: "1.2.4-0.2026", Commit: hash, Date: "2026-11-30T16:00:00Z"},
		},
		{
			"go build of changes",
			Info{},
			recorded("(devel)", dirty...),
			Info{Version: "dev", Commit: hash + "-dirty", Date: "2026-11-30T16:00:00Z"},
		},
		{"go install", Info{}, recorded("v1.2.3"), Info{Version: "1.2.3"}},
		{
			"release",
			Info{Version: "v2.0.0", Commit: "abc", Date: "2026-01-01"},
			recorded("v1.2.3", dirty...),
			Info{Version: "2.0.0", Commit: "abc", Date: "2026-01-01"},
		},
		{
			"only the version set",
			Info{Version: "2.0.0"},
			recorded("v1.2.3", git...),
			Info{Version: "2.0.0", Commit: hash, Date: "2026-11-30T16:00:00Z"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Go, tt.want.OS, tt.want.Arch = runtime.Version(), runtime.GOOS, runtime.GOARCH
			if diff := cmp.Diff(tt.want, describe(tt.set, tt.rec)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	got := Read()
	if got.Version == "" || got.Go != runtime.Version() {
		t.Errorf("Read = %+v", got)
	}
	if ua := (Info{Version: "1.2.3"}).UserAgent(); ua != "mediagen/1.2.3" {
		t.Errorf("UserAgent = %s", ua)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(Info{"1", "c", "d", "go1", "linux", "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":"1","commit":"c","date":"d","go":"go1","os":"linux","arch":"amd64"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}
