package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The targets of design.md §13, which the benchmarks print ratios against.
const (
	startTarget  = 60 * time.Millisecond // mediagen version, whole process, with libvips
	growthTarget = 16                    // MiB of peak RSS over start
	listTarget   = 50 * time.Millisecond // jobs list of 100,000 rows
	peerTarget   = 1.15                  // the wall time of vipsthumbnail, for the same work
)

// measured runs the program once and returns its wall time and peak resident memory in MiB.
func (p *program) measured(args ...string) (time.Duration, float64) {
	p.t.Helper()
	cmd, _, errOut := p.command(args...)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%v: %s", err, errOut)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		p.t.Fatal("no resource usage")
	}
	return time.Since(start), float64(usage.Maxrss) / 1024
}

// BenchmarkStart is the whole process of `mediagen version`.
func BenchmarkStart(b *testing.B) {
	p := newProgram(b)
	var total time.Duration
	n := 0
	for b.Loop() {
		took, _ := p.measured("version")
		total += took
		n++
	}
	b.ReportMetric(float64(total)/float64(n)/float64(startTarget), "x_target")
}

// BenchmarkGenerate is the whole process of generating 1 and 10 pictures of 3 MB each from one reply, and how far its
// peak memory grows over that of the process that only starts.
func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("%dx3MB", n), func(b *testing.B) {
			p := newProgram(b, "big:3")
			_, base := p.measured("config", "path")
			var growth float64
			i := 0
			for b.Loop() {
				_, peak := p.measured("images", "generate", "--size", "1024x1024", "-n", fmt.Sprint(n), "-o", fmt.Sprintf("out%d/", i), "x")
				growth = max(growth, peak-base)
				i++
			}
			b.ReportMetric(growth, "MiB_over_start")
			b.ReportMetric(growth/growthTarget, "x_target")
		})
	}
}

// BenchmarkJobsList is the whole process of `jobs list` over a journal of 100,000 rows, against the process that only
// starts.
func BenchmarkJobsList(b *testing.B) {
	p := newProgram(b)
	if code, _, errOut := p.run("images", "generate", "-o", "out/", "x"); code != 0 {
		b.Fatalf("exit %d: %s", code, errOut)
	}
	multiply(b, filepath.Join(p.dir, "state", "mediagen", "journal.db"), 100_000)
	start, _ := p.measured("config", "path")
	var total time.Duration
	n := 0
	for b.Loop() {
		took, _ := p.measured("jobs", "list")
		total += took
		n++
	}
	each := total / time.Duration(n)
	b.ReportMetric(float64(each-start)/float64(time.Millisecond), "ms_over_start")
	b.ReportMetric(float64(each-start)/float64(listTarget), "x_target")
}

// multiply copies the one job of a journal until there are n rows.
func multiply(b *testing.B, path string, n int) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var columns []string
	rows, err := db.QueryContext(b.Context(), "SELECT name FROM pragma_table_info('jobs')")
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			b.Fatal(err)
		}
		columns = append(columns, name)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	values := strings.Join(columns, ", ")
	values = strings.Replace(values, "seq, id,", "i + 1, printf('%012d', i),", 1)
	stmt := fmt.Sprintf("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < %d) "+
		"INSERT INTO jobs (%s) SELECT %s FROM c, (SELECT * FROM jobs LIMIT 1)", n-1, strings.Join(columns, ", "), values)
	if _, err := db.ExecContext(b.Context(), stmt); err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCompress is the whole process of a resize and encode at a fixed quality, from a JPEG of 12 megapixels to a
// WebP of 1024 pixels, against vipsthumbnail, which does the same with the same library. The two take turns.
func BenchmarkCompress(b *testing.B) {
	peer, err := exec.LookPath("vipsthumbnail")
	if err != nil {
		b.Skip("vipsthumbnail is not here (package libvips-tools)")
	}
	p := newProgram(b)
	big := filepath.Join(p.dir, "big.jpg")
	if err := os.WriteFile(big, photo(b, 4000, 3000), 0o600); err != nil {
		b.Fatal(err)
	}
	var ours, theirs []time.Duration
	for b.Loop() {
		took, _ := p.measured("images", "compress", "--max-size", "1024", "--format", "webp", "--quality", "80", "--overwrite",
			"-o", "ours.webp", big)
		ours = append(ours, took)
		start := time.Now()
		cmd := exec.CommandContext(b.Context(), peer, big, "--size", "1024", "-o", filepath.Join(p.dir, "theirs.webp[Q=80,strip]"))
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		theirs = append(theirs, time.Since(start))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	ratio := float64(ours[len(ours)/2]) / float64(theirs[len(theirs)/2])
	b.ReportMetric(ratio, "x_vipsthumbnail")
	b.ReportMetric(ratio/peerTarget, "x_target")
}

// photo is a JPEG with the detail of a photograph: soft shapes under fine noise.
func photo(b *testing.B, w, h int) []byte {
	b.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	noise := rand.New(rand.NewPCG(1, 2)) // repeatable
	for y := range h {
		for x := range w {
			v := 128 + 60*math.Sin(float64(x)/97) + 50*math.Cos(float64(y)/71) + 16*noise.Float64()
			img.SetRGBA(x, y, color.RGBA{uint8(min(v, 255)), uint8(min(v*0.8+20, 255)), uint8(255 - min(v, 255)), 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 92}); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}
