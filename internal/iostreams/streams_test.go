package iostreams

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestColored(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		env  map[string]string
		tty  bool
		want bool
	}{
		{"terminal", nil, true, true},
		{"no terminal", nil, false, false},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, true, false},
		{"NO_COLOR of any value", map[string]string{"NO_COLOR": "0"}, true, false},
		{"NO_COLOR empty", map[string]string{"NO_COLOR": ""}, true, true},
		{"dumb", map[string]string{"TERM": "dumb"}, true, false},
		{"other terminal", map[string]string{"TERM": "xterm-256color"}, true, true},
		{"FORCE_COLOR", map[string]string{"FORCE_COLOR": "1"}, false, true},
		{"FORCE_COLOR 0", map[string]string{"FORCE_COLOR": "0"}, false, false},
		{"FORCE_COLOR 0 on a terminal", map[string]string{"FORCE_COLOR": "0"}, true, true},
		{"FORCE_COLOR beats dumb", map[string]string{"FORCE_COLOR": "3", "TERM": "dumb"}, true, true},
		{"CLICOLOR_FORCE", map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{"NO_COLOR beats FORCE_COLOR", map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := colored(env(tt.env), tt.tty); got != tt.want {
				t.Errorf("colored = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestSystem(t *testing.T) {
	t.Parallel()
	s := System(env(map[string]string{"TERM": "dumb", "FORCE_COLOR": "1"}))
	if s.In != os.Stdin || s.Out != os.Stdout || s.Err != os.Stderr {
		t.Error("the streams are not those of the process")
	}
	if !s.Color || !s.ErrColor || !s.Dumb || s.Width <= 0 {
		t.Errorf("Color %v, ErrColor %v, Dumb %v, Width %d", s.Color, s.ErrColor, s.Dumb, s.Width)
	}
	if s.OutTTY != isTerminal(os.Stdout) {
		t.Errorf("OutTTY = %v", s.OutTTY)
	}
	if s.OutNull != isNull(os.Stdout) {
		t.Errorf("OutNull = %v", s.OutNull)
	}
}

func TestIsNull(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{r, w, null, file} {
			_ = f.Close()
		}
	})
	for _, f := range []*os.File{w, file} {
		if isNull(f) {
			t.Errorf("%s counts as the null device", f.Name())
		}
	}
	if !isNull(null) {
		t.Error("the null device does not count as one")
	}
	_ = null.Close()
	if isNull(null) {
		t.Error("a closed file counts as the null device")
	}
}

func TestIsTerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if isTerminal(file) {
		t.Error("a file counts as a terminal")
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo terminal on this system")
	}
	t.Cleanup(func() { _ = tty.Close() })
	if !isTerminal(tty) {
		t.Error("a pseudo terminal does not count as a terminal")
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	fixed := func(n int, err error) func() (int, error) { return func() (int, error) { return n, err } }
	for name, tt := range map[string]struct {
		s    Streams
		want int
	}{
		"asked":       {Streams{size: fixed(132, nil), Width: 40}, 132},
		"error":       {Streams{size: fixed(0, errors.New("no terminal")), Width: 40}, 40},
		"zero":        {Streams{size: fixed(0, nil)}, defaultWidth},
		"not a tty":   {Streams{Width: 100}, 100},
		"nothing set": {Streams{}, defaultWidth},
	} {
		if got := tt.s.columns(); got != tt.want {
			t.Errorf("%s: %d columns, want %d", name, got, tt.want)
		}
	}
}

func TestTestStreams(t *testing.T) {
	t.Parallel()
	s, out, errOut := Test("typed")
	in, err := io.ReadAll(s.In)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.Writer{s.Out, s.Err, s.Err} {
		if _, err := io.WriteString(w, "x"); err != nil {
			t.Fatal(err)
		}
	}
	got := []string{string(in), out.String(), errOut.String()}
	if diff := cmp.Diff([]string{"typed", "x", "xx"}, got); diff != "" {
		t.Error(diff)
	}
	if s.InTTY || s.OutTTY || s.ErrTTY || s.Color || s.ErrColor {
		t.Errorf("test streams claim a terminal: %+v", s)
	}
}
