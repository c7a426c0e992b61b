package engine_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

func TestDollars(t *testing.T) {
	t.Parallel()
	for micros, want := range map[int64]string{
		0: "0.00", 1: "0.000001", 10: "0.00001", 100: "0.0001", 1_000: "0.001", 10_000: "0.01", 40_100: "0.0401",
		100_000: "0.10", 999_999: "0.999999", 1_000_000: "1.00", 1_230_000: "1.23", 1_234_567: "1.234567", -1: "-0.000001",
		-1_500_000: "-1.50", math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		if got := engine.Dollars(micros); got != want {
			t.Errorf("Dollars(%d) = %s, want %s", micros, got, want)
		}
	}
}

// TestDollarsRoundTrip: what is printed is exactly the amount, as a number that JSON takes.
func TestDollarsRoundTrip(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		micros := int64(rng.Uint64()) >> rng.IntN(64)
		text := engine.Dollars(micros)
		rat, ok := new(big.Rat).SetString(text)
		if !ok || rat.Mul(rat, big.NewRat(1_000_000, 1)).Cmp(new(big.Rat).SetInt64(micros)) != 0 {
			t.Fatalf("Dollars(%d) = %s", micros, text)
		}
		if !json.Valid([]byte(text)) || !strings.Contains(text, ".") || len(text)-strings.Index(text, ".") < 3 {
			t.Fatalf("Dollars(%d) = %s is no number of dollars and cents", micros, text)
		}
	}
}

func TestCostJSON(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]engine.Cost{
		`{"amount":null,"currency":"USD","basis":"unknown"}`:                    {},
		`{"amount":null,"currency":"USD","basis":"unknown","why":"no row"}`:     {Basis: engine.BasisUnknown, Why: "no row"},
		`{"amount":0.00,"currency":"USD","basis":"reported"}`:                   {Micros: new(int64(0)), Basis: engine.BasisReported},
		`{"amount":0.0401,"currency":"USD","basis":"estimated","assumed":true}`: {Micros: new(int64(40_100)), Basis: engine.BasisEstimated, Assumed: true},
		`{"amount":9223372036854.775807,"currency":"USD","basis":"reported"}`:   {Micros: new(int64(math.MaxInt64)), Basis: engine.BasisReported},
	} {
		if got := jsonOf(t, c); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for want, c := range map[string]engine.Cost{
		"unknown": {}, "$0.05 (reported)": {Micros: new(int64(50_000)), Basis: engine.BasisReported},
		"~$0.0401 (estimated)": {Micros: new(int64(40_100)), Basis: engine.BasisEstimated, Assumed: true},
	} {
		if got := c.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestNoFloats: money never meets a binary float. What is measured of media (likeness, durations, frame rates) is, in
// files that know no money.
func TestNoFloats(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	must(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "compress") || strings.HasPrefix(name, "inspect") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, 0)
		must(t, err)
		seconds := map[ast.Expr]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.Field); ok && len(f.Names) == 1 && f.Names[0].Name == "DurationS" {
				seconds[f.Type] = true
			}
			id, ok := n.(*ast.Ident)
			if ok && strings.HasPrefix(id.Name, "float") && !seconds[id] {
				t.Errorf("%s: %s", fset.Position(id.Pos()), id.Name)
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.FLOAT {
				t.Errorf("%s: %s", fset.Position(lit.Pos()), lit.Value)
			}
			return true
		})
	}
}

// priced is a request with a known price: 200 output tokens at 30 dollars a million, and the prompt's 36 characters
// counted as 18 tokens at 5.
func priced() *engine.GenerateImages {
	r := engine.NewGenerateImages()
	r.Prompt, r.Model, r.Size, r.Quality = secretPrompt, "gpt-image-2", "1024x1024", "low"
	return r
}

const pricedMicros = 200*30 + 18*5

