package iostreams

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// clock is a time that only tests move. It is safe for concurrent use.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// display returns a display that only calls drive, so that a test decides when it looks at the clock.
func display(s *Streams, mode Mode) (*Progress, *clock) {
	c := newClock()
	p := s.Progress(mode, false, c.Now)
	p.tick = 0
	return p, c
}

func terminal() (*Streams, *bytes.Buffer) {
	s, _, errOut := Test("")
	s.ErrTTY = true
	return s, errOut
}

// screen returns what a terminal shows after the text: it knows the few codes that the bars use and fails on others.
func screen(t *testing.T, text string) string {
	t.Helper()
	lines, row := []string{""}, 0
	home := false // the cursor is at the start of a line that has text
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '\x1b':
			n = strings.IndexAny(text, "AJKm") + 1
			if n < 3 || text[1] != '[' {
				t.Fatalf("unknown code in %q", text)
			}
			switch code := text[2 : n-1]; text[n-1] {
			case 'A':
				up, err := strconv.Atoi(code)
				if err != nil || up < 1 || up > row {
					t.Fatalf("cursor up %q from row %d", code, row)
				}
				row -= up
			case 'J':
				if !home {
					t.Fatal("the screen was erased from the middle of a line")
				}
				lines, home = append(lines[:row], ""), false
			case 'K', 'm': // nothing stands behind the cursor; colours do not matter here
			}
		case r == '\n' && !home && row == len(lines)-1:
			lines, row = append(lines, ""), row+1
		case r == '\r':
			home = true
		case r < ' ' || home:
			t.Fatalf("%q overwrites what stands there", text)
		default:
			lines[row] += string(r)
		}
		text = text[n:]
	}
	return strings.Join(lines, "\n")
}

func TestPlainLines(t *testing.T) {
	t.Parallel()
	s, out, errOut := Test("")
	p, c := display(s, ModeAuto)
	p.Start("a", "making 2 pictures", -1)
	p.StartBytes("b", "fetch x.mp4", 20_000_000)
	p.Update("a", 0, "queued")
	for range 5 { // 25 seconds
		c.add(5 * time.Second)
		p.Update("b", 12_345_678, "")
	}
	p.Note("rate limited")
	p.Finish("b", "20 MB")
	c.add(8 * time.Second)
	p.Update("a", 1, "running")
	p.Fail("a", "provider said no")
	p.Close()
	want := `making 2 pictures: started
fetch x.mp4: started
making 2 pictures: running, 10s, queued
fetch x.mp4: 61%, 12.3 MB of 20.0 MB, 10s
making 2 pictures: running, 20s, queued
fetch x.mp4: 61%, 12.3 MB of 20.0 MB, 20s
rate limited
fetch x.mp4: done in 25s, 20 MB
making 2 pictures: running, 33s, running
making 2 pictures: failed after 33s, provider said no
`
	if diff := cmp.Diff(want, errOut.String()); diff != "" {
		t.Error(diff)
	}
	if out.Len() > 0 {
		t.Errorf("progress on stdout: %q", out)
	}
}

// signalWriter tells each write on a channel.
type signalWriter chan string

func (w signalWriter) Write(b []byte) (int, error) {
	w <- string(b)
	return len(b), nil
}

func TestPlainLineWithoutCalls(t *testing.T) {
	t.Parallel()
	c, w := newClock(), make(signalWriter, 10)
	s, _, _ := Test("")
	s.Err = w
	p := s.Progress(ModePlain, false, c.Now)
	p.tick = time.Millisecond
	p.Start("a", "waiting", 0)
	c.add(9900 * time.Millisecond)
	p.Note("not yet")
	c.add(200 * time.Millisecond)
	got := []string{<-w, <-w, <-w}
	p.Close()
	if diff := cmp.Diff([]string{"waiting: started\n", "not yet\n", "waiting: running, 10s\n"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	const bars, lines, notes, nothing = "bars", "lines", "notes", "nothing"
	tests := []struct {
		mode             Mode
		tty, dumb, quiet bool
		want             string
	}{
		{ModeAuto, true, false, false, bars},
		{ModeAuto, false, false, false, lines},
		{ModeAuto, true, true, false, lines},
		{ModeBar, true, false, false, bars},
		{ModeBar, false, false, false, lines},
		{ModeBar, true, true, false, lines},
		{ModePlain, true, false, false, lines},
		{ModePlain, false, false, false, lines},
		{ModeNone, true, false, false, notes},
		{ModeNone, false, false, false, notes},
		{ModeBar, true, false, true, nothing},
		{ModePlain, false, false, true, nothing},
		{"", true, false, false, bars},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			t.Parallel()
			s, _, errOut := Test("")
			s.ErrTTY, s.Dumb = tt.tty, tt.dumb
			p := s.Progress(tt.mode, tt.quiet, newClock().Now)
			p.tick = 0
			p.Start("a", "job", 2)
			p.Update("a", 1, "half")
			p.Note("note")
			p.Finish("a", "well")
			p.Start("b", "job", 2)
			p.Fail("b", "badly")
			p.Close()
			got := nothing
			switch text := errOut.String(); {
			case strings.Contains(text, "\x1b["):
				got = bars
			case strings.Contains(text, "job: started"):
				got = lines
			case text == "note\n":
				got = notes
			case text != "":
				got = text
			}
			if got != tt.want {
				t.Errorf("got %s, want %s: %q", got, tt.want, errOut)
			}
		})
	}
}

