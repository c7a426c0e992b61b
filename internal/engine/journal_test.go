package engine_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mediagen/internal/engine"
	"mediagen/internal/journal"
)

// TestJournalFailsAfterPayment: the pictures are kept, one warning tells, and the row says no more than is known.
func TestJournalFailsAfterPayment(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = during(func() { must(t, r.journal.Close()) })
	req := small()
	req.N = 3
	res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	if len(res.Assets) != 3 || len(r.files()) != 3 || res.Job.State != "landed" {
		t.Errorf("assets %+v, files %v", res.Assets, r.files())
	}
	if n := strings.Count(jsonOf(t, res.Warnings), "the journal could not be written"); n != 1 {
		t.Errorf("%d warnings: %q", n, res.Warnings)
	}
	again, err := journal.Open(t.Context(), filepath.Join(r.state, "jobs.db"), journal.Options{})
	must(t, err)
	defer func() { _ = again.Close() }()
	row, err := again.Get(t.Context(), res.Job.ID)
	must(t, err)
	if row.State != "sent" || len(row.Assets) != 0 {
		t.Errorf("row %+v", row)
	}
}

// TestJournalRecovers: what a journal on a full disk did not take is written when the call is settled.
func TestJournalRecovers(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	stateDisk(t, state)
	f := &fake{}
	var log strings.Builder
	r := newRig(t, options{state: state, providers: []engine.ImageProvider{f}, change: func(c *engine.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	}})
	ballast := filepath.Join(state, "ballast")
	f.do = func(_ context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		if err := os.WriteFile(ballast, make([]byte, 64<<20), 0o600); err == nil {
			t.Error("the disk is not full")
		}
		sink.Link(2, "https://pictures.invalid/c.png")
		reply, err := draw(call, sink)
		must(t, os.Remove(ballast))
		return reply, err
	}
	req := small()
	req.N = 2
	res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	row := r.row()
	if row.State != "landed" || len(row.Assets) != 3 || row.Assets[1].Path != res.Assets[1].Path || row.Assets[2].URL == "" {
		t.Errorf("row %+v", row)
	}
	if strings.Contains(jsonOf(t, res.Warnings), "journal") {
		t.Errorf("warnings %q for a journal that has everything", res.Warnings)
	}
	if n := strings.Count(log.String(), "journal did not take an asset"); n != 1 {
		t.Errorf("the journal was tried %d times while the pictures came: %s", n, log.String())
	}
}

// TestRowIsTakenAway: another process forgot the row meanwhile.
func TestRowIsTakenAway(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = during(func() {
		_, err := r.journal.ForgetAny(t.Context(), r.row().ID)
		must(t, err)
	})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	must(t, err)
	contains(t, jsonOf(t, res.Warnings), "the journal could not be written: no job")
	if len(r.files()) != 1 {
		t.Errorf("files %v", r.files())
	}
}
