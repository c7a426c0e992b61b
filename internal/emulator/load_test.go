package emulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/emulator"
)

// peak watches the heap while bytes pass.
type peak struct {
	base, top uint64
	passed    int64
}

func newPeak() *peak {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return &peak{base: m.HeapAlloc}
}

func (p *peak) Write(b []byte) (int, error) {
	if p.passed>>22 != (p.passed+int64(len(b)))>>22 { // every 4 MiB
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		p.top = max(p.top, m.HeapAlloc)
	}
	p.passed += int64(len(b))
	return len(b), nil
}

// grown returns by how much the heap was larger than at the beginning, in bytes.
func (p *peak) grown() int64 { return int64(p.top) - int64(p.base) }

// TestBigRepliesStream holds that padded pictures never lie in memory. It is not parallel: it looks at the heap.
func TestBigRepliesStream(t *testing.T) {
	origin, _ := start(t, emulator.Options{Faults: []emulator.Fault{{Name: "big", Arg: "12"}}})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/v1/images/generations",
		strings.NewReader(`{"prompt":"x","model":"m","size":"64x64","n":8}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer x")
	watch := newPeak()
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(watch, res.Body); err != nil {
		t.Fatal(err)
	}
	if watch.passed < 8*16_000_000 {
		t.Errorf("%d bytes came, want 8 pictures of 12 MB in base64", watch.passed)
	}
	if grown := watch.grown(); grown > 8<<20 {
		t.Errorf("heap grew by %d bytes for a reply of %d", grown, watch.passed)
	}
}

// TestUploadsStream holds that inputs of 40 MB are read without keeping them. It is not parallel for the same reason.
func TestUploadsStream(t *testing.T) {
	origin, log := start(t, emulator.Options{})
	picture := pngOf(t, 64, 64, false)
	pr, pw := io.Pipe()
	w := multipart.NewWriter(pw)
	watch := newPeak()
	go func() {
		err := func() error {
			for range 4 {
				h := textproto.MIMEHeader{
					"Content-Disposition": {`form-data; name="image[]"; filename="a.png"`}, "Content-Type": {"image/png"},
				}
				part, err := w.CreatePart(h)
				if err != nil {
					return err
				}
				if _, err := part.Write(picture); err != nil {
					return err
				}
				if _, err := io.Copy(io.MultiWriter(part, watch), io.LimitReader(zeros{}, 40<<20)); err != nil {
					return err
				}
			}
			for name, v := range map[string]string{"prompt": "x", "model": "m", "size": "64x64"} {
				if err := w.WriteField(name, v); err != nil {
					return err
				}
			}
			return w.Close()
		}()
		pw.CloseWithError(err)
	}()
	r := must[reply](t)(send(t.Context(), origin+"/v1/images/edits", w.FormDataContentType(), pr, nil))
	if r.status != 200 {
		t.Fatalf("status = %d: %.300s", r.status, r.body)
	}
	if grown := watch.grown(); grown > 8<<20 {
		t.Errorf("heap grew by %d bytes for an upload of %d", grown, watch.passed)
	}
	parts, ok := log.entries(t)[0]["parts"].([]any)
	if !ok || len(parts) != 7 {
		t.Errorf("log has %d parts, want 7", len(parts))
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	t.Parallel()
	origin, log := start(t, emulator.Options{Faults: []emulator.Fault{{Name: "unavailable", Times: 5}}})
	const clients, each = 12, 5
	var mu sync.Mutex
	count, pictures := map[int]int{}, map[string]map[string]bool{}
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			prompt := fmt.Sprint("prompt ", i%4)
			for range each {
				body := fmt.Sprintf(`{"prompt":%q,"model":"m","size":"64x64"}`, prompt)
				r, err := send(t.Context(), origin+"/v1/images/generations", "application/json", strings.NewReader(body), nil)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				count[r.status]++
				if r.status == 200 {
					if pictures[prompt] == nil {
						pictures[prompt] = map[string]bool{}
					}
					pictures[prompt][string(r.body)] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[int]int{503: 5, 200: clients*each - 5}, count); diff != "" {
		t.Error(diff)
	}
	for prompt, set := range pictures {
		if len(set) != 1 {
			t.Errorf("%s: %d different answers, want 1", prompt, len(set))
		}
	}
	ids := map[any]bool{}
	for _, e := range log.entries(t) {
		ids[e["request_id"]] = true
	}
	if len(ids) != clients*each {
		t.Errorf("log has %d requests, want %d", len(ids), clients*each)
	}
}

// TestAnswerFindsItsLogLine holds that the line is there when the answer is, whatever the answer.
func TestAnswerFindsItsLogLine(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]float64{
		"empty": 200, "503": 503, "cut-after-body": 0, "cut-before-body": 0, "truncated-json:reset": 200, "html": 200,
	} {
		origin, log := start(t, emulator.Options{})
		r, err := create(t, origin, nil, map[string]string{emulator.FaultHeader: spec})
		entries := log.entries(t)
		if len(entries) != 1 || entries[0]["status"] != want {
			t.Fatalf("%s: log %v, want one line with status %v", spec, entries, want)
		}
		if err == nil && r.header.Get("X-Request-Id") != entries[0]["request_id"] {
			t.Errorf("%s: request id %q is logged as %v", spec, r.header.Get("X-Request-Id"), entries[0]["request_id"])
		}
	}
}

// TestLogOfHostileInput holds that what clients choose is cut and stays inside its line.
func TestLogOfHostileInput(t *testing.T) {
	t.Parallel()
	origin, log := start(t, emulator.Options{})
	long := strings.Repeat("m", 10_000) + "\n{\"status\":1}"
	must[reply](t)(create(t, origin, map[string]any{"model": long, "n": 99}, nil))
	body, contentType := form(t, map[string]string{strings.Repeat("k", 5000): "v", "prompt": "x", "model": "a\nb"},
		file{"image", strings.Repeat("f", 5000) + ".png", "image/png; x=" + strings.Repeat("y", 5000), pngOf(t, 8, 8, false)})
	must[reply](t)(send(t.Context(), origin+"/v1/images/edits/"+strings.Repeat("p", 5000), contentType, body, nil))
	body, contentType = form(t, map[string]string{strings.Repeat("k", 5000): "v", "prompt": "x", "model": "a\nb"},
		file{"image", strings.Repeat("f", 5000) + ".png", "image/png; x=" + strings.Repeat("y", 5000), pngOf(t, 8, 8, false)})
	must[reply](t)(send(t.Context(), origin+"/v1/images/edits", contentType, body, nil))
	if n := len(log.entries(t)); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
	if n := len(log.String()); n > 4000 {
		t.Errorf("log of %d bytes for three requests", n)
	}
}

func TestFaultsReachEdits(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for _, spec := range []string{"moderation", "401", "500", "422", "html", "empty", "fewer", "wrong-type", "data-prefix"} {
		want := must[reply](t)(create(t, origin, map[string]any{"prompt": "[[fault:" + spec + "]]x"}, nil))
		body, contentType := form(t, map[string]string{"prompt": "[[fault:" + spec + "]]x", "model": "m", "size": "64x64"},
			file{"image", "a.png", "image/png", pngOf(t, 8, 8, false)})
		got := must[reply](t)(send(t.Context(), origin+"/v1/images/edits", contentType, body, nil))
		if got.status != want.status || got.header.Get("Content-Type") != want.header.Get("Content-Type") {
			t.Errorf("%s: edit answers %d %s, create %d %s", spec,
				got.status, got.header.Get("Content-Type"), want.status, want.header.Get("Content-Type"))
		}
	}
}

// TestAFaultGoesBeforeAComplaint holds that a request which is wrong and asks for a fault gets the fault.
func TestAFaultGoesBeforeAComplaint(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	header := map[string]string{emulator.FaultHeader: "unavailable"}
	if r := must[reply](t)(create(t, origin, map[string]any{"n": 99}, header)); r.status != 503 {
		t.Errorf("bad n: status %d, want 503", r.status)
	}
	r := must[reply](t)(send(t.Context(), origin+"/v1/images/generations", "application/json", strings.NewReader("{"), header))
	if r.status != 503 {
		t.Errorf("bad JSON: status %d, want 503", r.status)
	}
	if r := must[reply](t)(create(t, origin, map[string]any{"n": 99}, map[string]string{emulator.FaultHeader: "fewer"})); r.status != 400 {
		t.Errorf("bad n with a fault of the pictures: status %d, want 400", r.status)
	}
}

// TestReplyOrder holds that the counts come behind the pictures, so that clients have to read on.
func TestReplyOrder(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	r := must[reply](t)(create(t, origin, map[string]any{"safety_identifier": "u1"}, nil))
	dec := json.NewDecoder(bytes.NewReader(r.body))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for dec.More() {
		key := must[json.Token](t)(dec.Token())
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, fmt.Sprint(key))
	}
	want := []string{"created", "background", "data", "output_format", "quality", "size", "safety_identifier", "usage"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Error(diff)
	}
}

// TestHeadersOfReplies holds what every reply of the API carries.
func TestHeadersOfReplies(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	for name, params := range map[string]map[string]any{"json": nil, "stream": {"stream": true}, "error": {"n": 0}} {
		r := must[reply](t)(create(t, origin, params, nil))
		for _, h := range []string{"X-Request-Id", "Openai-Processing-Ms", "Content-Type", "Server"} {
			if r.header.Get(h) == "" {
				t.Errorf("%s: no %s in %v", name, h, slices.Sorted(maps.Keys(r.header)))
			}
		}
		if got := r.header.Get("Server"); got != "mediagen-emulator" {
			t.Errorf("%s: Server = %q, want the emulator's name: a reply must not pass for a vendor's", name, got)
		}
	}
}