func TestBars(t *testing.T) {
	t.Parallel()
	s, errOut := terminal()
	p, c := display(s, ModeBar)
	p.Start("a", "making 4 pictures", 4)
	p.Start("b", "waiting", -1)
	p.StartBytes("d", "fetch x.mp4", -1)
	c.add(5 * time.Second)
	p.Update("a", 1, "queued")
	c.add(5 * time.Second)
	p.Note("rate limited")
	p.Update("d", 2_000_000, "")
	c.add(time.Second)
	p.Update("b", 0, "at the provider")
	got := strings.Split(screen(t, errOut.String()), "\n")
	if len(got) != 4 {
		t.Fatalf("%d lines: %q", len(got), got)
	}
	for i, want := range []string{
		"rate limited",
		"making 4 pictures  25% [====>...............] (1/4) 11s, 33s left, queued",
		"waiting",
		"fetch x.mp4",
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("line %d is %q, want %q in it", i, got[i], want)
		}
	}
	if !strings.HasSuffix(got[2], "waiting 11s, at the provider") || !strings.Contains(got[3], "2.0 MB") {
		t.Errorf("lines %q, %q", got[2], got[3])
	}
	p.Finish("b", "")
	p.Update("a", 9, "")
	p.Close()
	want := "rate limited\nwaiting: done in 11s\n"
	if diff := cmp.Diff(want, screen(t, errOut.String())); diff != "" {
		t.Error(diff)
	}
}

func TestBarsSpareTheTerminal(t *testing.T) {
	t.Parallel()
	s, errOut := terminal()
	p, c := display(s, ModeBar)
	p.Start("a", "job", 1000)
	start := errOut.Len()
	for i := range int64(1000) {
		p.Update("a", i, "")
	}
	if errOut.Len() != start {
		t.Errorf("%d bytes drawn while no time passed", errOut.Len()-start)
	}
	c.add(barTick)
	p.Update("a", 500, "")
	if errOut.Len() == start {
		t.Error("nothing drawn after the pause")
	}
}

func TestBarsDrawWithoutCalls(t *testing.T) {
	t.Parallel()
	c, w := newClock(), make(signalWriter, 100)
	s, _ := terminal()
	s.Err = w
	p := s.Progress(ModeAuto, false, c.Now)
	p.tick = time.Millisecond
	p.Start("a", "waiting", -1)
	<-w
	c.add(3 * time.Second)
	if got := <-w; !strings.Contains(got, "waiting 3s") {
		t.Errorf("drew %q", got)
	}
	p.Close()
	p.Close()
}

func TestBarsFitTheTerminal(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{1, 2, 10, 20, 40, 80, 200} {
		s, errOut := terminal()
		s.Width = columns
		p, c := display(s, ModeBar)
		for i := range 2 * maxBars {
			p.Start(strconv.Itoa(i), strings.Repeat("label 犬 ", 20), 100)
		}
		c.add(time.Minute)
		p.Update("0", 50, strings.Repeat("note ", 50))
		lines := strings.Split(screen(t, errOut.String()), "\n")
		if len(lines) != maxBars+1 {
			t.Errorf("%d lines, want %d", len(lines), maxBars+1)
		}
		for _, l := range lines {
			if Width(l) >= max(columns, 2) {
				t.Errorf("%d columns: line of %d: %q", columns, Width(l), l)
			}
		}
		p.Close()
		if got := screen(t, errOut.String()); got != "" {
			t.Errorf("left behind: %q", got)
		}
	}
}

