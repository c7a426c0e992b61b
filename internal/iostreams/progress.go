package iostreams

import (
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mode chooses how progress is shown.
type Mode string

// The modes, as --progress takes them. ModeBar needs a terminal like ModeAuto does: no log ever gets a bar.
const (
	ModeAuto  Mode = "auto"  // a bar on a terminal that can move its cursor, else plain lines
	ModeBar   Mode = "bar"   // the same, said aloud
	ModePlain Mode = "plain" // a line at the start, at the end and every 10 seconds
	ModeNone  Mode = "none"  // no progress; notes still show
)

const (
	plainEvery = 10 * time.Second       // between two plain lines of a job
	plainTick  = time.Second            // how often the display looks for a line that is due
	barTick    = 100 * time.Millisecond // between two drawings of the bars
)

// Progress shows what runs, on stderr: one bar or spinner a job on a terminal, else a line now and then. It is safe for
// concurrent use. Calls about a job that is not running do nothing.
type Progress struct {
	s     *Streams
	clock func() time.Time
	bars  bool          // draw bars
	lines bool          // write a plain line now and then
	notes bool          // write notes
	tick  time.Duration // between two looks at the clock; 0 leaves that to the calls

	mu     sync.Mutex
	jobs   []*job
	drawn  int       // lines of bars on the terminal, the cursor behind the last one
	last   time.Time // of the last drawing
	closed bool
	stop   chan struct{} // closed by Close; nil until the first job starts
	done   chan struct{} // closed when the ticking goroutine has ended
}

// job is something that runs.
type job struct {
	id, label, note string
	total, done     int64 // total <= 0: unknown
	bytes           bool
	started, line   time.Time // line: of the last plain line
	bar             bar
}

// Progress returns a display in the given mode; an unknown mode counts as auto. quiet drops progress and notes. clock
// gives the time for durations and for the 10 seconds between plain lines. Close ends the display.
func (s *Streams) Progress(mode Mode, quiet bool, clock func() time.Time) *Progress {
	p := &Progress{s: s, clock: clock, notes: !quiet}
	switch {
	case quiet || mode == ModeNone:
	case mode == ModePlain || !s.ErrTTY || s.Dumb:
		p.lines, p.tick = true, plainTick
	default:
		p.bars, p.tick = true, barTick
	}
	return p
}

// Start begins a job that counts to total, such as pictures or percent; total < 1 means that the end is unknown. The
// same id again gives the running job another label and total.
func (p *Progress) Start(id, label string, total int64) { p.start(id, label, total, false) }

// StartBytes is Start for a job that counts bytes.
func (p *Progress) StartBytes(id, label string, total int64) { p.start(id, label, total, true) }

func (p *Progress) start(id, label string, total int64, bytes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || (!p.bars && !p.lines) {
		return
	}
	j := p.find(id)
	fresh := j == nil
	if fresh {
		now := p.clock()
		j = &job{id: id, started: now, line: now}
		p.jobs = append(p.jobs, j)
	}
	j.label, j.total, j.bytes, j.done = Printable(label), total, bytes, 0
	p.watch()
	if p.bars {
		j.bar = newBar(total, bytes)
		p.write("")
		return
	}
	if fresh {
		p.write(j.label + ": started\n")
	}
}

// Update tells how far a job is; an empty note keeps the last one.
func (p *Progress) Update(id string, done int64, note string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.find(id)
	if j == nil {
		return
	}
	j.done = max(done, 0)
	if note != "" {
		j.note = Printable(note)
	}
	p.refresh()
}

// Finish ends a job that went well and leaves a line behind.
func (p *Progress) Finish(id, note string) { p.end(id, note, "done in") }

// Fail ends a job that went wrong and leaves a line behind.
func (p *Progress) Fail(id, note string) { p.end(id, note, p.s.red("failed")+" after") }

func (p *Progress) end(id, note, how string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j := p.find(id)
	if j == nil {
		return
	}
	p.jobs = slices.DeleteFunc(p.jobs, func(o *job) bool { return o == j })
	line := j.label + ": " + how + " " + duration(p.clock().Sub(j.started))
	if note != "" {
		line += ", " + Printable(note)
	}
	p.write(line + "\n")
}

// Note writes a line without tearing the bars. Line breaks in it are escaped.
func (p *Progress) Note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.notes {
		p.write(Printable(line) + "\n")
	}
}

// Close takes the bars off the terminal and ends the display. Jobs that run leave no line. Notes still show.
func (p *Progress) Close() {
	p.mu.Lock()
	stop, done := p.stop, p.done
	if !p.closed {
		p.closed = true
		p.jobs = nil
		if p.drawn > 0 {
			p.write("")
		}
		if stop != nil {
			close(stop)
		}
	}
	p.mu.Unlock()
	if done != nil {
		<-done
	}
}

// watch starts the goroutine that keeps the display fresh while no call comes. Close waits for its end.
func (p *Progress) watch() {
	if p.stop != nil || p.tick == 0 {
		return
	}
	p.stop, p.done = make(chan struct{}), make(chan struct{})
	go func(stop <-chan struct{}, done chan<- struct{}) {
		defer close(done)
		t := time.NewTicker(p.tick)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				p.mu.Lock()
				p.refresh()
				p.mu.Unlock()
			}
		}
	}(p.stop, p.done)
}

// refresh shows what is due by the clock.
func (p *Progress) refresh() {
	now := p.clock()
	if p.bars {
		if len(p.jobs) > 0 && now.Sub(p.last) >= barTick {
			p.write("")
		}
		return
	}
	for _, j := range p.jobs {
		if now.Sub(j.line) >= plainEvery {
			j.line = now
			p.write(j.label + ": " + j.plain(now) + "\n")
		}
	}
}

// write sends lines to stderr, with the bars below them drawn anew, as one write.
func (p *Progress) write(lines string) {
	text := lines
	if p.bars {
		p.last = p.clock()
		text = p.erase() + lines + p.draw(p.last)
	}
	if text != "" {
		// When stderr is gone there is nobody to tell, and the work must go on.
		_, _ = io.WriteString(p.s.Err, text)
	}
}

func (p *Progress) find(id string) *job {
	for _, j := range p.jobs {
		if j.id == id {
			return j
		}
	}
	return nil
}

// plain describes a running job in words: "42%, 12.3 MB of 29.3 MB, 20s, note".
func (j *job) plain(now time.Time) string {
	var parts []string
	switch {
	case j.total > 0 && j.bytes:
		parts = append(parts, percent(j.done, j.total), size(j.done)+" of "+size(j.total))
	case j.total > 0:
		parts = append(parts, percent(j.done, j.total))
	case j.bytes:
		parts = append(parts, size(j.done))
	default:
		parts = append(parts, "running")
	}
	parts = append(parts, duration(now.Sub(j.started)))
	if j.note != "" {
		parts = append(parts, j.note)
	}
	return strings.Join(parts, ", ")
}
