package config_test

import (
	"os"
	"testing"

	"mediagen/internal/config"
)

// Every command but version and completion loads the settings, so this is part of the start-up time.
func BenchmarkLoad(b *testing.B) {
	src := config.Source{HomeDir: b.TempDir(), WorkDir: b.TempDir(), Environ: []string{"OPENAI_API_KEY=k", "PATH=/bin"}}
	src.ConfigFile = src.WorkDir + "/config.yaml"
	if err := os.WriteFile(src.ConfigFile, config.Sample(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.Load(src); err != nil {
			b.Fatal(err)
		}
	}
}
