// Package iostreams gives the command line its standard streams, the facts about the terminal behind them, and
// progress on stderr.
//
// It is the only importer of the progress bar library. It decides no exit code, formats no result and asks no question;
// data for stdout is the business of its callers, and nothing here writes to stdout.
package iostreams

import (
	"bytes"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// defaultWidth is the width of a terminal that does not tell, in columns.
const defaultWidth = 80

// Streams are the standard streams of one run and what is known about them.
type Streams struct {
	In  io.Reader
	Out io.Writer // data only
	Err io.Writer // progress, warnings, questions

	InTTY, OutTTY, ErrTTY bool // whether each is a terminal

	OutNull bool // Out is the null device, where everything is lost

	Color    bool // Out may carry colour codes
	ErrColor bool // Err may carry colour codes
	Dumb     bool // the terminal cannot move its cursor (TERM=dumb)
	Width    int  // columns of the terminal, 80 when it does not tell

	size func() (int, error) // asks the terminal for its width again, for windows are resized; nil when there is none
}

// System returns the streams of the process. getenv reads NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE and TERM.
func System(getenv func(string) string) *Streams {
	s := &Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: isTerminal(os.Stdin), OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
		OutNull: isNull(os.Stdout),
		Dumb:    getenv("TERM") == "dumb",
	}
	s.Color = colored(getenv, s.OutTTY)
	s.ErrColor = colored(getenv, s.ErrTTY)
	if s.ErrTTY {
		s.size = func() (int, error) {
			columns, _, err := term.GetSize(fd(os.Stderr))
			return columns, err
		}
	}
	s.Width = s.columns()
	return s
}

// Test returns streams over memory: stdin reads the text, no stream is a terminal, and the buffers hold what was
// written to Out and Err. Read a buffer only after writers are done.
func Test(stdin string) (s *Streams, out, errOut *bytes.Buffer) {
	out, errOut = &bytes.Buffer{}, &bytes.Buffer{}
	return &Streams{In: strings.NewReader(stdin), Out: out, Err: errOut, Width: defaultWidth}, out, errOut
}

func isTerminal(f *os.File) bool { return term.IsTerminal(fd(f)) }

// isNull reports whether f is the null device. A stdout that was closed when the program started is one, too: the Go
// runtime opens it in the place of a missing standard stream.
func isNull(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 { // on Windows, a pipe compares equal to the null device
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

func fd(f *os.File) int { return int(f.Fd()) }

// columns returns the present width of the terminal.
func (s *Streams) columns() int {
	if s.size != nil {
		if n, err := s.size(); err == nil && n > 0 {
			return n
		}
	}
	if s.Width > 0 {
		return s.Width
	}
	return defaultWidth
}

// colored decides on colour for one stream. A non-empty NO_COLOR says no and wins (no-color.org). FORCE_COLOR and
// CLICOLOR_FORCE, when neither empty nor 0, say yes also where there is no terminal. Else a terminal that is not dumb
// gets colour.
func colored(getenv func(string) string, tty bool) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	for _, name := range []string{"FORCE_COLOR", "CLICOLOR_FORCE"} {
		if v := getenv(name); v != "" && v != "0" {
			return true
		}
	}
	return tty && getenv("TERM") != "dumb"
}
