package emulator_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/emulator"
	"mediagen/internal/fault"
)

func TestStartBindsOnlyLoopback(t *testing.T) {
	t.Parallel()
	tests := []struct {
		addr string
		ok   bool
	}{
		{"", true},
		{"127.0.0.1:0", true},
		{"127.0.0.2:0", true},
		{"localhost:0", true},
		{":0", false},
		{"0.0.0.0:0", false},
		{"[::]:0", false},
		{"192.0.2.1:0", false},
		{"example.org:0", false},
		{"localhost.example.org:0", false},
		{"127.0.0.1", false},
	}
	for _, tt := range tests {
		t.Run(tt.addr, func(t *testing.T) {
			t.Parallel()
			s, err := emulator.Start(t.Context(), emulator.Options{Addr: tt.addr})
			if tt.ok {
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(s.URL(), "http://127.0.0.") {
					t.Errorf("URL = %s, want a loopback origin", s.URL())
				}
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				return
			}
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Errorf("error = %v, want code %s", err, fault.InvalidArgument)
			}
		})
	}
}

func TestStartReportsWhatCannotBe(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	addr := strings.TrimPrefix(origin, "http://")
	_, err := emulator.Start(t.Context(), emulator.Options{Addr: addr})
	if fault.CodeOf(err) != fault.IOFailed || strings.Count(err.Error(), addr) != 1 {
		t.Errorf("taken port: error = %v, want code %s and the address once", err, fault.IOFailed)
	}
	_, err = emulator.Start(t.Context(), emulator.Options{Faults: []emulator.Fault{{Name: "nonsense"}}})
	if fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("unknown fault: error = %v, want code %s", err, fault.InvalidArgument)
	}
	_, err = emulator.NewHandler(emulator.Options{Faults: []emulator.Fault{{Name: "slow", Arg: "-1s"}}})
	if fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("bad argument: error = %v, want code %s", err, fault.InvalidArgument)
	}
}

func TestContextEndsServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := must[*emulator.Server](t)(emulator.Start(ctx, emulator.Options{}))
	cancel()
	if err := s.Close(); err != nil { // waits for whoever closes first
		t.Fatal(err)
	}
	if _, err := create(t, s.URL(), nil, nil); err == nil {
		t.Error("a closed server answers")
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk is gone") }

func TestCloseReportsBrokenLog(t *testing.T) {
	t.Parallel()
	s := must[*emulator.Server](t)(emulator.Start(t.Context(), emulator.Options{Log: brokenWriter{}}))
	if r := must[reply](t)(create(t, s.URL(), nil, nil)); r.status != http.StatusOK {
		t.Errorf("status = %d, want 200: a broken log must not break an answer", r.status)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "disk is gone") {
		t.Errorf("close = %v, want the log's error", err)
	}
}

func TestHostHeaderMustBeLoopback(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	port := origin[strings.LastIndexByte(origin, ':'):]
	for host, want := range map[string]int{
		"127.0.0.1" + port: 200, "localhost" + port: 200, "[::1]" + port: 200,
		"localhost": 200, "127.9.9.9": 200, "[::1]": 200, "": 200,
		"rebind.example.org" + port: 403, "localhost.example.org": 403, "127.0.0.1.example.org": 403, "192.0.2.7": 403,
	} {
		req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, origin+"/v1/models", nil))
		req.Host = host
		req.Header.Set("Api-Key", "any")
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("Host %q: status = %d, want %d", host, res.StatusCode, want)
		}
	}
}

func TestKeyIsAskedForAndNeverChecked(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   int
	}{
		{"none", map[string]string{"Authorization": ""}, 401},
		{"bearer", map[string]string{"Authorization": "Bearer x"}, 200},
		{"azure", map[string]string{"Authorization": "", "Api-Key": "x"}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := must[reply](t)(create(t, origin, nil, tt.header))
			if r.status != tt.want {
				t.Fatalf("status = %d, want %d", r.status, tt.want)
			}
			if tt.want == 401 {
				if diff := cmp.Diff([3]string{"invalid_request_error", "", ""}, apiError(t, r.body)); diff != "" {
					t.Error(diff)
				}
			}
			if r.header.Get("X-Request-Id") == "" || r.header.Get("Openai-Processing-Ms") == "" {
				t.Errorf("headers lack x-request-id or openai-processing-ms: %v", r.header)
			}
		})
	}
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	for _, path := range []string{"/", "/v1/images/variations", "/v2/images/generations", "/v1/images/generations/x"} {
		r := must[reply](t)(send(t.Context(), origin+path, "application/json", strings.NewReader("{}"), nil))
		if r.status != http.StatusNotFound {
			t.Errorf("POST %s: status = %d, want 404", path, r.status)
		}
		apiError(t, r.body)
	}
}

func TestRequestLogHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const prompt = "a very secret prompt about 日本"
	origin, log := start(t, emulator.Options{})
	must[reply](t)(create(t, origin, map[string]any{"prompt": prompt, "n": 2, "stream": true}, nil))
	body, contentType := form(t, map[string]string{"prompt": prompt, "model": "gpt-image-2.6-sunburst"},
		file{"image[]", "mine.png", "image/png", pngOf(t, 64, 64, false)})
	must[reply](t)(send(t.Context(), origin+"/v1/images/edits?secret=1", contentType, body,
		map[string]string{emulator.FaultHeader: "unavailable:times=1"}))

	got := log.entries(t)
	for _, e := range got {
		delete(e, "time")
	}
	mark := map[string]any{"chars": 29.0, "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(prompt)))[:16]}
	want := []map[string]any{
		{
			"method": "POST", "path": "/v1/images/generations", "status": 200.0, "request_id": "req_emulated_00000001",
			"credential": "authorization", "model": "test-model", "n": 2.0, "stream": true, "prompt": mark,
		},
		{
			"method": "POST", "path": "/v1/images/edits", "status": 503.0, "request_id": "req_emulated_00000002",
			"fault": "unavailable", "credential": "authorization", "model": "gpt-image-2.6-sunburst", "prompt": mark,
			"parts": []any{
				map[string]any{
					"name": "image[]", "filename": "mine.png", "content_type": "image/png",
					"bytes": float64(len(pngOf(t, 64, 64, false))),
				},
				map[string]any{"name": "model", "bytes": 22.0},
				map[string]any{"name": "prompt", "bytes": float64(len(prompt))},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, secret := range []string{"secret", testKey, "iVBORw0"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("log contains %q", secret)
		}
	}
}
