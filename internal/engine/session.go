package engine

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mediagen/internal/journal"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// settleTime bounds how long the journal may take to note how a call ended, whatever has been cancelled by then. It is
// long, because thousands of calls may queue for it on a slow disk, and what is not noted is not known later.
const settleTime = time.Minute

// session is one paid call while it runs: the sink of its pictures and the author of its journal row.
type session struct {
	e         *Engine
	d         *draft
	journal   *journal.Journal // nil with --no-journal
	job       string
	created   time.Time
	target    *workspace.Target
	progress  Progress
	caller    context.Context    //nolint:containedctx // the one whose cancel ends the wait, not the request
	abandon   context.CancelFunc // ends the call
	withdrawn atomic.Bool        // the caller gave up while nothing was at the provider
	release   []func()           // what listens to the caller

	assets   []Asset // saved, partials included
	links    []Asset // made, but lying at another place
	warnings []string
	unnoted  []journal.Asset // not in the journal yet
	stuck    bool            // the journal failed once: it gets one more try, when the call is settled
	spoolErr error           // why a picture is in the spool instead of at its place
	lost     error           // why a picture could be kept nowhere
	stray    *Error          // what came in the place of a picture
}

var _ ImageSink = (*session)(nil)

// Picture opens the place for one picture.
func (s *session) Picture(slot Slot) (PictureWriter, error) {
	create := func() (*workspace.Temp, error) { return s.target.Create(slot.Index) }
	if slot.Partial > 0 {
		create = func() (*workspace.Temp, error) { return s.target.CreatePartial(slot.Index, slot.Partial) }
	}
	t, err := create()
	if err != nil {
		return nil, AsError(err).Bill(BilledYes)
	}
	return &picture{temp: t, s: s, slot: slot}, nil
}

// Link notes where a picture lies that was not read.
func (s *session) Link(index int, rawURL string) {
	s.links = append(s.links, Asset{Index: index, URL: rawURL})
	s.note(journal.Asset{Index: index, URL: rawURL})
}

// Retrying reports that the request goes again. During the pause nothing is at the provider, so the caller's cancel
// still keeps the request from being sent; once the pause is over it does not.
func (s *session) Retrying(_ int, pause time.Duration, cause error) {
	until := time.Now().Add(pause)
	stop := context.AfterFunc(s.caller, func() {
		if time.Now().Before(until) {
			s.withdrawn.Store(errors.Is(s.caller.Err(), context.Canceled))
			s.abandon()
		}
	})
	s.release = append(s.release, func() { stop() })
	send(s.progress, Event{Kind: EventRetrying, Pause: pause, Message: cause.Error()})
}

// Warn adds a warning, once.
func (s *session) Warn(message string) {
	if slices.Contains(s.warnings, message) {
		return
	}
	s.warnings = append(s.warnings, message)
	send(s.progress, Event{Kind: EventWarning, Message: message})
}

// write changes the row, whatever the caller has cancelled by then.
func (s *session) write(u journal.Update) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.caller), settleTime)
	defer cancel()
	return s.journal.Update(ctx, s.job, u)
}

// note records an asset. A journal that fails after the money is spent must cost neither a picture nor the time in
// which the next one arrives: what it did not take waits until the call is settled.
func (s *session) note(a journal.Asset) {
	if s.journal == nil {
		return
	}
	s.unnoted = append(s.unnoted, a)
	if s.stuck {
		return
	}
	if err := s.write(journal.Update{Assets: s.unnoted}); err != nil {
		s.e.cfg.Log.Warn("journal did not take an asset", "job", s.job, "cause", err.Error())
		s.stuck = true
		return
	}
	s.unnoted = nil
}

// add records a saved picture in the journal, then reports it.
func (s *session) add(a Asset, t sniff.Type) {
	ja := journal.Asset{
		Index: a.Index, Partial: a.Partial, Path: a.Path, MIME: a.MediaType, SHA256: a.SHA256, Bytes: a.Bytes,
		Width: a.Width, Height: a.Height,
	}
	if a.Spooled {
		ja.SpoolPath, ja.Path = a.Path, s.finalPath(a, t)
	}
	s.note(ja)
	s.assets = append(s.assets, a)
	kind := EventSaved
	if a.Partial > 0 {
		kind = EventPartial
	}
	send(s.progress, Event{Kind: kind, Index: a.Index, Total: s.total(a.Index), Bytes: a.Bytes, Path: a.Path})
}

// total is how many pictures there are as far as is known: a provider may send more than was asked for.
func (s *session) total(index int) int { return max(s.d.call.N, index+1) }

// finalPath is where a spooled picture should go; "" when there is no plan for it.
func (s *session) finalPath(a Asset, t sniff.Type) string {
	paths := s.target.Paths()
	if a.Index >= len(paths) {
		return ""
	}
	path := paths[a.Index]
	if a.Partial > 0 {
		ext := filepath.Ext(path)
		path = strings.TrimSuffix(path, ext) + ".partial-" + strconv.Itoa(a.Partial) + ext
	}
	return withExt(path, t)
}

// withExt gives a path the extension of what its bytes are, unless it has one of that type.
func withExt(path string, t sniff.Type) string {
	ext := filepath.Ext(path)
	if planned, ok := sniff.ByExt(ext); t.Ext == "" || ok && planned.MIME == t.MIME {
		return path
	}
	return strings.TrimSuffix(path, ext) + "." + t.Ext
}
