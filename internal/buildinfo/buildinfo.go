// Package buildinfo says which build of the program runs: version, commit, date, Go release and platform.
//
// It reads what the linker or the Go tool stored in the binary. It looks nothing up at run time and knows no libvips:
// the imaging package describes its own engine.
package buildinfo

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// What the release build sets with -ldflags "-X mediagen/internal/buildinfo.version=1.2.3 ...".
//
//nolint:gochecknoglobals // the linker can only set package variables
var version, commit, date string

// Info names a build. Version is semantic without a leading "v", or "dev" when unknown; Commit is the full hash, with
// "-dirty" behind it when the tree had changes; Date is the commit's time in RFC 3339. Both are "" when unknown.
type Info struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Read returns the running build: what the linker set, else what the Go tool recorded. It never fails.
func Read() Info {
	recorded, _ := debug.ReadBuildInfo()
	return describe(Info{Version: version, Commit: commit, Date: date}, recorded)
}

// UserAgent returns the product token for HTTP requests (RFC 9110 section 10.1.5), as in "mediagen/1.2.3".
func (i Info) UserAgent() string { return "mediagen/" + i.Version }

// describe fills the gaps of what the linker set with what the Go tool recorded, which may be nil.
func describe(set Info, recorded *debug.BuildInfo) Info {
	set.Go, set.OS, set.Arch = runtime.Version(), runtime.GOOS, runtime.GOARCH
	if recorded != nil {
		fill(&set, recorded)
	}
	set.Version = strings.TrimPrefix(set.Version, "v")
	if set.Version == "" {
		set.Version = "dev"
	}
	return set
}

func fill(i *Info, recorded *debug.BuildInfo) {
	stamps := map[string]string{}
	for _, s := range recorded.Settings {
		stamps[s.Key] = s.Value
	}
	if i.Version == "" && recorded.Main.Version != "(devel)" {
		i.Version = recorded.Main.Version
	}
	if i.Commit == "" {
		i.Commit = stamps["vcs.revision"]
		if i.Commit != "" && stamps["vcs.modified"] == "true" {
			i.Commit += "-dirty"
		}
	}
	if i.Date == "" {
		i.Date = stamps["vcs.time"]
	}
}
