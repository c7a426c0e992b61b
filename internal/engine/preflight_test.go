package engine_test

import (
	"context"
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

// TestRefusedBeforeAnything: every refusal comes before the journal's row and before any request, and makes nothing on
// disk.
func TestRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	type generate = engine.GenerateImages
	tests := []struct {
		name string
		req  func(*generate)
		out  engine.Output
		kind engine.Kind
		code fault.Code
	}{
		{name: "no prompt", req: func(g *generate) { g.Prompt = "" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "blank prompt", req: func(g *generate) { g.Prompt = " \n\t" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "prompt that is no text", req: func(g *generate) { g.Prompt = secretPrompt + "\xff" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "prompt with NUL", req: func(g *generate) { g.Prompt = secretPrompt + "\x00" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "32,001 characters", req: func(g *generate) { g.Prompt = strings.Repeat("ü", 32_001) }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "n below", req: func(g *generate) { g.N = -1 }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "n above", req: func(g *generate) { g.N = 11 }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "n above, unknown model", req: func(g *generate) { g.N, g.Model = 11, "test-model" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "partials", req: func(g *generate) { g.Partials = 4 }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "compression", req: func(g *generate) { g.OutputFormat, g.OutputCompression = "jpeg", new(101) }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "size", req: func(g *generate) { g.Size = "1000x1000" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "quality", req: func(g *generate) { g.Quality = "ultra" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "several at once", req: func(g *generate) { g.Quality, g.Size = "ultra", "1x1" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "transparent jpeg", req: func(g *generate) { g.Background, g.OutputFormat = "transparent", "jpeg" }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "gif in a stream", req: func(g *generate) { g.Model, g.OutputFormat, g.Partials = "gpt-image-2.6-flare", "gif", 1 }, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "two to stdout", req: func(g *generate) { g.N = 2 }, out: engine.Output{Stream: true}, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "stdout and sidecar", out: engine.Output{Stream: true, Sidecar: true}, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "stdout and template", out: engine.Output{Stream: true, Template: "x"}, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "stdout and partials", req: func(g *generate) { g.Partials = 1 }, out: engine.Output{Stream: true}, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "cap", out: engine.Output{MaxCost: new(int64(1))}, kind: engine.KindOverBudget, code: "over_budget"},
		{name: "unknown cost under a cap", req: func(g *generate) { g.Model = "test-model" }, out: engine.Output{MaxCost: new(int64(1e9))}, kind: engine.KindOverBudget, code: "cost_unknown"},
		{name: "template", out: engine.Output{Template: "{nope}"}, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "template that climbs", out: engine.Output{Template: "../x"}, kind: engine.KindInvalidRequest, code: fault.InvalidArgument},
		{name: "existing target", out: engine.Output{Dest: "there.png"}, kind: engine.KindExists, code: fault.Exists},
		{name: "existing target of several", req: func(g *generate) { g.N = 2 }, out: engine.Output{Dest: "two.png"}, kind: engine.KindExists, code: fault.Exists},
		{name: "a file where a directory is needed", out: engine.Output{Dest: "there.png/x.png"}, kind: engine.KindInvalidRequest, code: fault.PathInvalid},
		{name: "not regular", out: engine.Output{Dest: os.DevNull}, kind: engine.KindInvalidRequest, code: fault.NotRegular},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, s := emulate(t, "openai")
			r := newRig(t, options{providers: []engine.ImageProvider{p}})
			r.write("there.png", []byte("precious"))
			r.write("two_2.png", []byte("precious"))
			req := engine.NewGenerateImages()
			req.Prompt, req.Model = secretPrompt, "gpt-image-2"
			if tt.req != nil {
				tt.req(req)
			}
			before := filesBelow(t, filepath.Dir(r.dir))
			for _, dry := range []bool{true, false} {
				tt.out.DryRun = dry
				res, err := r.GenerateImages(t.Context(), req, tt.out, nil)
				e := wantError(t, err, tt.kind, tt.code, engine.BilledNo)
				if e.Op != "images generate" || res != nil {
					t.Errorf("op %q, result %v", e.Op, res)
				}
			}
			untouched(t, r, s)
			if diff := cmp.Diff(before, filesBelow(t, filepath.Dir(r.dir))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// untouched checks that no request was sent, no row written and nothing left in the spool.
func untouched(t *testing.T, r *rig, s *server) {
	t.Helper()
	if n := s.requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	if rows := r.rows(); len(rows) != 0 {
		t.Errorf("%d rows were written", len(rows))
	}
	if left := r.spool(); len(left) != 0 {
		t.Errorf("the spool has %v", left)
	}
}

// TestPromptLimit counts characters, not bytes.
func TestPromptLimit(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	req := engine.NewGenerateImages()
	req.Prompt, req.Model = strings.Repeat("ü", 32_000), "gpt-image-2"
	_, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
	must(t, err)
	if f.last(t).Prompt != req.Prompt {
		t.Error("the prompt was changed")
	}
}

// TestEditRefusedBeforeAnything is the same for what an edit adds.
func TestEditRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	type edit = engine.EditImages
	many := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = "a.png"
		}
		return list
	}
	tests := []struct {
		name string
		req  func(*edit)
		kind engine.Kind
		code fault.Code
		says string
	}{
		{"no picture", func(r *edit) { r.Images = nil }, engine.KindInvalidRequest, fault.InvalidArgument, "image is required"},
		{"17 pictures", func(r *edit) { r.Images = many(17) }, engine.KindInvalidRequest, fault.InvalidArgument, "between 1 and 16"},
		{"empty name", func(r *edit) { r.Images = []string{""} }, engine.KindInvalidRequest, fault.InvalidArgument, "empty"},
		{"missing file", func(r *edit) { r.Images = []string{"missing.png"} }, engine.KindNotFound, fault.NotFound, "missing.png"},
		{"directory", func(r *edit) { r.Images = []string{"."} }, engine.KindInvalidRequest, fault.NotRegular, "directory"},
		{"web page", func(r *edit) { r.Images = []string{"page.png"} }, engine.KindPolicyDenied, fault.MIMEMismatch, "page.png"},
		{"empty file", func(r *edit) { r.Images = []string{"empty.png"} }, engine.KindPolicyDenied, fault.MIMEMismatch, "empty.png"},
		{"gif", func(r *edit) { r.Images = []string{"a.gif"} }, engine.KindPolicyDenied, fault.MIMEMismatch, "png, jpeg and webp"},
		{"cut picture", func(r *edit) { r.Images = []string{"cut.png"} }, engine.KindInvalidRequest, fault.InvalidImage, "cut.png"},
		{"second picture bad", func(r *edit) { r.Images = []string{"a.png", "page.png"} }, engine.KindPolicyDenied, fault.MIMEMismatch, "page.png"},
		{"http", func(r *edit) { r.Images = []string{"https://example.org/a.png?sig=secret"} }, engine.KindUnsupported, fault.UnsupportedOperation, "give its path"},
		{"ftp", func(r *edit) { r.Images = []string{"FTP://example.org/a.png"} }, engine.KindUnsupported, fault.UnsupportedOperation, "give its path"},
		{"stdin twice", func(r *edit) { r.Images, r.Mask = []string{"-"}, "-" }, engine.KindInvalidRequest, fault.InvalidArgument, "one source only"},
		{"white without mask", func(r *edit) { r.MaskWhiteIsEdit = true }, engine.KindInvalidRequest, fault.InvalidArgument, "needs a mask"},
		{"mask and markup", func(r *edit) { r.Mask, r.Markup = "hole.png", "hole.png" }, engine.KindInvalidRequest, fault.InvalidArgument, "mask"},
		{"fidelity", func(r *edit) { r.InputFidelity = "high" }, engine.KindInvalidRequest, fault.InvalidArgument, "input_fidelity"},
		{"markup of a missing file", func(r *edit) { r.Markup = "missing.png" }, engine.KindNotFound, fault.NotFound, "missing.png"},
		{"no prompt", func(r *edit) { r.Prompt = "" }, engine.KindInvalidRequest, fault.InvalidArgument, "prompt is required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, s := emulate(t, "openai")
			r := newRig(t, options{providers: []engine.ImageProvider{p}})
			r.write("a.png", tinyPNG())
			r.write("hole.png", pngOf(8, 6, color.Transparent))
			r.write("cut.png", tinyPNG()[:20])
			r.write("page.png", []byte("<!DOCTYPE html><html><body>no</body></html>"))
			r.write("a.gif", []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
			r.write("empty.png", nil)
			req := engine.NewEditImages()
			req.Prompt, req.Model, req.Images = secretPrompt, "gpt-image-2.6-flare", []string{"a.png"}
			tt.req(req)
			res, err := r.EditImages(t.Context(), req, engine.Output{Dest: "out/"}, nil)
			e := wantError(t, err, tt.kind, tt.code, engine.BilledNo)
			contains(t, e.Message, tt.says)
			if strings.Contains(e.Message, "sig=") || res != nil || e.Op != "images edit" {
				t.Errorf("%q, result %v, op %q", e.Message, res, e.Op)
			}
			untouched(t, r, s)
			if _, err := os.Stat(r.in("out")); err == nil {
				t.Error("the output directory was made")
			}
		})
	}
}

// TestDryRunLeavesNothing, and needs neither journal nor network.
func TestDryRunLeavesNothing(t *testing.T) {
	t.Parallel()
	p, s := emulate(t, "openai")
	r := newRig(t, options{providers: []engine.ImageProvider{p}, change: func(c *engine.Config) {
		c.Journal = func(context.Context) (*journal.Journal, error) { return nil, errors.New("was opened") }
	}})
	before := filesBelow(t, filepath.Dir(r.dir))
	for _, out := range []engine.Output{{}, {Dest: "deep/er/"}, {Dest: "x.png"}, {Template: "{slug}/{index}"}, {Stream: true}, {Sidecar: true}} {
		out.DryRun = true
		req := engine.NewGenerateImages()
		req.Prompt, req.Model = secretPrompt, "gpt-image-2"
		res, err := r.GenerateImages(t.Context(), req, out, nil)
		must(t, err)
		plan := res.Plan
		if plan == nil || !plan.DryRun || len(plan.Paths) != 1 || plan.RequestKey == "" || res.Job != nil || len(res.Assets) != 0 {
			t.Errorf("%+v: got %+v", out, res)
		}
		if out.Stream && plan.Paths[0] != "-" {
			t.Errorf("stdout is planned as %s", plan.Paths[0])
		}
		if plan.Estimate.Micros == nil || plan.Source == "" || plan.AsOf == "" {
			t.Errorf("no estimate: %+v", plan)
		}
	}
	if diff := cmp.Diff(before, filesBelow(t, filepath.Dir(r.dir))); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(r.state, "spool")); err == nil {
		t.Error("a spool was made")
	}
	if n := s.requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestReadOnlyPolicy: a place that may not be written to is found before paying.
func TestReadOnlyPolicy(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}, mcp: true})
	for _, dest := range []string{"/etc/cron.d/x.png", "../x.png", ".hidden.png"} {
		_, err := r.GenerateImages(t.Context(), small(), engine.Output{Dest: dest}, nil)
		wantError(t, err, engine.KindPolicyDenied, fault.PathDenied, engine.BilledNo)
	}
	if f.count() != 0 || len(r.rows()) != 0 {
		t.Error("something was sent or noted")
	}
}

// TestJournalBrokenBefore sends nothing.
func TestJournalBrokenBefore(t *testing.T) {
	t.Parallel()
	f := &fake{}
	broken := fault.New(fault.JournalBroken, "journal x is damaged").WithHint("move it away")
	r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true, change: func(c *engine.Config) {
		c.Journal = func(context.Context) (*journal.Journal, error) { return nil, broken }
	}})
	_, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	e := wantError(t, err, engine.KindFailure, fault.JournalBroken, engine.BilledNo)
	if e.Hint != "move it away" || f.count() != 0 || len(r.files()) != 0 {
		t.Errorf("hint %q, %d requests, files %v", e.Hint, f.count(), r.files())
	}
}

// TestJournalClosedBefore is one that fails at the first write.
func TestJournalClosedBefore(t *testing.T) {
	t.Parallel()
	f := &fake{}
	r := newRig(t, options{providers: []engine.ImageProvider{f}})
	must(t, r.journal.Close())
	_, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	wantError(t, err, engine.KindFailure, fault.JournalBroken, engine.BilledNo)
	if f.count() != 0 || len(r.files()) != 0 {
		t.Errorf("%d requests, files %v", f.count(), r.files())
	}
}

// TestNoJournal works and notes nothing.
func TestNoJournal(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}}, noJournal: true})
	res, err := r.GenerateImages(t.Context(), small(), engine.Output{}, nil)
	must(t, err)
	if res.Job.ID != "" || res.Job.State != "landed" || res.Job.Created.IsZero() || len(r.files()) != 1 {
		t.Errorf("got %+v, files %v", res.Job, r.files())
	}
	if _, err := os.Stat(r.state); err == nil {
		t.Error("a state directory was made")
	}
	_, err = r.ListJobs(t.Context(), engine.JobFilter{})
	wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo)
	_, err = r.ResumeJob(t.Context(), "abcd", "", false)
	wantError(t, err, engine.KindInvalidRequest, fault.InvalidArgument, engine.BilledNo)
}
