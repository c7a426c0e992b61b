package app_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// loud returns which kinds of log lines a run of images generate writes: settings and the like at info, requests at
// debug, bodies when asked for.
func (h *home) loud(args ...string) string {
	h.t.Helper()
	r := h.generate(append(args, "--progress", "none")...)
	if r.code != 0 {
		h.t.Fatalf("%v: exit %d: %s", args, r.code, r.errOut)
	}
	var kinds []string
	for _, k := range [][2]string{{"info", "directories opened"}, {"debug", "request answered"}, {"body", "request body"}} {
		if strings.Contains(r.errOut, k[1]) {
			kinds = append(kinds, k[0])
		}
	}
	return strings.Join(kinds, " ")
}

// TestLogLevels holds which of the many switches wins: --log-level, then -v and -q, then the settings; OPENAI_LOG is about
// the provider's own requests.
func TestLogLevels(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	for _, tc := range []struct {
		name string
		env  []string
		args []string
		want string
	}{
		{"nothing", nil, nil, ""},
		{"-v", nil, []string{"-v"}, "info"},
		{"-vv", nil, []string{"-vv"}, "info debug"},
		{"--log-level", nil, []string{"--log-level", "debug"}, "info debug"},
		{"--log-level wins over -vv", nil, []string{"--log-level", "info", "-vv"}, "info"},
		{"--log-level silent", nil, []string{"--log-level", "silent", "-vv"}, ""},
		{"environment", []string{"MEDIA_GEN_LOG_LEVEL=debug"}, nil, "info debug"},
		{"the contract's name", []string{"MEDIA_GEN_MCP_LOG_LEVEL=info"}, nil, "info"},
		{"-v wins over the environment", []string{"MEDIA_GEN_LOG_LEVEL=error"}, []string{"-v"}, "info"},
		{"-v takes nothing away", []string{"MEDIA_GEN_LOG_LEVEL=debug"}, []string{"-v"}, "info debug"},
		{"-q wins over the environment", []string{"MEDIA_GEN_LOG_LEVEL=debug"}, []string{"-q"}, ""},
		{"OPENAI_LOG opens requests alone", []string{"OPENAI_LOG=debug"}, nil, "debug"},
		{"OPENAI_LOG=off", []string{"OPENAI_LOG=off"}, []string{"-vv"}, "info"},
		{"OPENAI_LOG=error", []string{"OPENAI_LOG=error"}, []string{"-vv"}, "info"},
		{"--log-requests", nil, []string{"--log-requests"}, "info body"},
		{"--log-requests and -vv", nil, []string{"--log-requests", "-vv"}, "info debug body"},
		{"--log-requests wins over silence", []string{"MEDIA_GEN_LOG_LEVEL=silent", "OPENAI_LOG=off"}, []string{"--log-requests"}, "info body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, append(tc.env, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")...)
			if got := h.loud(tc.args...); got != tc.want {
				t.Errorf("logged %q, want %q", got, tc.want)
			}
		})
	}
}

// TestLogFormat writes a JSON object a line, and nothing else, when asked to.
func TestLogFormat(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.generate("--provider", "emulator", "-vv", "--log-format", "json", "--progress", "none")
	if n := strings.Count(r.errOut, "\n"); r.code != 0 || n < 4 {
		t.Fatalf("exit %d, %d lines: %s", r.code, n, r.errOut)
	}
	for line := range strings.Lines(r.errOut) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil || v["msg"] == nil {
			t.Errorf("%v: %q", err, line)
		}
	}
}

// TestLogSaysWhatIsDone tells which files were read, which directories are open, who makes the picture and where it is
// written down, and neither prompt nor bytes.
func TestLogSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(h.dir+"/.config/mediagen/config.yaml", "images:\n  quality: low\n")
	r := h.run("images", "generate", "-v", "--provider", "emulator", "--progress", "none", "a secret prompt")
	for _, part := range []string{
		`msg="settings read" kind="config file"`, "config.yaml", `msg="directories opened" policy="own authority"`,
		`msg="provider chosen" name=emulator endpoint=http://127.0.0.1:`, `msg="journal opened" path=`,
	} {
		if !strings.Contains(r.errOut, part) {
			t.Errorf("no %q in:\n%s", part, r.errOut)
		}
	}
	if r.code != 0 || strings.Contains(r.errOut, "secret prompt") {
		t.Errorf("exit %d, stderr: %s", r.code, r.errOut)
	}
}

// TestSanitizeImages: base64 in a logged request is cut unless the log's switch is off; the key is in neither log.
func TestSanitizeImages(t *testing.T) {
	t.Parallel()
	s := newServer(t, nil)
	picture := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 8)
	for _, tc := range []struct {
		name string
		env  []string
		kept bool
	}{
		{"default", nil, false},
		{"off", []string{"MEDIA_GEN_MCP_LOG_SANITIZE_IMAGES=off"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, append(tc.env, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+s.URL+"/v1")...)
			r := h.run("images", "generate", "-m", "my-model", "--log-requests", "--progress", "none", "--param",
				"first=data:image/png;base64,"+picture, "--param", "second="+picture, "--param", "key="+canary, "x")
			if got := strings.Count(r.errOut, picture); r.code != 0 || got != map[bool]int{true: 2}[tc.kept] {
				t.Errorf("exit %d, base64 %d times in:\n%s", r.code, got, r.errOut)
			}
			if strings.Contains(r.errOut, canary) {
				t.Errorf("the key is in the log:\n%s", r.errOut)
			}
		})
	}
}
