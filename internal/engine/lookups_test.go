package engine_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mediagen/internal/catalog"
	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

func TestModels(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{noJournal: true})
	all, current := r.Models("", "", true), r.Models("", "", false)
	if len(current) == 0 || len(current) >= len(all) {
		t.Errorf("%d of %d models", len(current), len(all))
	}
	for _, m := range current {
		if m.Status == string(catalog.StatusRetired) {
			t.Errorf("%s is retired", m.ID)
		}
	}
	for _, m := range r.Models("video", "google", true) {
		if m.Kind != "video" || m.Provider != "google" {
			t.Errorf("%s is a %s of %s", m.ID, m.Kind, m.Provider)
		}
	}
	if none := r.Models("audio", "", true); none == nil || len(none) != 0 {
		t.Errorf("got %v", none)
	}
	m, err := r.Model("gpt-image-2-2026-04-21")
	if err != nil || m.AliasOf != "gpt-image-2" || m.Status != "current" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := r.Model("gpt-image-1"); err != nil || m.Status != "retired" {
		t.Errorf("%s, %v", m.Status, err)
	}
	_, err = r.Model("nope")
	wantError(t, err, engine.KindNotFound, fault.NotFound, engine.BilledNo)
	if r.Catalog() != r.cfg.Catalog || r.Workspace() != r.ws {
		t.Error("the engine has other parts than it was given")
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{noJournal: true})
	if got := strings.Join(r.Words("provider"), " "); got != "openai azure emulator" {
		t.Errorf("providers %s", got)
	}
	if !slices.Contains(r.Words("quality"), "high") || len(r.Words("nonsense")) != 0 {
		t.Error("the catalog's words are not passed on")
	}
}

func TestReadText(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{mcp: true, noJournal: true})
	r.write("prompt.txt", []byte("a fox\n"))
	r.write("limit.txt", make([]byte, 1<<20))
	r.write("long.txt", make([]byte, 1<<20+1))
	if got, err := r.ReadText("prompt.txt"); err != nil || got != "a fox\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := r.ReadText("limit.txt"); err != nil || len(got) != 1<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for name, kind := range map[string]engine.Kind{
		"long.txt": engine.KindPolicyDenied, "missing.txt": engine.KindNotFound, ".": engine.KindInvalidRequest,
		"/etc/passwd": engine.KindPolicyDenied,
	} {
		_, err := r.ReadText(name)
		if e := engine.AsError(err); e == nil || e.Kind != kind {
			t.Errorf("%s: %v, want %s", name, err, kind)
		}
	}
}

// TestTestPath answers for paths and file URLs, makes nothing, and says that it cannot answer for other URLs.
func TestTestPath(t *testing.T) {
	t.Parallel()
	r := newRig(t, options{mcp: true, noJournal: true})
	tests := []struct {
		target string
		write  bool
		allow  bool
		code   fault.Code
	}{
		{target: "a.png", allow: true},
		{target: "new/deep/a.png", write: true, allow: true},
		{target: "file://" + r.in("a.png"), allow: true},
		{target: "/etc/passwd", code: fault.PathDenied},
		{target: "../a.png", write: true, code: fault.PathDenied},
		{target: "https://example.org/a.png", code: fault.UnsupportedOperation},
		{target: "HTTP://example.org/a.png", write: true, code: fault.UnsupportedOperation},
		{target: "s3://bucket/a.png", code: fault.UnsupportedOperation},
	}
	for _, tt := range tests {
		v := r.TestPath(tt.target, tt.write)
		if v.Allow != tt.allow || v.Code != string(tt.code) || v.Target != tt.target || v.Rule == "" {
			t.Errorf("%s: %+v", tt.target, v)
		}
		if v.Access != map[bool]string{false: "read", true: "write"}[tt.write] || (v.Reason == "") == (tt.code != "") {
			t.Errorf("%s: %+v", tt.target, v)
		}
	}
	if _, err := os.Stat(r.in("new")); err == nil {
		t.Error("a directory was made")
	}
}
