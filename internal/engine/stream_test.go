package engine_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

// TestStreamAndPipe: the picture waits in the spool until the other end has it.
func TestStreamAndPipe(t *testing.T) {
	t.Parallel()
	p, _ := emulate(t, "openai")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true}, nil)
	must(t, err)
	if row := r.row(); row.State != "succeeded" || len(row.Targets) != 0 || !res.Assets[0].Spooled || len(r.spool()) != 1 {
		t.Fatalf("row %s %v, asset %+v", row.State, row.Targets, res.Assets[0])
	}
	want := read(t, res.Assets[0].Path)
	var out bytes.Buffer
	must(t, r.Pipe(t.Context(), res, &out))
	if !bytes.Equal(out.Bytes(), want) {
		t.Error("other bytes were piped")
	}
	row := r.row()
	if row.State != "landed" || row.Assets[0].Path != "-" || row.Assets[0].SpoolPath != "" || row.Assets[0].SHA256 == "" {
		t.Errorf("row %+v", row)
	}
	if res.Job.State != "landed" || res.Assets[0].Path != "-" || res.Assets[0].Spooled || len(r.spool()) != 0 || len(r.files()) != 0 {
		t.Errorf("result %+v, spool %v, files %v", res, r.spool(), r.files())
	}
	// Nothing is left to pipe.
	out.Reset()
	must(t, r.Pipe(t.Context(), res, &out))
	if out.Len() != 0 {
		t.Error("piped twice")
	}
}

// halfway takes some bytes and then fails, as a reader that went away.
type halfway struct{ left int }

var errGone = errors.New("reader is gone")

func (w *halfway) Write(p []byte) (int, error) {
	n := min(w.left, len(p))
	w.left -= n
	if n < len(p) {
		return n, errGone
	}
	return n, nil
}

// TestPipeFails keeps the copy, and resume gives it a place.
func TestPipeFails(t *testing.T) {
	t.Parallel()
	for _, dest := range []string{"", "there"} {
		f := &fake{}
		r := newRig(t, options{providers: []engine.ImageProvider{f}})
		res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true, Dest: "-"}, nil)
		must(t, err)
		err = r.Pipe(t.Context(), res, &halfway{left: 10})
		e := wantError(t, err, engine.KindFailure, fault.IOFailed, engine.BilledYes)
		contains(t, e.Message, "stdout", res.Assets[0].Path)
		contains(t, e.Hint, "mediagen jobs resume "+res.Job.ID)
		if !errors.Is(err, errGone) || r.row().State != "succeeded" || len(r.spool()) != 1 {
			t.Errorf("%v, state %s, spool %v", err, r.row().State, r.spool())
		}
		back, err := r.ResumeJob(t.Context(), res.Job.ID, dest, false)
		must(t, err)
		path := back.Assets[0].Path
		if filepath.Dir(path) != filepath.Join(r.dir, dest) || !bytes.Equal(read(t, path), tinyPNG()) || len(r.spool()) != 0 {
			t.Errorf("resumed to %s, spool %v", path, r.spool())
		}
		if name := filepath.Base(path); !strings.HasPrefix(name, "output_") || !strings.HasSuffix(name, res.Job.ID+".png") {
			t.Errorf("named %s", name)
		}
		if r.row().State != "landed" {
			t.Errorf("state %s", r.row().State)
		}
	}
}

// TestPipeUnreadable does not blame the reader.
func TestPipeUnreadable(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true}, nil)
	must(t, err)
	must(t, os.Remove(res.Assets[0].Path))
	err = r.Pipe(t.Context(), res, &bytes.Buffer{})
	contains(t, wantError(t, err, engine.KindFailure, fault.IOFailed, engine.BilledYes).Message, "cannot be read back")
}

// TestPipeWithoutJournal delivers and removes the copy.
func TestPipeWithoutJournal(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true}, nil)
	must(t, err)
	err = r.Pipe(t.Context(), res, &halfway{left: 1})
	if e := wantError(t, err, engine.KindFailure, fault.IOFailed, engine.BilledYes); e.Hint != "" {
		t.Errorf("hint %q without a journal", e.Hint)
	}
	var out bytes.Buffer
	must(t, r.Pipe(t.Context(), res, &out))
	if !bytes.Equal(out.Bytes(), tinyPNG()) || len(r.spool()) != 0 {
		t.Errorf("%d bytes, spool %v", out.Len(), r.spool())
	}
}

// TestPipeJournalFails costs a warning: the reader has the picture.
func TestPipeJournalFails(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true}, nil)
	must(t, err)
	must(t, r.journal.Close())
	var out bytes.Buffer
	must(t, r.Pipe(t.Context(), res, &out))
	if !bytes.Equal(out.Bytes(), tinyPNG()) || len(r.spool()) != 1 {
		t.Errorf("%d bytes, spool %v: the row still points to the copy", out.Len(), r.spool())
	}
	contains(t, jsonOf(t, res.Warnings), "was written to stdout, but not all could be noted")
}

// TestPipeAfterCancel: the caller gave up, but the picture is here and its delivery is noted.
func TestPipeAfterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, change: func(c *engine.Config) {
		open := c.Journal
		c.Journal = func(ctx context.Context) (*journal.Journal, error) {
			if err := ctx.Err(); err != nil {
				return nil, err // as one that is not open yet
			}
			return open(ctx)
		}
	}})
	res, err := r.GenerateImages(ctx, small(), engine.Output{Stream: true}, nil)
	must(t, err)
	cancel()
	must(t, r.Pipe(ctx, res, &bytes.Buffer{}))
	if r.row().State != "landed" {
		t.Errorf("state %s", r.row().State)
	}
}

// TestStreamOfSeveral pipes the first and keeps the others.
func TestStreamOfSeveral(t *testing.T) {
	t.Parallel()
	second := pngOf(9, 9, tinyColor)
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{do: answer(tinyPNG(), second)}}})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true}, nil)
	must(t, err)
	contains(t, jsonOf(t, res.Warnings), "the others stay at", res.Assets[1].Path)
	var out bytes.Buffer
	must(t, r.Pipe(t.Context(), res, &out))
	if !bytes.Equal(out.Bytes(), tinyPNG()) || len(r.spool()) != 1 {
		t.Errorf("%d bytes, spool %v", out.Len(), r.spool())
	}
	back, err := r.ResumeJob(t.Context(), res.Job.ID, "", false)
	must(t, err)
	if back.Assets[0].Path != "-" || !bytes.Equal(read(t, back.Assets[1].Path), second) {
		t.Errorf("assets %+v", back.Assets)
	}
}

// TestStreamFailures end like others; no copy stays where no picture came.
func TestStreamFailures(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]outcome{
		"moderation":     {engine.KindBlocked, "moderation_blocked", engine.BilledNo, "blocked", 0, 0},
		"cut-after-body": {engine.KindUnknownOutcome, "no_answer", engine.BilledMaybe, "unknown", 0, 0},
		"401":            {engine.KindAuth, "invalid_api_key", engine.BilledNo, "failed", 0, 0},
	} {
		p, _ := emulate(t, "openai", spec)
		r := newRig(t, options{providers: []engine.ImageProvider{p}})
		res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true}, nil)
		check(t, r, res, err, want, "")
		if len(r.spool()) != 0 {
			t.Errorf("%s: spool %v", spec, r.spool())
		}
	}
}
