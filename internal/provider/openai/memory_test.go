package openai_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
)

const (
	mega     = 1_000_000
	maxHeap  = 16 << 20 // growth of the heap that design.md section 13 allows
	pictures = 10
)

// discard is a sink that counts bytes.
type discard struct {
	*sink
	bytes int64
}

func (d *discard) Picture(engine.Slot) (engine.PictureWriter, error) { return discardWriter{d}, nil }

type discardWriter struct{ d *discard }

func (w discardWriter) Write(p []byte) (int, error) {
	w.d.bytes += int64(len(p))
	return len(p), nil
}

func (discardWriter) Commit() error { return nil }

func (discardWriter) Abort() {}

// bigReply writes n pictures of size bytes each, as JSON or as a stream, and holds none of them.
func bigReply(w io.Writer, n, size int, streamed bool) {
	out := bufio.NewWriterSize(w, 32<<10)
	block := bytes.Repeat([]byte("0123456789abcdef"), 3<<10)
	b64 := base64.StdEncoding.EncodeToString(block)
	picture := func() {
		for left := size; left > 0; left -= len(block) {
			_, _ = out.WriteString(b64)
		}
	}
	if streamed {
		for range n {
			_, _ = out.WriteString("event: image_generation.completed\ndata: {\"type\":\"image_generation.completed\"," +
				"\"b64_json\":\"")
			picture()
			_, _ = out.WriteString("\"}\n\n")
		}
		_ = out.Flush()
		return
	}
	_, _ = out.WriteString(`{"created":1,"data":[`)
	for i := range n {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.WriteString(`{"b64_json":"`)
		picture()
		_, _ = out.WriteString(`"}`)
	}
	_, _ = out.WriteString(`],"usage":{"total_tokens":1}}`)
	_ = out.Flush()
}

// peak samples what is alive on the heap while f runs and returns by how much it grew.
func peak(f func()) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	start, top := m.HeapAlloc, m.HeapAlloc
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				runtime.GC()
				runtime.ReadMemStats(&m)
				top = max(top, m.HeapAlloc)
			}
		}
	})
	f()
	close(over)
	wg.Wait()
	return top - min(top, start)
}

// TestMemoryOfAReply cannot run beside other tests.
func TestMemoryOfAReply(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if streamed {
				w.Header().Set("Content-Type", sseType)
			}
			bigReply(w, pictures, 3*mega, streamed)
		}))
		c, out := client(t, srv.URL), &discard{sink: newSink()}
		grown := peak(func() {
			if _, err := c.GenerateImages(t.Context(), engine.ImageCall{Prompt: "p", N: pictures}, out); err != nil {
				t.Error(err)
			}
		})
		if out.bytes < pictures*3*mega {
			t.Errorf("%d bytes came", out.bytes)
		}
		t.Logf("streamed %t: %d bytes, heap grew by %.1f MiB", streamed, out.bytes, float64(grown)/(1<<20))
		if grown > maxHeap {
			t.Errorf("the heap grew by %d bytes, more than %d", grown, maxHeap)
		}
	}
}

