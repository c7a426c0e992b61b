package app_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"mediagen/internal/app"
	"mediagen/internal/iostreams"
)

// BenchmarkStart is what the program itself adds to the start of a process, without libraries' own initialisation and
// dynamic linking.
func BenchmarkStart(b *testing.B) {
	for _, line := range []string{
		"help exit-codes", "images generate --help", "__complete images generate --quality ", "models list", "config show",
		"images generate --provider emulator --dry-run x",
	} {
		b.Run(strings.TrimSpace(line), func(b *testing.B) {
			b.ReportAllocs()
			dir := b.TempDir()
			for b.Loop() {
				code := app.Run(b.Context(), context.Background(), app.Process{
					Args: strings.Split(line, " "), Environ: []string{"HOME=" + dir}, WorkDir: dir, HomeDir: dir, Now: time.Now,
					Streams: &iostreams.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard},
				})
				if code != 0 {
					b.Fatalf("exit %d", code)
				}
			}
		})
	}
}
