package app_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mediagen/internal/app"
	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

// lockedBuffer is written by a server while a test waits for it.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// serve starts the emulator command and returns its address; end interrupts it and returns the exit code.
func (h *home) serve(args ...string) (url string, errOut *lockedBuffer, end func() int) {
	h.t.Helper()
	r, w := io.Pipe()
	errOut = &lockedBuffer{}
	ctx, stop := context.WithCancelCause(h.t.Context())
	code := make(chan int, 1)
	go func() {
		code <- app.Run(ctx, context.Background(), app.Process{
			Args: append([]string{"emulator"}, args...), Environ: h.env, WorkDir: h.work, HomeDir: h.dir, Now: now,
			Streams: &iostreams.Streams{In: strings.NewReader(""), Out: w, Err: errOut},
		})
		_ = w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		h.t.Fatalf("no address: %v, exit %d: %s", err, <-code, errOut)
	}
	return strings.TrimSpace(line), errOut, func() int {
		stop(&cli.Signal{Kind: engine.KindInterrupted})
		return <-code
	}
}

func get(t *testing.T, url string) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer any")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// TestEmulatorLifecycle starts, serves, logs, fails as told, and ends well when it is interrupted.
func TestEmulatorLifecycle(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	log := h.write("requests.jsonl", "{\"old\":true}\n")
	url, errOut, end := h.serve("--fault", "unavailable:times=1", "--log", log)
	for _, want := range []int{503, 200} {
		if code, err := get(t, url); err != nil || code != want {
			t.Errorf("answered %d %v, want %d", code, err, want)
		}
	}
	user := newHome(t, "OPENAI_API_KEY="+canary, "OPENAI_BASE_URL="+url+"/v1")
	if r := user.generate("--quality", "low", "--size", "1024x1024"); r.code != 0 {
		t.Errorf("a picture from it: exit %d: %s", r.code, r.errOut)
	}
	if code := end(); code != 0 {
		t.Errorf("exit %d after Ctrl-C, want 0: %s", code, errOut)
	}
	if _, err := get(t, url); err == nil {
		t.Error("it still answers")
	}
	data, err := os.ReadFile(log)
	if err != nil || strings.Count(string(data), "\n") != 4 || !strings.HasPrefix(string(data), "{\"old\":true}\n") {
		t.Errorf("log: %v\n%s", err, data)
	}
	if got := errOut.String(); got != "" {
		t.Errorf("stderr: %s", got)
	}
	if got := h.tree(); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

// TestEmulatorLogOnStderr takes - for stderr.
func TestEmulatorLogOnStderr(t *testing.T) {
	t.Parallel()
	url, errOut, end := newHome(t).serve("--log", "-")
	if code, err := get(t, url); err != nil || code != 200 {
		t.Errorf("answered %d %v", code, err)
	}
	if code := end(); code != 0 || strings.Count(errOut.String(), "\n") != 1 {
		t.Errorf("exit %d, stderr: %s", code, errOut)
	}
}

// TestEmulatorRefuses what it must not or cannot do, before it prints an address.
func TestEmulatorRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		code int
		says string
		args []string
	}{
		{2, "loopback", []string{"--addr", "0.0.0.0:0"}},
		{2, "loopback", []string{"--addr", "192.0.2.1:8089"}},
		{2, "loopback", []string{"--addr", ":8089"}},
		{2, "unknown fault", []string{"--fault", "boredom"}},
		{1, "cannot be opened", []string{"--log", filepath.Join("no", "such", "dir")}},
		{2, "is not a regular file", []string{"--log", t.TempDir()}},
	} {
		h := newHome(t)
		r := h.wants(tc.code, tc.says, append([]string{"emulator"}, tc.args...)...)
		if r.out != "" {
			t.Errorf("%v: stdout %q", tc.args, r.out)
		}
	}
	h := newHome(t)
	url, _, end := h.serve()
	addr := strings.TrimPrefix(url, "http://")
	log := filepath.Join(h.work, "log")
	h.wants(1, "", "emulator", "--addr", addr, "--log", log)
	if code := end(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
