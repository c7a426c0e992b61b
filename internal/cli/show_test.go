package cli_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"mediagen/internal/catalog"
	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

func showSays(rows []cli.SettingRow) func(*pflag.FlagSet) ([]cli.SettingRow, []string, error) {
	return func(*pflag.FlagSet) ([]cli.SettingRow, []string, error) { return rows, nil, nil }
}

func pathSays(path string) func(*pflag.FlagSet) (string, error) {
	return func(*pflag.FlagSet) (string, error) { return path, nil }
}

// shows checks the whole of stdout.
func (b *bench) shows(want string, args ...string) {
	b.t.Helper()
	b.wants(0, args...)
	if diff := cmp.Diff(want, b.out.String()); diff != "" {
		b.t.Errorf("mediagen %q (-want +got):\n%s", args, diff)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	const want = "mediagen 1.2.3 (go1.26 linux/amd64, imaging: fake 9)\n"
	b.shows(want, "version")
	b.shows(want, "--version")
	b.wants(0, "--version", "--json")
	if r := b.reply(); r.Command != "version" || r.Items[0]["commit"] != "abc" {
		t.Errorf("%s", b.out)
	}
}

func TestConfigCommands(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.shows("timeout  90s\n", "config", "show")
	b.shows("timeout  90s  env X\n", "config", "show", "--origin")
	b.shows("/home/me/.config/mediagen/config.yaml\n", "config", "path")
	b.shows("/home/me/.config/mediagen/config.yaml\n", "config", "init", "--overwrite")
	b.shows("#timeout: 0s\n", "config", "init", "--stdout")
	b.wants(0, "config", "init", "--stdout", "--json")
	if r := b.reply(); r.Items[0]["text"] != "#timeout: 0s\n" {
		t.Errorf("%s", b.out)
	}
	b.wants(2, "config", "init")
	b.session.Warnings = []string{"a secrets file is open to others"}
	b.wants(0, "config", "show")
	if !strings.Contains(b.errOut.String(), "warning: a secrets file") {
		t.Errorf("stderr %q", b.errOut)
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	micros := int64(53_000)
	b := newBench(t, "")
	b.eng.result.Plan = &engine.Plan{
		Op: "images generate", Provider: "openai", Endpoint: "https://api.openai.com/v1", Model: "m", N: 2, Quality: "high",
		Paths: []string{"/base/here/a_1.png", "/base/here/a_2.png"}, UpperBound: true, AsOf: "2026-11",
		Estimate: engine.Cost{Micros: &micros, Basis: engine.BasisEstimated, Assumed: true},
	}
	b.shows(`would send  images generate
provider    openai at https://api.openai.com/v1
model       m
pictures    2
quality     high
cost        at most ~$0.053 (estimated), prices of 2026-11
files       a_1.png
            a_2.png
nothing sent
`, "images", "generate", "--dry-run", "x")
	b.eng.result.Plan.Estimate = engine.Cost{Why: "no price is known"}
	b.eng.result.Plan.UpperBound, b.eng.result.Plan.AsOf = false, ""
	b.wants(0, "images", "generate", "--dry-run", "x")
	if !strings.Contains(b.out.String(), "\ncost        unknown: no price is known\n") {
		t.Errorf("stdout %s", b.out)
	}
}

func TestJobsForPeople(t *testing.T) {
	t.Parallel()
	micros := int64(40_100)
	b := newBench(t, "")
	made := time.Date(2026, 11, 30, 11, 0, 0, 0, time.Local)
	clock := made.Format("15:04:05Z07:00") // local time, with the zone that makes it unambiguous
	b.eng.jobs = []engine.Job{
		{
			ID: "01j9zq", State: "landed", Op: "images generate", Provider: "openai", Endpoint: "https://api.openai.com/v1",
			Model: "m", Created: made, RequestID: "req_1", Prompt: "a\nb", Cost: engine.Cost{Micros: &micros, Basis: "reported"},
			Assets: []engine.Asset{
				{Path: "/base/here/a.png", MediaType: "image/png", Bytes: 3, Width: 4, Height: 5, SHA256: "00"},
				{Path: "/base/here/b.png", MediaType: "image/png", Bytes: 3, SHA256: "01", Index: 1, Spooled: true},
				{Path: "/base/here/a.partial-1.png", Partial: 1},
				{URL: "https://example.org/c.png", Index: 2},
			},
		},
		{
			ID: "01j9zr", State: "sent", Orphaned: true, Created: made, Targets: []string{"/base/here/c.png"},
			Error: &engine.JobError{Code: "no_answer", Message: "no answer came", Billed: "maybe"},
		},
		{ID: "01j9zs", State: "succeeded", Created: made, Assets: []engine.Asset{{Path: "/state/spool/x.png", Spooled: true}}},
		{ID: "01j9zt", State: "landed", Created: made, Assets: []engine.Asset{{URL: "https://example.org/c.png"}}},
	}
	b.wants(0, "jobs", "list")
	want := [][]string{
		{"ID", "STATE", "CREATED", "WHAT", "PROVIDER", "MODEL", "COST", "FILES"},
		{"01j9zq", "landed", "2026-11-30", clock, "images", "generate", "openai", "m", "$0.0401", "(reported)", "a.png", "+2"},
		{"01j9zr", "sent*", "2026-11-30", clock, "unknown", "-"},
		{"01j9zs", "succeeded", "2026-11-30", clock, "unknown", "/state/spool/x.png", "(spool)"},
		{"01j9zt", "landed", "2026-11-30", clock, "unknown", "(link", "kept)"},
	}
	var got [][]string
	for line := range strings.Lines(b.out.String()) {
		got = append(got, strings.Fields(line))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	b.wants(0, "jobs", "show", "01j9zq")
	for _, line := range []string{
		"provider    openai at https://api.openai.com/v1", `prompt      a\nb`, "created     2026-11-30 " + clock, "request id  req_1", "cost        $0.0401 (reported)",
		"file 1      /base/here/a.png  image/png  3 bytes  4x5  sha256 00",
		"file 2      /base/here/b.png  image/png  3 bytes  in the spool  sha256 01",
		"file 3      not read: https://example.org/c.png",
	} {
		if !strings.Contains(b.out.String(), line+"\n") {
			t.Errorf("no %q in:\n%s", line, b.out)
		}
	}
	b.eng.jobs = b.eng.jobs[1:]
	b.wants(0, "jobs", "show", "01j9zr")
	for _, line := range []string{
		"note          its process died before it noted an outcome", "planned file  /base/here/c.png",
		"error         no answer came (no_answer, billed: maybe)",
	} {
		if !strings.Contains(b.out.String(), line+"\n") {
			t.Errorf("no %q in:\n%s", line, b.out)
		}
	}
}

// TestJobsListFitsTheTerminal: each row is one line of a terminal. Programs get everything.
func TestJobsListFitsTheTerminal(t *testing.T) {
	t.Parallel()
	micros := int64(40_100)
	long := "/srv/pictures/" + strings.Repeat("deep/", 20) + "a-red-bicycle-by-the-sea_1.png"
	b := newBench(t, "")
	for _, path := range []string{long, "/base/here/out/" + strings.Repeat("犬", 60) + ".png", "/base/here/a.png"} {
		b.eng.jobs = append(b.eng.jobs, engine.Job{
			ID: "1r7515jyhz28", State: "succeeded", Op: "images generate", Provider: "openai", Model: "gpt-image-2.6-sunburst",
			Created: now(), Cost: engine.Cost{Micros: &micros, Basis: "reported"},
			Assets: []engine.Asset{{Path: path, Spooled: path == long}, {Path: "/b.png", Index: 1}},
		})
	}
	b.wants(0, "jobs", "list")
	whole := b.out.String()
	if !strings.Contains(whole, long+" (spool) +1\n") || !strings.Contains(whole, "gpt-image-2.6-sunburst") {
		t.Errorf("a program does not get everything:\n%s", whole)
	}
	b.deps.Streams.OutTTY = true
	for _, tc := range []struct {
		width       int
		shows, lack string
	}{
		{400, long + " (spool) +1", "..."},
		{180, "PROVIDER", long},
		{140, "gpt-image-2.6-sunburst", "PROVIDER"},
		{80, "+1", "MODEL"},
		{20, "1r7515jyhz28", "MODEL"},
	} {
		b.deps.Streams.Width = tc.width
		b.wants(0, "jobs", "list")
		if got := b.out.String(); !strings.Contains(got, tc.shows) || strings.Contains(got, tc.lack) {
			t.Errorf("%d columns:\n%s", tc.width, got)
		}
		for line := range strings.Lines(b.out.String()) {
			if n := iostreams.Width(strings.TrimSuffix(line, "\n")); n > tc.width && tc.width >= 80 {
				t.Errorf("%d columns: a row takes %d: %s", tc.width, n, line)
			}
		}
		if !strings.Contains(b.out.String(), "a.png +1\n") {
			t.Errorf("%d columns: a short name was cut:\n%s", tc.width, b.out)
		}
	}
	b.wants(0, "jobs", "list", "--jq", ".items[0].assets[0].path")
	if b.out.String() != long+"\n" {
		t.Errorf("JSON: %s", b.out)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.shows("", "jobs", "forget", "a")
	if b.errOut.String() != "removed 1 job from the journal; files stay\n" {
		t.Errorf("stderr %q", b.errOut)
	}
	b.wants(0, "jobs", "forget", "a", "b", "--jq", ".items[0].forgotten")
	if b.out.String() != "2\n" || b.errOut.Len() != 0 {
		t.Errorf("stdout %q, stderr %q", b.out, b.errOut)
	}
	b.shows("", "jobs", "forget", "a", "b", "-q")
	if b.errOut.Len() != 0 {
		t.Errorf("stderr %q", b.errOut)
	}
}

// TestResumeTellsWhatMoved before it failed.
func TestResumeTellsWhatMoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.err = engine.Errorf(engine.KindFailure, "disk_full", "the disk is full")
	b.wants(1, "jobs", "resume", "a")
	if b.out.String() != "out/a.png\n" || !strings.Contains(b.errOut.String(), "the disk is full") {
		t.Errorf("stdout %q, stderr %q", b.out, b.errOut)
	}
	b.wants(1, "jobs", "resume", "a", "--json")
	if r := b.reply(); len(r.Assets) != 1 || r.Error.Code != "disk_full" {
		t.Errorf("%s", b.out)
	}
}

// TestModelCard says rules and prices of every model of the catalog in words: no braces of JSON, no empty rows.
func TestModelCard(t *testing.T) {
	t.Parallel()
	cat, err := catalog.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range cat.All("", "") {
		b := newBench(t, "")
		b.eng.models = []engine.ModelInfo{{Model: m, Status: string(m.Status(now()))}}
		b.wants(0, "models", "show", m.ID)
		if strings.ContainsAny(b.out.String(), "{}[]") || strings.Contains(b.out.String(), "%!") {
			t.Errorf("%s:\n%s", m.ID, b.out)
		}
		for line := range strings.Lines(b.out.String()) {
			if name, value, _ := strings.Cut(line, "  "); strings.TrimSpace(value) == "" {
				t.Errorf("%s: row %q has no value", m.ID, name)
			}
		}
	}
	m, _ := cat.Lookup("gpt-image-2")
	b := newBench(t, "")
	b.eng.models = []engine.ModelInfo{{Model: m}}
	b.wants(0, "models", "show", "gpt-image-2")
	for _, line := range []string{
		"can                       generate, edit", "pictures a call           up to 10",
		"takes output_compression  0 to 100; default 100; only with jpeg, webp",
		"takes moderation          auto, low; default auto; only to generate",
		"tokens at 1024x1024       low 200, medium 1767, high 7034",
	} {
		if !strings.Contains(b.out.String(), line+"\n") {
			t.Errorf("no %q in:\n%s", line, b.out)
		}
	}
}

func TestModelTable(t *testing.T) {
	t.Parallel()
	cat, err := catalog.New([]byte("models:\n  - {id: b, provider: google, kind: video, ops: [extend], retires: 2027-01-02, " +
		"retires_earliest: true, replacement: gpt-image-2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	ending, _ := cat.Lookup("b")
	b := newBench(t, "")
	b.eng.models = []engine.ModelInfo{
		{Model: catalog.Model{ID: "a", Provider: "openai", Kind: "image", Ops: []string{"generate", "edit"}}, Status: "current", Served: true},
		{Model: ending, Status: "retiring"},
	}
	b.shows(`MODEL  PROVIDER  KIND   CAN            STATUS                       RETIRES          REPLACEMENT
a      openai    image  generate,edit  current
b      google    video  extend         retiring, not in this build  from 2027-01-02  gpt-image-2
`, "models", "list")
}

// TestProgress shows the same call in every mode. stdout never changes.
func TestProgress(t *testing.T) {
	t.Parallel()
	events := []engine.Event{
		{Kind: engine.EventRetrying, Message: "503 with sk-canary", Pause: 1234 * time.Millisecond},
		{Kind: engine.EventSent, Total: 2},
		{Kind: engine.EventReceived, Index: 0, Total: 2, Bytes: 10},
		{Kind: engine.EventPartial, Path: "/base/here/a.partial-1.png"},
		{Kind: engine.EventSaved, Index: 0, Total: 2, Bytes: 10},
		{Kind: engine.EventWarning, Message: "is in the result"},
	}
	plain := "503 with [redacted]; sending again in 1.2s\nmaking 2 pictures: started\npartial picture: a.partial-1.png\n" +
		"making 2 pictures: done in 0s, cost $0.0401 (reported)\n"
	notes := "503 with [redacted]; sending again in 1.2s\npartial picture: a.partial-1.png\n"
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, plain},
		{[]string{"--progress", "auto"}, plain},
		{[]string{"--progress", "plain"}, plain},
		{[]string{"--progress", "bar"}, plain}, // no terminal, no bar
		{[]string{"--progress", "none"}, notes},
		{[]string{"-q"}, ""},
		{[]string{"--json"}, plain},
	} {
		b := newBench(t, "")
		b.eng.events = events
		b.wants(0, append([]string{"images", "generate", "-n", "2", "x"}, tc.args...)...)
		if diff := cmp.Diff(tc.want, b.errOut.String()); diff != "" {
			t.Errorf("%v: stderr (-want +got):\n%s", tc.args, diff)
		}
	}
	b := newBench(t, "")
	b.eng.events = events
	b.deps.Streams.ErrTTY = true
	b.wants(0, "images", "generate", "x")
	if !strings.Contains(b.errOut.String(), "\x1b[") && !strings.Contains(b.errOut.String(), "\r") {
		t.Errorf("a terminal gets no bar: %q", b.errOut)
	}
	b.eng.err = engine.Errorf(engine.KindBlocked, "blocked", "no")
	b.deps.Streams.ErrTTY = false
	b.wants(5, "images", "generate", "x")
	if !strings.Contains(b.errOut.String(), "making 2 pictures: failed after 0s\nmediagen: images generate: no\n") {
		t.Errorf("stderr: %s", b.errOut)
	}
	b.eng.err = engine.Errorf(engine.KindPartial, "partial", "1 of 2 pictures")
	b.wants(13, "images", "generate", "x")
	if !strings.Contains(b.errOut.String(), "making 2 pictures: done in 0s, some are missing, cost $0.0401 (reported)\n") {
		t.Errorf("stderr: %s", b.errOut)
	}
}

// TestPictures is the label of one.
func TestPictures(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.events = []engine.Event{{Kind: engine.EventSent, Total: 1}}
	b.wants(0, "images", "generate", "x")
	if !strings.Contains(b.errOut.String(), "making 1 picture: started") {
		t.Errorf("stderr: %s", b.errOut)
	}
}

// TestTopicsAreTrue holds what help topics say against the code.
func TestTopicsAreTrue(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(0, "help", "exit-codes")
	if n := strings.Count(b.out.String(), "\n  "); n != 16 {
		t.Errorf("%d codes are listed:\n%s", n, b.out)
	}
	b.wants(0, "help", "troubleshooting")
	for line := range strings.Lines(b.out.String()) {
		for _, flag := range []string{"--log-requests", "--provider", "--state", "--all"} {
			if strings.Contains(line, flag) && !strings.Contains(helpOfAll(t), flag) {
				t.Errorf("%s is no flag", flag)
			}
		}
	}
}

// TestFormattingNamesEveryKey of an error and of an asset.
func TestFormattingNamesEveryKey(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.eng.err = &engine.Error{
		Kind: engine.KindPartial, Code: "x", Message: "m", Hint: "h", Provider: "p", RequestID: "r", RetryAfter: 1, Billed: "yes",
	}
	b.wants(13, "images", "generate", "--jq", ".error | keys[]", "x")
	errorKeys := strings.Fields(b.out.String())
	var keys []string
	for f := range reflect.TypeFor[engine.Asset]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, name)
	}
	if len(errorKeys) != 9 || len(keys) < 12 {
		t.Fatalf("keys %v and %v", errorKeys, keys)
	}
	b.wants(0, "help", "formatting")
	assets, failure, _ := strings.Cut(b.out.String(), "error is {")
	for part, keys := range map[string][]string{assets: keys, failure: errorKeys} {
		for _, key := range keys {
			if !strings.Contains(part, `"`+key+`"`) {
				t.Errorf("help formatting has no %q in:\n%s", key, part)
			}
		}
	}
}

// TestExampleIDs look like real ones.
func TestExampleIDs(t *testing.T) {
	t.Parallel()
	ids := regexp.MustCompile(`jobs (?:show|resume|forget) ([0-9]\S*)`).FindAllStringSubmatch(helpOfAll(t), -1)
	if len(ids) < 5 {
		t.Fatalf("only %d examples", len(ids))
	}
	for _, id := range ids {
		if len(id[1]) != 12 || strings.Trim(id[1], "0123456789abcdefghjkmnpqrstvwxyz") != "" {
			t.Errorf("%s is no id", id[1])
		}
	}
}

// TestEmulatorHelpTellsEarlyFaults: a prompt cannot ask for what happens before it is read.
func TestEmulatorHelpTellsEarlyFaults(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(0, "emulator", "--help")
	for line := range strings.Lines(b.out.String()) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if early := name == "cut-before-body"; early != strings.Contains(line, "not as a prompt prefix") {
			t.Errorf("%q", line)
		}
	}
}

func helpOfAll(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, c := range tree(t) {
		text, err := os.ReadFile(golden + "/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