// TestMemoryOfAnUpload sends 3 pictures of 40 MB. It cannot run beside other tests.
func TestMemoryOfAnUpload(t *testing.T) {
	const size = 40 * mega
	var got int64
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil || n != r.ContentLength {
			t.Errorf("%d bytes of %d: %v", n, r.ContentLength, err)
		}
		got = n
		_, _ = io.WriteString(w, `{"data":[{"b64_json":"AAEC"}]}`)
	}))
	in := engine.Input{Name: "a.png", MIME: "image/png", Size: size, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(zeros{}, size)), nil
	}}
	c := client(t, srv.URL)
	grown := peak(func() {
		call := engine.ImageCall{Prompt: "p", Images: []engine.Input{in, in, in}}
		if _, err := c.EditImages(t.Context(), call, newSink()); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%d bytes sent, heap grew by %.1f MiB", got, float64(grown)/(1<<20))
	if got < 3*size || grown > maxHeap {
		t.Errorf("%d bytes sent, the heap grew by %d bytes, more than %d", got, grown, maxHeap)
	}
}

// TestMemoryOfHostileReplies bounds what replies without an end can cost. It cannot run beside other tests.
func TestMemoryOfHostileReplies(t *testing.T) {
	endless := map[string]struct{ head, rest string }{
		"a string":          {`{"x":"`, "<<<<"},
		"an escaped string": {`{"x":"`, `\u003c`},
		"a key":             {`{"`, "kkkk"},
		"a number":          {`{"x":`, "1111"},
		"a list":            {`{"x":[`, "1,"},
		"nesting":           {`{"x":`, "["},
		"white space":       {`{"x":1,`, "    "},
		"leading space":     {" ", " \n"},
		"a data URL's head": {`{"url":"data:`, "xxxx"},
		"a field name":      {":\n", "ffff"},
		"an event's name":   {"event: ", "nnnn"},
		"a comment":         {": ", "cccc"},
		"comments":          {":\n", ":\n"},
		"data that is no {": {"data: ", "dddd"},
		"events":            {"data: 1\n\n", "data: {\"x\":\"" + strings.Repeat("x", 1000) + "\"}\n\n"},
		"pictures":          {`{"data":[`, `{"b64_json":"AAEC"},`},
		"links":             {`{"data":[`, `{"url":"/x"},`},
		"partials":          {"event: partial_image\n", "data: {\"b64_json\":\"AAEC\",\"type\":\"partial_image\"}\n\n"},
		"text":              {"text", "text"},
		"a page":            {"<html>", "<p>"},
		"an error reply":    {"", "eeee"},
	}
	const total, limit = 24 << 20, 16 << 20
	for name, part := range endless {
		block := strings.Repeat(part.rest, 16<<10/len(part.rest))
		srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			if name == "an error reply" {
				w.WriteHeader(http.StatusBadRequest)
			}
			_, _ = io.WriteString(w, part.head)
			for n := 0; n < total && r.Context().Err() == nil; n += len(block) {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		}))
		c := client(t, srv.URL, func(c *openai.Config) { c.Retry.Attempts = 1 })
		grown := peak(func() {
			_, err := c.GenerateImages(t.Context(), engine.ImageCall{Prompt: "p", N: 1000}, &discard{sink: newSink()})
			_, _ = told(t, err)
		})
		t.Logf("%s: heap grew by %.1f MiB", name, float64(grown)/(1<<20))
		if grown > limit {
			t.Errorf("%s: the heap grew by %d bytes, more than %d", name, grown, limit)
		}
	}
}

// BenchmarkReceive reads replies of ten pictures of 3 MB; the rate counts base64 as it is on the wire.
func BenchmarkReceive(b *testing.B) {
	for _, streamed := range []bool{false, true} {
		b.Run(fmt.Sprintf("streamed=%t", streamed), func(b *testing.B) {
			srv := serve(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if streamed {
					w.Header().Set("Content-Type", sseType)
				}
				bigReply(w, pictures, 3*mega, streamed)
			}))
			c := client(b, srv.URL)
			b.SetBytes(pictures * 3 * mega / 3 * 4)
			b.ReportAllocs()
			for b.Loop() {
				out := &discard{sink: newSink()}
				if _, err := c.GenerateImages(b.Context(), engine.ImageCall{Prompt: "p", N: pictures}, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpload sends one picture of 40 MB.
func BenchmarkUpload(b *testing.B) {
	const size = 40 * mega
	srv := serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"data":[{"b64_json":"AAEC"}]}`)
	}))
	in := engine.Input{Name: "a.png", MIME: "image/png", Size: size, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(zeros{}, size)), nil
	}}
	c := client(b, srv.URL)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.EditImages(b.Context(), engine.ImageCall{Prompt: "p", Images: []engine.Input{in}},
			newSink()); err != nil {
			b.Fatal(err)
		}
	}
}