func TestEstimate(t *testing.T) {
	t.Parallel()
	if len(secretPrompt) != 36 {
		t.Fatalf("the prompt has %d characters", len(secretPrompt))
	}
	tests := []struct {
		name   string
		change func(*engine.GenerateImages)
		cost   string
		upper  bool
	}{
		{"one", func(*engine.GenerateImages) {}, "$0.00609 (estimated)", false},
		{"three", func(r *engine.GenerateImages) { r.N = 3 }, "$0.01827 (estimated)", false},
		{"partials", func(r *engine.GenerateImages) { r.Partials = 2 }, "$0.01209 (estimated)", false},
		{"auto quality is the dearest", func(r *engine.GenerateImages) { r.Quality = "auto" }, "$0.21111 (estimated)", true},
		{"auto size is the dearest", func(r *engine.GenerateImages) { r.Quality, r.Size = "high", "auto" }, "$0.21111 (estimated)", true},
		{"borrowed table", func(r *engine.GenerateImages) { r.Model = "gpt-image-2.6-flare" }, "~$0.00609 (estimated)", false},
		{"mirror image", func(r *engine.GenerateImages) { r.Size = "1536x1024" }, "~$0.0051 (estimated)", false},
		{"size without a price", func(r *engine.GenerateImages) { r.Size = "2048x2048" }, "unknown", false},
		{"unknown model", func(r *engine.GenerateImages) { r.Model = "test-model" }, "unknown", false},
		{"svg", func(r *engine.GenerateImages) { r.Model, r.OutputFormat = "gpt-image-2.6-flare", "svg" }, "unknown", false},
		{"emulator", func(r *engine.GenerateImages) { r.Provider = "emulator" }, "$0.00 (estimated)", false},
		{"emulator, unknown model", func(r *engine.GenerateImages) { r.Provider, r.Model = "emulator", "test-model" }, "$0.00 (estimated)", false},
	}
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{}, &fake{name: "emulator"}}})
	for _, tt := range tests {
		req := priced()
		tt.change(req)
		res, err := r.GenerateImages(t.Context(), req, engine.Output{DryRun: true}, nil)
		must(t, err)
		if got := res.Plan.Estimate.String(); got != tt.cost || res.Plan.UpperBound != tt.upper || res.Cost.String() != tt.cost {
			t.Errorf("%s: %s, upper bound %v, want %s, %v", tt.name, got, res.Plan.UpperBound, tt.cost, tt.upper)
		}
		if (res.Plan.Estimate.Micros == nil) != (res.Plan.Estimate.Why != "") {
			t.Errorf("%s: an unknown price says why, a known one does not: %+v", tt.name, res.Plan.Estimate)
		}
	}
}

// TestCap is held against the estimate; a call may lower or raise the configured one.
func TestCap(t *testing.T) {
	t.Parallel()
	micros := func(n int64) *int64 { return &n }
	tests := []struct {
		name         string
		flag, config *int64
		unknown      bool
		allow        bool
		refused      fault.Code
	}{
		{name: "none"},
		{name: "exactly", flag: micros(pricedMicros)},
		{name: "one below", flag: micros(pricedMicros - 1), refused: "over_budget"},
		{name: "zero", flag: micros(0), refused: "over_budget"},
		{name: "configured", config: micros(pricedMicros - 1), refused: "over_budget"},
		{name: "the call's beats the configured", flag: micros(pricedMicros), config: micros(1)},
		{name: "the call's is lower", flag: micros(1), config: micros(pricedMicros), refused: "over_budget"},
		{name: "unknown without a cap", unknown: true},
		{name: "unknown under a cap", unknown: true, flag: micros(math.MaxInt64), refused: "cost_unknown"},
		{name: "unknown under the configured cap", unknown: true, config: micros(math.MaxInt64), refused: "cost_unknown"},
		{name: "unknown, allowed", unknown: true, flag: micros(1), allow: true},
		{name: "allowing the unknown lifts no cap", flag: micros(1), allow: true, refused: "over_budget"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			r := newRig(t, options{providers: []engine.ImageProvider{f}, noJournal: true, change: func(c *engine.Config) {
				c.Defaults.MaxCost = tt.config
			}})
			req := priced()
			if tt.unknown {
				req.Size = "2048x2048"
			}
			_, err := r.GenerateImages(t.Context(), req, engine.Output{MaxCost: tt.flag, AllowUnknownCost: tt.allow}, nil)
			if tt.refused == "" {
				must(t, err)
				return
			}
			wantError(t, err, engine.KindOverBudget, tt.refused, engine.BilledNo)
			if f.count() != 0 {
				t.Error("it was sent")
			}
		})
	}
}

// TestCapAtTheEmulator: it costs nothing, so every cap holds.
func TestCapAtTheEmulator(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{providers: []engine.ImageProvider{&fake{name: "emulator"}}})
	req := priced()
	req.Provider = "emulator"
	res, err := r.GenerateImages(t.Context(), req, engine.Output{MaxCost: new(int64(0))}, nil)
	must(t, err)
	if got := res.Cost.String(); got != "$0.00 (reported)" {
		t.Errorf("cost %s", got)
	}
	if row := r.row(); row.CostMicros == nil || *row.CostMicros != 0 || row.CostBasis != journal.CostReported {
		t.Errorf("row %v %s", row.CostMicros, row.CostBasis)
	}
}

