package engine_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// gone removes the output directory when the provider has been paid, so that no picture can go to its place.
func gone(t testing.TB, dir string, then doFunc) doFunc {
	t.Helper()
	return func(ctx context.Context, call engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		must(t, os.RemoveAll(dir))
		return then(ctx, call, sink)
	}
}

// TestSpooled: the directory vanished after payment. All pictures are safe, the message names them and the remedy, and
// resume moves them.
func TestSpooled(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = gone(t, r.in("out"), drawAll)
	req := small()
	req.N = 2
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "out/a.png", Sidecar: true}, nil)
	e := wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	contains(t, e.Message, "2 pictures are paid for and safe at")
	contains(t, e.Hint, "mediagen jobs resume "+res.Job.ID)
	row := r.row()
	if string(row.State) != "succeeded" || row.Billed != "yes" || len(res.Assets) != 2 {
		t.Fatalf("row %s, assets %+v", row.State, res.Assets)
	}
	for i, a := range res.Assets {
		want := r.in([]string{"out/a_1.png", "out/a_2.png"}[i])
		if !a.Spooled || !bytes.Equal(read(t, a.Path), tinyPNG()) || row.Assets[i].Path != want || row.Assets[i].SpoolPath != a.Path {
			t.Errorf("asset %+v, row %+v", a, row.Assets[i])
		}
		contains(t, e.Message, a.Path)
	}
	resumed, err := r.ResumeJob(t.Context(), res.Job.ID[:6], "", false)
	must(t, err)
	if diff := cmp.Diff([]string{"out/a_1.png", "out/a_2.png"}, r.files()); diff != "" {
		t.Error(diff)
	}
	if len(r.spool()) != 0 || resumed.Job.State != "landed" || r.row().State != "landed" || resumed.Assets[1].Path != r.in("out/a_2.png") {
		t.Errorf("spool %v, job %+v, assets %+v", r.spool(), resumed.Job, resumed.Assets)
	}
	if row := r.row(); row.ErrorKind != "" || row.Assets[0].SpoolPath != "" {
		t.Errorf("row %+v", row)
	}
	// Again there is nothing to do, which is no error.
	resumed, err = r.ResumeJob(t.Context(), res.Job.ID, "", false)
	must(t, err)
	if len(resumed.Assets) != 2 {
		t.Errorf("assets %+v", resumed.Assets)
	}
}

// TestSpooledAndCut tells both: where the picture is, and that others did not come.
func TestSpooledAndCut(t *testing.T) {
	t.Parallel()
	cut := engine.Errorf(engine.KindUnknownOutcome, "no_answer", "the reply broke off").Bill(engine.BilledMaybe)
	cut.RequestID = "req_7"
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = gone(t, r.in("out"), thenFail(cut, tinyPNG()))
	req := small()
	req.N = 3
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "out/"}, nil)
	e := wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	contains(t, e.Message, "the picture is paid for and safe at", "1 of 3 pictures came, then: the reply broke off")
	if e.RequestID != "req_7" || r.row().State != "succeeded" {
		t.Errorf("request id %q, state %s", e.RequestID, r.row().State)
	}
	if _, err := r.ResumeJob(t.Context(), res.Job.ID, "", false); err != nil || r.row().State != "landed" {
		t.Errorf("%v, state %s", err, r.row().State)
	}
}

// TestSpooledWithoutJournal says that it cannot be resumed.
func TestSpooledWithoutJournal(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true})
	f.do = gone(t, r.in("out"), drawAll)
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/"}, nil)
	e := wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	contains(t, e.Hint, "without a journal")
	if res.Job.State != "succeeded" || !bytes.Equal(read(t, res.Assets[0].Path), tinyPNG()) {
		t.Errorf("got %+v", res)
	}
}

