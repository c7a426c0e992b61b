package journal

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// fill writes n jobs with an asset each straight through one transaction, of mixed providers, models and states.
func fill(tb testing.TB, j *Journal, n int) {
	tb.Helper()
	ctx := tb.Context()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	err := j.write(ctx, func(tx *sql.Tx) error {
		for i := range n {
			job := sampleJob(i, start)
			if err := j.insertTx(ctx, tx, &job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func sampleJob(i int, start time.Time) Job {
	state := StateLanded
	switch {
	case i%1000 == 0:
		state = StateRunning
	case i%50 == 0:
		state = StateFailed
	}
	created := start.Add(time.Duration(i) * 10 * time.Second)
	cost := int64(42_000)
	id := newID(created)
	return Job{
		ID: id, RequestKey: fmt.Sprintf("%064x", i), Tool: "openai-images-generate", Op: "images generate",
		Provider: []string{"openai", "google"}[i%2], Model: fmt.Sprintf("model-%d", i%7),
		Endpoint: "https://api.example.com/v1", Project: "site", State: state, RequestID: fmt.Sprintf("req_%d", i),
		Prompt: fmt.Sprintf("a lighthouse at dusk, number %d, %0200d", i, i), PromptLen: 240, PromptSHA: "0123456789abcdef",
		Params:  json.RawMessage(`{"size":"1024x1024","quality":"high","n":1}`),
		Usage:   json.RawMessage(`{"total_tokens":4321}`),
		Targets: []string{"/home/someone/pictures/output_1764500000_media-gen__images_" + id + ".png"},
		Created: created, Updated: created, EstimateMicros: &cost, CostMicros: &cost, CostBasis: CostReported,
		PID: 4242, BootID: "7920a508-2ba8-41ea-8561-b645d6255455/pid:[4026531836]/123456",
		Assets: []Asset{{
			Path: "/home/someone/pictures/output_1764500000_media-gen__images_" + id + ".png", MIME: "image/png",
			SHA256: fmt.Sprintf("%064x", i), Bytes: 1_234_567, Width: 1024, Height: 1024,
		}},
	}
}

func openBench(b *testing.B, path string) *Journal {
	b.Helper()
	j, err := Open(b.Context(), path, Options{KeepPrompts: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := j.Close(); err != nil {
			b.Error(err)
		}
	})
	return j
}

func BenchmarkList100k(b *testing.B) {
	const all = 100_000
	j := openBench(b, filepath.Join(b.TempDir(), "journal.db"))
	fill(b, j, all)
	day := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	cases := []struct {
		name string
		f    Filter
		want int
	}{
		{"page50", Filter{Limit: 50}, 50},
		{"page100", Filter{Limit: 100}, 100},
		{"running", Filter{States: []State{StateRunning}, Limit: 100}, 100},
		{"open", Filter{States: []State{StatePlanned, StateSent, StateQueued, StateRunning, StateUnknown}}, 100},
		{"noSuchState", Filter{States: []State{StateExpired}, Limit: 100}, 0},
		{"provider", Filter{Provider: "openai", Limit: 100}, 100},
		{"noSuchModel", Filter{Model: "none", Limit: 100}, 0},
		{"oneDay", Filter{Since: day, Until: day.AddDate(0, 0, 1)}, 8640},
		{"all", Filter{}, all},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				jobs, err := j.List(b.Context(), c.f)
				if err != nil || len(jobs) != c.want {
					b.Fatalf("List(%+v) = %d jobs, %v; want %d", c.f, len(jobs), err, c.want)
				}
			}
		})
	}
}

// BenchmarkOpen opens a journal of 1000 rows as each command does: open, prove that it can be written, close.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.db")
	j, err := Open(b.Context(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	fill(b, j, 1000)
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		j, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCreate is the synced write that precedes every paid request.
func BenchmarkCreate(b *testing.B) {
	j := openBench(b, filepath.Join(b.TempDir(), "journal.db"))
	for _, sync := range []string{"FULL", "NORMAL"} {
		b.Run(sync, func(b *testing.B) {
			if _, err := j.db.ExecContext(b.Context(), "PRAGMA synchronous = "+sync); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := j.Create(b.Context(), &Job{Provider: "openai", Prompt: "a lighthouse"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate is one transition with an asset.
func BenchmarkUpdate(b *testing.B) {
	j := openBench(b, filepath.Join(b.TempDir(), "journal.db"))
	job := Job{Provider: "openai"}
	if err := j.Create(b.Context(), &job); err != nil {
		b.Fatal(err)
	}
	if err := j.Update(b.Context(), job.ID, Update{Sent: true}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		u := Update{State: StateRunning, Assets: []Asset{{Path: "/a.png", Bytes: 1}}}
		if err := j.Update(b.Context(), job.ID, u); err != nil {
			b.Fatal(err)
		}
	}
}
