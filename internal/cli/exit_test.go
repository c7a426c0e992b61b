package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// exits is the table of design.md §9, row by row.
func exits() map[engine.Kind]int {
	return map[engine.Kind]int{
		engine.KindFailure:        1,
		engine.KindInvalidRequest: 2, engine.KindUnsupported: 2, engine.KindNotFound: 2, engine.KindExists: 2,
		engine.KindAuth: 3, engine.KindConfig: 3,
		engine.KindPolicyDenied: 4,
		engine.KindBlocked:      5,
		engine.KindRateLimited:  6, engine.KindQuota: 6,
		engine.KindUnavailable:    7,
		engine.KindUnknownOutcome: 8,
		engine.KindConstraint:     9,
		engine.KindModelRetired:   10,
		engine.KindOverBudget:     11,
		engine.KindPartial:        13,
		engine.KindWaitTimeout:    124, engine.KindInterrupted: 130, engine.KindTerminated: 143,
	}
}

// kinds reads the kinds from the engine's source, so that a new one cannot be forgotten here.
func kinds(t *testing.T) []engine.Kind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../engine/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []engine.Kind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Kind") {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, engine.Kind(text))
		return true
	})
	return found
}

// TestExitCodes holds the code of every kind, through a whole command, with and without --json.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	table := exits()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(table)), slices.Sorted(slices.Values(kinds(t)))); diff != "" {
		t.Fatalf("kinds (-table +engine):\n%s", diff)
	}
	for kind, code := range table {
		b := newBench(t, "")
		b.eng.err = engine.Errorf(kind, "x", "because")
		b.wants(code, "images", "generate", "x")
		b.wants(code, "images", "generate", "--json", "x")
		if r := b.reply(); r.Error.Exit != code || r.Error.Kind != string(kind) {
			t.Errorf("%s: %s", kind, b.out)
		}
		if got := cli.ExitCode(kind); got != code {
			t.Errorf("ExitCode(%s) = %d, want %d", kind, got, code)
		}
	}
	if got := cli.ExitCode("a kind of the future"); got != 1 {
		t.Errorf("an unknown kind ends in %d, want 1", got)
	}
}

// TestEveryCodeIsExplained in the help topic, and none besides.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(0, "help", "exit-codes")
	explained := map[string]bool{}
	for line := range strings.Lines(b.out.String()) {
		if fields := strings.Fields(line); strings.HasPrefix(line, "  ") && len(fields) > 1 {
			explained[fields[0]] = true
		}
	}
	want := map[string]bool{"0": true}
	for _, code := range exits() {
		want[strconv.Itoa(code)] = true
	}
	if diff := cmp.Diff(want, explained); diff != "" {
		t.Errorf("codes (-table +topic):\n%s", diff)
	}
}

// TestFaultCodes follows errors of the leaf packages to their exit codes.
func TestFaultCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[fault.Code]int{
		fault.InvalidArgument: 2, fault.NotFound: 2, fault.JobNotFound: 2, fault.Exists: 2, fault.UnsupportedOperation: 2,
		fault.ConfigInvalid: 3, fault.PolicyInvalid: 3, fault.PathDenied: 4, fault.ItemTooLarge: 4, fault.SSRFDenied: 4,
		fault.FetchFailed: 7, fault.DiskFull: 1, fault.IOFailed: 1, fault.JournalBroken: 1, fault.ReadOnly: 1,
	} {
		b := newBench(t, "")
		b.openErr = fault.New(code, "because")
		b.wants(want, "jobs", "list", "--json")
		if r := b.reply(); r.Error.Code != string(code) {
			t.Errorf("%s: %s", code, b.out)
		}
	}
}
