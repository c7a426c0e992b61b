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
	sh   *shell
	bars *iostreams.Progress
	sent atomic.Bool
	quit func() bool   // takes back the watch on the context; false when it has begun to speak
	said chan struct{} // closed when it has spoken
}

const waiting = "wait" // the id of the line that waits for the provider

const runsOn = "the request is paid for, so it runs to its end (at most 10 minutes); " +
	"press Ctrl-C again to leave at once"

// newProgress returns a progress sink; end ends it. When a signal comes while a paid request is on its way, it says
// what happens next, quiet or not: it answers the person who pressed the key.
func (sh *shell) newProgress(ctx context.Context) *progress {
	p := &progress{sh: sh, said: make(chan struct{})}
	p.bars = sh.Streams.Progress(iostreams.Mode(sh.flags.progress), sh.flags.quiet, sh.Now)
	p.quit = context.AfterFunc(ctx, func() {
		defer close(p.said)
		switch {
		case !p.sent.Load() || SignalOf(ctx) == nil:
		case sh.flags.quiet:
			sh.note(runsOn)
		default:
			p.bars.Note(runsOn)
		}
	})
	return p
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
		p.bars.Note(fmt.Sprintf("%s; sending again in %s", p.sh.Scrub(e.Message), e.Pause.Round(100*time.Millisecond)))
	case engine.EventPartial:
		p.bars.Note("partial picture: " + p.sh.shown(e.Path))
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

// end closes the waiting line and the display.
func (p *progress) end(res *engine.Result, err error) {
	if !p.quit() {
		<-p.said
	}
	defer p.bars.Close()
	if !p.sent.Load() {
		return
	}
	note := ""
	if e := engine.AsError(err); e != nil && e.Kind == engine.KindPartial {
		note = "some are missing, "
	} else if e != nil {
		p.bars.Fail(waiting, "")
		return
	}
	if res != nil {
		note += "cost " + res.Cost.String()
	}
	p.bars.Finish(waiting, note)
}