// TestSpooledPartial is a preview: it costs a warning, not the call, and resume moves it beside its picture.
func TestSpooledPartial(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		r.write("out/a.partial-1.png", []byte("in the way"))
		must(t, put(sink, engine.Slot{Partial: 1}, tinyPNG()))
		return engine.ImageReply{}, put(sink, engine.Slot{}, tinyPNG())
	}
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/a.png"}, nil)
	must(t, err)
	contains(t, jsonOf(t, res.Warnings), "partial 1 of picture 1 was saved in the spool")
	if res.Job.State != "landed" || len(r.spool()) != 1 {
		t.Errorf("state %s, spool %v", res.Job.State, r.spool())
	}
	must(t, os.Remove(r.in("out/a.partial-1.png")))
	_, err = r.ResumeJob(t.Context(), res.Job.ID, "", false)
	must(t, err)
	if diff := cmp.Diff([]string{"out/a.partial-1.png", "out/a.png"}, r.files()); diff != "" {
		t.Error(diff)
	}
}

// TestRaced: another process took the name after the plan was made.
func TestRaced(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = during(func() { r.write("a_1.png", []byte("precious")) })
	req := small()
	req.N = 2
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "a.png"}, nil)
	e := wantError(t, err, engine.KindFailure, fault.Exists, engine.BilledYes)
	contains(t, e.Hint, "jobs resume", "-o")
	if string(read(t, r.in("a_1.png"))) != "precious" || !bytes.Equal(read(t, r.in("a_2.png")), tinyPNG()) {
		t.Error("a file was replaced, or the second picture is missing")
	}

	// Resume refuses too, names the way out, and keeps the picture.
	back, err := r.ResumeJob(t.Context(), res.Job.ID, "", false)
	e = wantError(t, err, engine.KindExists, fault.Exists, engine.BilledYes)
	contains(t, e.Hint, "-o", "--overwrite", r.spool()[0])
	if len(back.Assets) != 2 || !back.Assets[0].Spooled || back.Assets[1].Spooled || r.row().State != "succeeded" {
		t.Errorf("assets %+v, state %s", back.Assets, r.row().State)
	}
	back, err = r.ResumeJob(t.Context(), res.Job.ID, "else/where", false)
	must(t, err)
	if back.Assets[0].Path != r.in("else/where/a_1.png") || r.row().State != "landed" {
		t.Errorf("assets %+v, state %s", back.Assets, r.row().State)
	}
}

// TestResumeOverwrites when told so.
func TestResumeOverwrites(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = during(func() { r.write("a.png", []byte("in the way")) })
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "a.png"}, nil)
	wantError(t, err, engine.KindFailure, fault.Exists, engine.BilledYes)
	_, err = r.ResumeJob(t.Context(), res.Job.ID, "", true)
	must(t, err)
	if !bytes.Equal(read(t, r.in("a.png")), tinyPNG()) {
		t.Error("not replaced")
	}
}

// TestResumeOneOfTwo: what can be moved is moved.
func TestResumeOneOfTwo(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = gone(t, r.in("out"), drawAll)
	req := small()
	req.N = 2
	res, err := r.GenerateImages(t.Context(), req, engine.Output{Dest: "out/a.png"}, nil)
	wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	r.write("out/a_1.png", []byte("precious"))
	back, err := r.ResumeJob(t.Context(), res.Job.ID, "", false)
	wantError(t, err, engine.KindExists, fault.Exists, engine.BilledYes)
	if !back.Assets[0].Spooled || back.Assets[1].Path != r.in("out/a_2.png") || back.Job.State != "succeeded" {
		t.Errorf("assets %+v", back.Assets)
	}
}