// TestCostAfterwards: reported usage, else the table, else unknown; unknown is never 0.
func TestCostAfterwards(t *testing.T) {
	t.Parallel()
	usage := engine.Usage{
		Reported: true, InputTokens: 1000, InputTextTokens: 1000, CachedTextTokens: 400, OutputTokens: 2000, OutputImageTokens: 2000,
	}
	const usageMicros = 600*5 + 400*125/100 + 2000*30
	tests := []struct {
		name   string
		change func(*engine.GenerateImages)
		reply  engine.ImageReply
		fail   error
		want   string
		why    string
	}{
		{name: "reported", reply: engine.ImageReply{Usage: usage}, want: "$0.0635 (reported)"},
		{name: "reported, borrowed table", change: func(r *engine.GenerateImages) { r.Model = "gpt-image-2.6-flare" }, reply: engine.ImageReply{Usage: usage}, want: "$0.0635 (reported)"},
		{name: "reported, alias", change: func(r *engine.GenerateImages) { r.Model = "gpt-image-2-2026-04-21" }, reply: engine.ImageReply{Usage: usage}, want: "$0.0635 (reported)"},
		{name: "not reported", want: "$0.00609 (estimated)"},
		{name: "reported without a breakdown", reply: engine.ImageReply{Usage: engine.Usage{Reported: true, InputTokens: 9}}, want: "$0.00609 (estimated)"},
		{name: "auto, the reply tells what it was", change: func(r *engine.GenerateImages) { r.Size, r.Quality = "auto", "auto" }, reply: engine.ImageReply{Size: "1024x1024", Quality: "low"}, want: "$0.00609 (estimated)"},
		{name: "auto, the reply tells a size without a price", change: func(r *engine.GenerateImages) { r.Size, r.Quality = "auto", "auto" }, reply: engine.ImageReply{Size: "2048x2048", Quality: "low"}, want: "$0.21111 (estimated)"},
		{name: "auto, the reply tells nothing", change: func(r *engine.GenerateImages) { r.Quality = "auto" }, want: "$0.21111 (estimated)"},
		{name: "unknown model", change: func(r *engine.GenerateImages) { r.Model = "test-model" }, want: "unknown", why: "no price is known"},
		{name: "unknown model with usage", change: func(r *engine.GenerateImages) { r.Model = "test-model" }, reply: engine.ImageReply{Usage: usage}, want: "unknown", why: "no price is known"},
		{name: "svg with usage: its author is billed apart", change: func(r *engine.GenerateImages) { r.Model, r.OutputFormat = "gpt-image-2.6-flare", "svg" }, reply: engine.ImageReply{Usage: usage}, want: "unknown", why: "billed apart"},
		{name: "cut, with usage", change: func(r *engine.GenerateImages) { r.N = 2 }, reply: engine.ImageReply{Usage: usage}, fail: engine.Errorf(engine.KindUnknownOutcome, "no_answer", "cut").Bill(engine.BilledMaybe), want: "$0.0635 (reported)"},
		{name: "cut", change: func(r *engine.GenerateImages) { r.N = 2 }, fail: engine.Errorf(engine.KindUnknownOutcome, "no_answer", "cut").Bill(engine.BilledMaybe), want: "unknown", why: "did not end well"},
	}
	if usageMicros != 63_500 {
		t.Fatal("the expected amount is wrong")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{do: func(_ context.Context, _ engine.ImageCall, sink engine.ImageSink) (engine.ImageReply, error) {
				must(t, put(sink, engine.Slot{}, tinyPNG()))
				return tt.reply, tt.fail
			}}
			r := newRig(t, options{providers: []engine.ImageProvider{f}})
			req := priced()
			if tt.change != nil {
				tt.change(req)
			}
			res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
			if (err != nil) != (tt.fail != nil) {
				t.Fatal(err)
			}
			if got := res.Cost.String(); got != tt.want {
				t.Errorf("cost %s, want %s", got, tt.want)
			}
			contains(t, res.Cost.Why, tt.why)
			row := r.row()
			if diff := cmp.Diff(res.Cost.Micros, row.CostMicros); diff != "" || row.CostBasis != res.Cost.Basis {
				t.Errorf("row has %v %s: %s", row.CostMicros, row.CostBasis, diff)
			}
			if (res.Usage != nil) != tt.reply.Usage.Reported || (row.Usage != nil) != tt.reply.Usage.Reported {
				t.Errorf("usage %v, row %s", res.Usage, row.Usage)
			}
			if est := row.EstimateMicros; (est == nil) != (tt.why != "" && tt.fail == nil) {
				t.Errorf("the row's estimate is %v", est)
			}
		})
	}
}

// TestReportedOverTheWire takes the usage from a real reply.
func TestReportedOverTheWire(t *testing.T) {
	t.Parallel()
	p, _ := emulate(t, "openai")
	r := newRig(t, options{providers: []engine.ImageProvider{p}})
	res, err := r.GenerateImages(t.Context(), priced(), engine.Output{}, nil)
	must(t, err)
	u := res.Usage
	if u == nil || u.InputTextTokens == 0 || u.OutputImageTokens == 0 {
		t.Fatalf("usage %+v", u)
	}
	want := u.InputTextTokens*5 + u.OutputImageTokens*30
	if res.Cost.Basis != engine.BasisReported || *res.Cost.Micros != want {
		t.Errorf("cost %s, want %d micros", res.Cost, want)
	}
}