func TestFailInRed(t *testing.T) {
	t.Parallel()
	for _, color := range []bool{true, false} {
		s, _, errOut := Test("")
		s.ErrColor = color
		p, _ := display(s, ModePlain)
		p.Start("a", "job", 0)
		p.Fail("a", "")
		if got := strings.Contains(errOut.String(), "\x1b[31mfailed\x1b[0m after 0s"); got != color {
			t.Errorf("colour %v: %q", color, errOut)
		}
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	for _, tty := range []bool{true, false} {
		s, _, errOut := Test("")
		s.ErrTTY, s.Width = tty, 200
		p, c := display(s, ModeAuto)
		p.Start("a", "evil\x1b[2J\nlabel", 3)
		c.add(plainEvery)
		p.Update("a", 1, "evil\x1b]0;title\a\rnote")
		p.Note("evil\u202e\nline")
		p.Finish("a", "\x1b[Aend")
		p.Start("b", "b\r", 3)
		p.Fail("b", "x\ny")
		p.Close()
		for _, bad := range []string{"\x1b[2J", "\x1b]0", "\a", "\u202e", "\x1b[Aend", "x\ny", "evil\n", "b\r:"} {
			if strings.Contains(errOut.String(), bad) {
				t.Errorf("%q got through: %q", bad, errOut)
			}
		}
		for _, want := range []string{`evil\x1b[2J\nlabel`, `evil\x1b]0;title\x07\rnote`, `evil\u202e\nline`, `\x1b[Aend`} {
			if !strings.Contains(errOut.String(), want) {
				t.Errorf("%q is missing: %q", want, errOut)
			}
		}
	}
}

func TestLifeOfAJob(t *testing.T) {
	t.Parallel()
	s, _, errOut := Test("")
	p, c := display(s, ModePlain)
	p.Update("a", 1, "not started")
	p.Finish("a", "not started")
	p.Fail("a", "not started")
	p.Start("a", "first", -1)
	p.Start("a", "second", 10)
	c.add(plainEvery)
	p.Update("a", -5, "")
	p.Update("a", 25, "")
	c.add(plainEvery)
	p.Update("a", 25, "")
	p.Finish("a", "")
	p.Finish("a", "twice")
	p.Start("c", "left open", -1)
	p.Close()
	p.Start("d", "too late", -1)
	p.Finish("c", "too late")
	p.Note("the end")
	p.Close()
	want := "first: started\nsecond: 0%, 10s\nsecond: 100%, 20s\nsecond: done in 20s\nleft open: started\nthe end\n"
	if diff := cmp.Diff(want, errOut.String()); diff != "" {
		t.Error(diff)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestBrokenStderr(t *testing.T) {
	t.Parallel()
	s, _ := terminal()
	s.Err = brokenPipe{}
	p, c := display(s, ModeBar)
	p.Start("a", "job", 3)
	c.add(time.Minute)
	p.Update("a", 1, "")
	p.Finish("a", "")
	p.Close()
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{ModeBar, ModePlain} {
		s, errOut := terminal()
		c := newClock()
		p := s.Progress(mode, false, c.Now)
		p.tick = 50 * time.Microsecond
		const jobs, steps = 16, 50
		var wg sync.WaitGroup
		for n := range jobs {
			wg.Go(func() {
				id := strconv.Itoa(n)
				p.Start(id, "job "+id, steps)
				for i := range int64(steps) {
					c.add(50 * time.Millisecond)
					p.Update(id, i, "step")
					if i%10 == 0 {
						p.Note("note " + id)
					}
				}
				if n%2 == 0 {
					p.Finish(id, "")
					return
				}
				p.Fail(id, "")
			})
		}
		wg.Wait()
		p.Close()
		got := screen(t, errOut.String())
		for what, want := range map[string]int{"done in": jobs / 2, "failed after": jobs / 2, "note ": jobs * steps / 10} {
			if n := strings.Count(got, what); n != want {
				t.Errorf("%s: %d times %q, want %d", mode, n, what, want)
			}
		}
		for line := range strings.Lines(got) {
			if mode == ModeBar && strings.Contains(line, "[") {
				t.Errorf("a bar was left behind: %q", line)
			}
		}
	}
}