// TestResumeAfterKill: a resume that was killed between the move and the journal's row is finished by the next.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = gone(t, r.in("out"), drawAll)
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/a.png"}, nil)
	wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	_, err = r.ws.MoveSpooled(res.Assets[0].Path, r.in("out/a.png"), false)
	must(t, err)
	back, err := r.ResumeJob(t.Context(), res.Job.ID, "", false)
	must(t, err)
	if back.Assets[0].Path != r.in("out/a.png") || r.row().State != "landed" {
		t.Errorf("assets %+v, state %s", back.Assets, r.row().State)
	}

	// Another file at that place is not the picture.
	f.do = gone(t, r.in("out"), drawAll)
	res, err = r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/b.png"}, nil)
	wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	must(t, os.Remove(res.Assets[0].Path))
	r.write("out/b.png", []byte("something else"))
	_, err = r.ResumeJob(t.Context(), res.Job.ID, "", false)
	wantError(t, err, engine.KindNotFound, fault.NotFound, engine.BilledYes)
}

// TestSpooledBeyondThePlan gets a default name when it is resumed.
func TestSpooledBeyondThePlan(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = gone(t, r.in("out"), answer(tinyPNG(), tinyPNG()))
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/a.png"}, nil)
	wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	back, err := r.ResumeJob(t.Context(), res.Job.ID, "there", false)
	must(t, err)
	if back.Assets[0].Path != r.in("there/a.png") {
		t.Errorf("assets %+v", back.Assets)
	}
	if name := filepath.Base(back.Assets[1].Path); !strings.Contains(name, "__openai-images-generate_"+res.Job.ID+"_2.png") {
		t.Errorf("named %s", name)
	}
}

// TestSpooledJPEG of a picture that was planned as png gets the ending of its bytes.
func TestSpooledJPEG(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = gone(t, r.in("out"), answer(jpegOf(tinyColor)))
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/", Template: "x"}, nil)
	wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes)
	_, err = r.ResumeJob(t.Context(), res.Job.ID, "", false)
	must(t, err)
	if diff := cmp.Diff([]string{"out/x.jpeg"}, r.files()); diff != "" {
		t.Error(diff)
	}
}

// noSpool leaves neither the spool nor the system's temporary directory to go to.
func noSpool(t *testing.T, r *rig) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(r.state, "spool"), nil, 0o600)) // a file where the directory should be
	t.Setenv("TMPDIR", filepath.Join(r.dir, "missing"))
}

// TestLost: neither target, spool nor the system's temporary directory takes the picture.
func TestLost(t *testing.T) {
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	noSpool(t, r)
	f.do = gone(t, r.in("out"), drawAll)
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/"}, nil)
	check(t, r, res, err, outcome{engine.KindFailure, fault.NotFound, engine.BilledYes, "failed", 0, 0}, "could be kept nowhere")

	// The same with an error on top, and for a preview, which alone costs a warning.
	cut := engine.Errorf(engine.KindUnknownOutcome, "no_answer", "the reply broke off").Bill(engine.BilledMaybe)
	f.do = gone(t, r.in("out"), thenFail(cut, tinyPNG()))
	_, err = r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/"}, nil)
	contains(t, wantError(t, err, engine.KindFailure, fault.NotFound, engine.BilledYes).Message, "; then: the reply broke off")

	f.do = gone(t, r.in("out"), func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
		return engine.ImageReply{RequestID: "req_1"}, put(sink, engine.Slot{Partial: 1}, tinyPNG())
	})
	res, err = r.GenerateImages(t.Context(), small(), engine.Output{Dest: "out/"}, nil)
	wantError(t, err, engine.KindUnknownOutcome, "no_picture", engine.BilledMaybe)
	contains(t, jsonOf(t, res.Warnings), "partial 1 of picture 1 could not be saved")
}

// TestLostForStdout is the same when the spool is the target.
func TestLostForStdout(t *testing.T) {
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	f.do = during(func() {
		must(t, os.RemoveAll(filepath.Join(r.state, "spool")))
		noSpool(t, r)
	})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{Stream: true}, nil)
	check(t, r, res, err, outcome{engine.KindFailure, fault.NotFound, engine.BilledYes, "failed", 0, 0}, "could be kept nowhere")
}
