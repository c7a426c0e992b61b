package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
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
