package engine_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"strconv"
	"testing"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// faultCodes reads the constants of package fault from its source, so that a new one cannot be forgotten.
func faultCodes(t *testing.T) []fault.Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../fault/fault.go", nil, 0)
	must(t, err)
	var codes []fault.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		for _, v := range spec.Values {
			lit, ok := v.(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s is no literal", spec.Names[0].Name)
			}
			text, err := strconv.Unquote(lit.Value)
			must(t, err)
			codes = append(codes, fault.Code(text))
		}
		return true
	})
	if len(codes) < 30 {
		t.Fatalf("found %d codes", len(codes))
	}
	return codes
}

// TestKinds: every code of the parts has a kind, and failure only where local work failed.
func TestKinds(t *testing.T) {
	t.Parallel()
	local := map[fault.Code]bool{fault.ReadOnly: true, fault.DiskFull: true, fault.IOFailed: true, fault.JournalBroken: true}
	want := map[fault.Code]engine.Kind{
		fault.InvalidBase64: engine.KindInvalidRequest, fault.PathDenied: engine.KindPolicyDenied, fault.NotFound: engine.KindNotFound,
		fault.JobNotFound: engine.KindNotFound, fault.Exists: engine.KindExists, fault.ConfigInvalid: engine.KindConfig,
		fault.PolicyInvalid: engine.KindConfig, fault.UnsupportedModality: engine.KindUnsupported,
		fault.FetchTimeout: engine.KindUnavailable, fault.ItemTooLarge: engine.KindPolicyDenied,
		fault.InvalidArgument: engine.KindInvalidRequest, fault.MIMEMismatch: engine.KindPolicyDenied,
	}
	for _, code := range faultCodes(t) {
		f := fault.New(code, "message").WithHint("hint")
		for _, err := range []error{f, fmt.Errorf("wrapped: %w", f)} {
			e := engine.AsError(err)
			if (e.Kind == engine.KindFailure) != local[code] || e.Kind == "" {
				t.Errorf("%s is %s", code, e.Kind)
			}
			if kind, ok := want[code]; ok && kind != e.Kind {
				t.Errorf("%s is %s, want %s", code, e.Kind, kind)
			}
			if e.Code != code || e.Message != "message" || e.Hint != "hint" || e.Billed != engine.BilledNo || !errors.Is(e, f) {
				t.Errorf("%s: got %+v", code, e)
			}
		}
	}
}

func TestAsError(t *testing.T) {
	t.Parallel()
	if engine.AsError(nil) != nil {
		t.Error("nil is an error")
	}
	own := engine.Errorf(engine.KindBlocked, "x", "blocked: %w", io.EOF)
	if got := engine.AsError(fmt.Errorf("more: %w", own)); got != own {
		t.Errorf("got %v", got)
	}
	if !errors.Is(own, io.EOF) || own.Message != "blocked: EOF" {
		t.Errorf("got %v", own)
	}
	plain := engine.AsError(io.EOF)
	if plain.Kind != engine.KindFailure || plain.Code != "failed" || !errors.Is(plain, io.EOF) {
		t.Errorf("got %+v", plain)
	}
	for _, err := range []error{context.Canceled, fault.New(fault.IOFailed, "broken off: %w", context.Canceled)} {
		if e := engine.AsError(err); e.Kind != engine.KindInterrupted || e.Code != "interrupted" {
			t.Errorf("%v is %s %s", err, e.Kind, e.Code)
		}
	}
	if e := engine.AsError(fault.New(fault.NotFound, "gone: %w", context.Canceled)); e.Kind != engine.KindNotFound {
		t.Errorf("got %s", e.Kind)
	}
}

// TestErrorCopies: decorating an error leaves the original alone.
func TestErrorCopies(t *testing.T) {
	t.Parallel()
	e := engine.Errorf(engine.KindAuth, "code", "message")
	e.Provider = "openai"
	other := e.WithHint("a %s", "hint").WithCause(io.EOF).Bill(engine.BilledYes)
	if e.Hint != "" || e.Unwrap() != nil || e.Billed != "" {
		t.Errorf("the original changed: %+v", e)
	}
	if other.Hint != "a hint" || !errors.Is(other, io.EOF) || other.Billed != engine.BilledYes || other.Error() != "openai: message" {
		t.Errorf("got %+v", other)
	}
	e.Message = "openai answered"
	if e.Error() != "openai answered" {
		t.Errorf("got %s", e)
	}
}
