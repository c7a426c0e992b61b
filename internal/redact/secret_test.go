package redact_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"mediagen/internal/redact"
)

const value = "s3cr3t-value-0123456789"

type inner struct {
	Public  redact.Secret
	private redact.Secret
}

type outer struct {
	inner

	Pointer *redact.Secret
	List    []redact.Secret
	Map     map[string]redact.Secret
	Any     any
}

func nested() outer {
	s := redact.NewSecret(value)
	return outer{
		inner:   inner{Public: s, private: s},
		Pointer: &s,
		List:    []redact.Secret{s},
		Map:     map[string]redact.Secret{"k": s},
		Any:     s,
	}
}

// forms are the ways in which the value or its bytes could show.
func forms() []string {
	return []string{
		value, fmt.Sprintf("%x", value), fmt.Sprintf("%X", value), fmt.Sprintf("% x", value),
		strings.Trim(fmt.Sprintf("%d", []byte(value)), "[]"), fmt.Sprintf("%b", []byte(value)),
	}
}

func wantNoLeak(t *testing.T, what, got string) {
	t.Helper()
	for _, form := range forms() {
		if strings.Contains(got, form) {
			t.Errorf("%s leaks: %q", what, got)
		}
	}
}

func TestSecretVerbs(t *testing.T) {
	t.Parallel()
	s, n := redact.NewSecret(value), nested()
	for verb := rune('!'); verb < 0x7f; verb++ {
		if verb == '%' || ('0' <= verb && verb <= '9') || strings.ContainsRune("#+-.*[] ", verb) {
			continue
		}
		for _, flags := range []string{"", "+", "#", "-", " ", "0", "20", ".3", "+.40", "# 0+-20.10"} {
			format := "%" + flags + string(verb)
			for _, arg := range []any{s, &s, n, &n, []any{s, n}, map[string]any{"s": s}, errors.Join(fmt.Errorf(format, s))} {
				wantNoLeak(t, format, fmt.Sprintf(format, arg))
			}
			if strings.ContainsRune("Tpw", verb) {
				continue // fmt answers these itself, with the type and an address
			}
			if got := fmt.Sprintf(format, s); got != "[redacted]" {
				t.Errorf("%s printed %q", format, got)
			}
			if got := fmt.Sprintf(format, redact.Secret{}); got != "[unset]" {
				t.Errorf("%s of an unset secret printed %q", format, got)
			}
		}
	}
	wantNoLeak(t, "Print", fmt.Sprint(s, n))
	wantNoLeak(t, "Println", fmt.Sprintln(s, n))
	wantNoLeak(t, "String", s.String()+s.GoString())
}

func TestSecretEncoders(t *testing.T) {
	t.Parallel()
	n := nested()
	for name, v := range map[string]any{"secret": n.Public, "pointer": n.Pointer, "nested": n} {
		got, err := json.Marshal(v)
		if err != nil {
			t.Errorf("json of %s: %v", name, err)
		}
		wantNoLeak(t, "json of "+name, string(got))
	}
	if got, _ := json.Marshal(n.inner); string(got) != `{"Public":"[redacted]"}` {
		t.Errorf("json: %s", got)
	}
	if got, _ := json.Marshal([]redact.Secret{{}}); string(got) != `["[unset]"]` {
		t.Errorf("json of an unset secret: %s", got)
	}
	got, err := xml.Marshal(n.inner)
	if err != nil {
		t.Fatal(err)
	}
	wantNoLeak(t, "xml", string(got))
}

func TestSecretLogs(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	opts := &slog.HandlerOptions{Level: slog.LevelDebug}
	n := nested()
	for _, h := range []slog.Handler{slog.NewTextHandler(&b, opts), slog.NewJSONHandler(&b, opts)} {
		l := slog.New(h).With("bound", n.Public)
		l.Info("m", "secret", n.Public, "pointer", n.Pointer, "nested", n, slog.Group("g", "s", n.Public, "list", n.List))
		l.Error("m", "err", fmt.Errorf("call: %v", n.Public))
	}
	wantNoLeak(t, "slog", b.String())
	if got := strings.Count(b.String(), "[redacted]"); got < 12 {
		t.Errorf("only %d marks in:\n%s", got, b.String())
	}
}

func TestSecretValue(t *testing.T) {
	t.Parallel()
	s := redact.NewSecret(value)
	if s.Reveal() != value || !s.IsSet() {
		t.Errorf("Reveal = %q, IsSet = %v", s.Reveal(), s.IsSet())
	}
	for _, unset := range []redact.Secret{{}, redact.NewSecret("")} {
		if unset.Reveal() != "" || unset.IsSet() || unset.String() != "[unset]" {
			t.Errorf("unset: Reveal = %q, IsSet = %v, String = %q", unset.Reveal(), unset.IsSet(), unset)
		}
	}
	if !s.Equal(redact.NewSecret(value)) || s.Equal(redact.NewSecret(value+"x")) || s.Equal(redact.Secret{}) {
		t.Error("Equal is wrong")
	}
}
