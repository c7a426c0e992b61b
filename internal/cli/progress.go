package cli

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

// progress shows the events of one paid call on stderr.
type progress struct {
	r    renderer
	bars *iostreams.Progress
	sent atomic.Bool
}

const waiting = "wait" // the id of the line that waits for the provider

// newProgress returns a progress sink and a function that ends it. When a signal comes while a paid request is on its
// way, it says what happens next.
func (r renderer) newProgress(ctx context.Context) (*progress, func()) {
	mode := iostreams.Mode(r.g.progress)
	if r.g.quiet {
		mode = iostreams.ModeNone
	}
	p := &progress{r: r, bars: r.d.Streams.Progress(mode, r.g.quiet, r.d.Now)}
	stop := context.AfterFunc(ctx, func() {
		if p.sent.Load() && SignalOf(ctx) != nil {
			p.bars.Note("the request is paid for, so it runs to its end (at most 10 minutes); " +
				"press Ctrl-C again to leave at once")
		}
	})
	return p, func() { stop(); p.bars.Close() }
}

var _ engine.Progress = (*progress)(nil)

// Event draws one event.
func (p *progress) Event(e engine.Event) {
	switch e.Kind {
	case engine.EventSent:
		p.sent.Store(true)
		p.bars.Start(waiting, pictures(e.Total), -1)
	case engine.EventReceived:
		p.bars.Update(waiting, e.Bytes, fmt.Sprintf("receiving %d of %d", e.Index+1, e.Total))
	case engine.EventRetrying:
		p.bars.Note(fmt.Sprintf("%s; sending again in %s", oneLine(p.r.d.Scrub(e.Message)), e.Pause.Round(100*time.Millisecond)))
	case engine.EventPartial:
		p.bars.Note("partial picture: " + p.r.shown(e.Path))
	case engine.EventSaved:
		p.bars.Update(waiting, e.Bytes, fmt.Sprintf("saved %d of %d", e.Index+1, e.Total))
	case engine.EventWarning: // the result lists warnings
	}
}

func pictures(n int) string {
	if n == 1 {
		return "making 1 picture"
	}
	return fmt.Sprintf("making %d pictures", n)
}

// end closes the waiting line.
func (p *progress) end(res *engine.Result, err error) {
	if !p.sent.Load() {
		return
	}
	if err != nil {
		p.bars.Fail(waiting, "")
		return
	}
	note := ""
	if res != nil {
		note = "cost " + res.Cost.String()
	}
	p.bars.Finish(waiting, note)
}
