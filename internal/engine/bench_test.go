package engine_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"mediagen/internal/engine"
)

// pictureBytes is the size of a picture of the memory target (design.md §13).
const pictureBytes = 3_000_000

// memoryTarget is what ten such pictures may add, in bytes.
const memoryTarget = 16 << 20

// replying is a server that answers every request with n pictures in one JSON reply, as OpenAI does.
func replying(t testing.TB, n int, picture []byte) *server {
	t.Helper()
	text := base64.StdEncoding.EncodeToString(picture)
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"created":1,"data":[`)
		for i := range n {
			if i > 0 {
				_, _ = io.WriteString(w, ",")
			}
			_, _ = io.WriteString(w, `{"b64_json":"`)
			_, _ = io.WriteString(w, text)
			_, _ = io.WriteString(w, `"}`)
		}
		_, _ = io.WriteString(w, `],"usage":{"input_tokens":9,"output_tokens":90,"total_tokens":99}}`)
	}))
}

// heap watches the bytes of objects on the heap, garbage included, while do runs, and returns by how much they grew at
// their peak. The process is the server's too, so its side counts as well.
func heap(do func()) uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 { metrics.Read(sample); return sample[0].Value.Uint64() }
	runtime.GC()
	start := read()
	peak := start
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(200 * time.Microsecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				peak = max(peak, read())
			}
		}
	})
	do()
	close(stop)
	wg.Wait()
	return peak - start
}

// tenOf3MB returns a call that brings ten pictures.
func tenOf3MB(t testing.TB) func() {
	t.Helper()
	s := replying(t, 10, padded(pictureBytes))
	r := newRig(t, options{providers: []engine.ImageProvider{client(t, "openai", s.URL)}})
	return func() {
		req := small()
		req.N = 10
		res, err := r.GenerateImages(t.Context(), req, engine.Output{}, nil)
		if err != nil || len(res.Assets) != 10 || res.Assets[9].Bytes != pictureBytes {
			t.Fatalf("%v, %+v", err, res)
		}
	}
}

// TestTenPicturesPassThrough: a reply is never held in memory, however many pictures it has.
func TestTenPicturesPassThrough(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's own memory counts")
	}
	generate := tenOf3MB(t)
	generate() // opens what is opened once
	if grew := heap(generate); grew > memoryTarget {
		t.Errorf("the heap grew by %d bytes, at most %d are allowed", grew, memoryTarget)
	}
}

// BenchmarkGenerate1 is one tiny picture: what the engine, the journal's four syncs and the publishing cost.
func BenchmarkGenerate1(b *testing.B) {
	s := replying(b, 1, tinyPNG())
	r := newRig(b, options{providers: []engine.ImageProvider{client(b, "openai", s.URL)}})
	req := small()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.GenerateImages(b.Context(), req, engine.Output{}, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGenerate10x3MB reports the growth of the heap at its peak beside the time.
func BenchmarkGenerate10x3MB(b *testing.B) {
	generate := tenOf3MB(b)
	generate()
	b.SetBytes(10 * pictureBytes)
	b.ReportAllocs()
	var peak uint64
	for b.Loop() {
		peak = max(peak, heap(generate))
	}
	b.ReportMetric(float64(peak)/(1<<20), "MiB")
}
