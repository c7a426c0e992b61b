package imaging

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The codecs must print nothing: stdout carries data and an MCP session, stderr the user's progress. libvips warns
// about damaged and about unusual files unless it is told not to, so a child decodes some of each.
func TestCodecsPrintNothing(t *testing.T) {
	const child = "IMAGING_QUIET_CHILD"
	if os.Getenv(child) != "" {
		for _, src := range [][]byte{
			media(t, "quadrants.heic"), media(t, "quadrants.avif"), media(t, "quadrants-cmyk.jpeg"),
			pngOf(t, gradient(64, 48))[:900], jpegOf(t, gradient(64, 48))[:900], bombPNG(400, 400),
			withProfilePNG(t, pngOf(t, gradient(8, 8)), make([]byte, 500)),
		} {
			for _, format := range []string{"png", "webp", "avif"} {
				_, _, _ = Encode(t.Context(), src, EncodeOptions{Format: format})
			}
		}
		return
	}
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestCodecsPrintNothing$", "-test.v=false")
	cmd.Env = append(os.Environ(), child+"=1", "GOCOVERDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	must(t, err)
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line != "PASS" && !strings.HasPrefix(line, "coverage:") {
			t.Errorf("printed: %q", line)
		}
	}
}
