package config

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	opts := cmp.AllowUnexported(places{})
	tests := []struct {
		name, goos, home string
		env              map[string]string
		want             places
	}{
		{
			"linux", "linux", "/h", nil,
			places{"/h/.config/mediagen", "/h/.local/state/mediagen", "/h/.cache/mediagen", "/tmp/media-gen-mcp"},
		},
		{"xdg", "linux", "/h", map[string]string{
			"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/k",
		}, places{"/c/mediagen", "/s/mediagen", "/k/mediagen", "/tmp/media-gen-mcp"}},
		{
			"relative xdg is ignored", "linux", "/h",
			map[string]string{"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": ""},
			places{"/h/.config/mediagen", "/h/.local/state/mediagen", "/h/.cache/mediagen", "/tmp/media-gen-mcp"},
		},
		{"no home", "linux", "", nil, places{temp: "/tmp/media-gen-mcp"}},
		{"macOS", "darwin", "/Users/u", nil, places{
			"/Users/u/Library/Application Support/mediagen", "/Users/u/Library/Application Support/mediagen/state",
			"/Users/u/Library/Caches/mediagen", "/tmp/media-gen-mcp",
		}},
		{"macOS with xdg", "darwin", "/Users/u", map[string]string{"XDG_CONFIG_HOME": "/c"}, places{
			"/c/mediagen", "/Users/u/Library/Application Support/mediagen/state",
			"/Users/u/Library/Caches/mediagen", "/tmp/media-gen-mcp",
		}},
		{
			"Windows", "windows", "/u",
			map[string]string{"APPDATA": "/r", "LOCALAPPDATA": "/l", "TMP": "/t", "TEMP": "/e"},
			places{"/r/mediagen", "/l/mediagen/state", "/l/mediagen/cache", "/e/media-gen-mcp"},
		},
		{"Windows, only TMP", "windows", "/u", map[string]string{"TMP": "/t"}, places{temp: "/t/media-gen-mcp"}},
		{
			"Windows, neither", "windows", "/u",
			map[string]string{"LOCALAPPDATA": "/l"},
			places{"", "/l/mediagen/state", "/l/mediagen/cache", "/l/Temp/media-gen-mcp"},
		},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, placesFor(test.goos, test.env, test.home), opts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestStrangersDir(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	if got := strangersDir("/"); !strings.Contains(got, "root of the file system") {
		t.Errorf("/: %q", got)
	}
	if got := strangersDir(t.TempDir() + "/none"); !strings.Contains(got, "cannot be looked at") {
		t.Errorf("no directory: %q", got)
	}
}

func TestAbsolute(t *testing.T) {
	t.Parallel()
	s := Source{WorkDir: "/w", HomeDir: "/h"}
	for path, want := range map[string]string{
		"a": "/w/a", "./a": "/w/a", "/a": "/a", "~": "/h", "~/a": "/h/a", "~user/a": "/w/~user/a", "../a": "/a", "": "",
	} {
		if got := s.absolute(path); got != want {
			t.Errorf("absolute(%q) = %q, want %q", path, got, want)
		}
	}
	if got := (Source{}).absolute("~/a"); got != "~/a" {
		t.Errorf("without a home directory: %q", got)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"timeout", "openai.api_key", "google.api_key", "dirs", "urls"}
	for name, want := range map[string]string{
		"timeot": "timeout", "Time-out": "timeout", "openai.apikey": "openai.api_key", "api_key": "openai.api_key",
		"dir": "dirs", "qwertz": "", "": "", strings.Repeat("x", 200): "",
	} {
		if got := nearest(name, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"ab", "ba", 2}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestEnvFileFaultsNameTheLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, want string }{
		{"first", "no name here\n", "line 1:"},
		{"third", "A=1\nB=2\nno name here\nC=3\n", "line 3:"},
		{"last without newline", "A=1\nB=2\nno name here", "line 3:"},
		{"a name alone at the end", "A=1\nB", "line 2:"},
		{"after a value of three lines", "A=\"1\n2\n3\"\n!\n", "line 4:"},
		{"unterminated", "A=1\nB=\"2\nC=3\n", "line 2:"},
		{"nameless", "A=1\n=x\nB=2\n", "line 2:"},
		{"too many lines to search", strings.Repeat("A=1\n", 3000) + "!\n", "a line is not a NAME=value line"},
	}
	for _, test := range tests {
		vars, err := parseEnvFile([]byte(test.file))
		if err == nil {
			t.Errorf("%s: accepted as %v", test.name, vars)
			continue
		}
		if !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestEnvFileForms(t *testing.T) {
	t.Parallel()
	file := "\ufeff# remark\nexport A=1\r\nB='x # y'\nC=\"a\\nb\"\nD=${A}\nE=v # remark\n\nF=\n"
	want := map[string]string{"A": "1", "B": "x # y", "C": "a\nb", "D": "1", "E": "v", "F": ""}
	got, err := parseEnvFile([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
