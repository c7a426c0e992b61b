package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/webp"

	"mediagen/internal/emulator"
)

// The README is part of the program's promises, so its commands are run. In a block marked sh every line is a command
// that must end well. In a block marked console a line that begins with "$ " is a command and what follows is what it
// prints; "echo $?" shows how the command before it ended. A command that cannot run everywhere ends in a comment that
// a reader sees too: "# needs a key" runs with a key against an emulator, any other "# needs ..." is only parsed.

const checkout = "../.."

// fence is a code block of a Markdown file.
type fence struct {
	lang  string
	line  int // of its first line, from 1
	lines []string
}

func fences(t *testing.T, name string) []fence {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout, name))
	if err != nil {
		t.Fatal(err)
	}
	var out []fence
	open := false
	for i, line := range strings.Split(string(text), "\n") {
		lang, mark := strings.CutPrefix(line, "```")
		switch {
		case mark && open:
			open = false
		case mark:
			open = true
			out = append(out, fence{lang: lang, line: i + 2})
		case open:
			f := &out[len(out)-1]
			f.lines = append(f.lines, line)
		}
	}
	return out
}

// command is one command of a block with what it should print.
type command struct {
	text, needs string
	line        int
	want        []string // console only
	code        *int     // the exit code that the README shows; nil means 0
}

var needs = regexp.MustCompile(`\s+# (needs .+)$`)

// commands reads a block. A backslash at the end joins lines, as in the shell.
func (f fence) commands(t *testing.T) []command {
	t.Helper()
	var out []command
	for i := 0; i < len(f.lines); i++ {
		line, prompted := strings.CutPrefix(f.lines[i], "$ ")
		if f.lang == "console" && !prompted {
			if len(out) == 0 {
				t.Fatalf("README.md:%d: output without a command", f.line+i)
			}
			out[len(out)-1].want = append(out[len(out)-1].want, line)
			continue
		}
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := command{line: f.line + i}
		for strings.HasSuffix(line, `\`) && i+1 < len(f.lines) {
			i++
			line += "\n" + f.lines[i]
		}
		if m := needs.FindStringSubmatch(line); m != nil {
			c.needs = m[1]
		}
		c.text = line
		out = append(out, c)
	}
	return showCodes(t, out)
}

// showCodes gives each command that is followed by "echo $?" the code that is shown.
func showCodes(t *testing.T, list []command) []command {
	t.Helper()
	var out []command
	for _, c := range list {
		if c.text != "echo $?" {
			out = append(out, c)
			continue
		}
		var code int
		if _, err := fmt.Sscan(strings.Join(c.want, "\n"), &code); err != nil || len(out) == 0 {
			t.Fatalf("README.md:%d: echo $? shows no exit code: %v", c.line, err)
		}
		out[len(out)-1].code = &code
	}
	return out
}

// reader follows the README: one directory, one home, one command after the other.
type reader struct {
	dir, sh  string
	emulator *emulator.Server
}

func newReader(t *testing.T) *reader {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh to read the README with")
	}
	srv, err := emulator.Start(t.Context(), emulator.Options{Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Close() })
	r := &reader{dir: t.TempDir(), sh: sh, emulator: srv}
	photo := image.NewNRGBA(image.Rect(0, 0, 256, 192))
	for i := range photo.Pix {
		photo.Pix[i] = 0xff
	}
	var jpg, mask bytes.Buffer
	if err := jpeg.Encode(&jpg, photo, nil); err != nil {
		t.Fatal(err)
	}
	for x := range 64 {
		photo.Set(x, x, color.Transparent)
	}
	if err := png.Encode(&mask, photo); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"photo.jpg": jpg.Bytes(), "mask.png": mask.Bytes()} {
		if err := os.WriteFile(filepath.Join(r.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// run runs a command and returns what it printed on both streams, and its exit code.
func (r *reader) run(t *testing.T, text string, env ...string) (string, int) {
	t.Helper()
	// The address that the README starts an emulator at is the one of this test's emulator.
	text = strings.ReplaceAll(text, "http://127.0.0.1:8089", r.emulator.URL())
	cmd := exec.CommandContext(t.Context(), r.sh, "-c", text)
	cmd.Dir = r.dir
	home := filepath.Join(r.dir, ".home")
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home + "/config",
		"XDG_STATE_HOME=" + home + "/state", "XDG_CACHE_HOME=" + home + "/cache", "NO_PROXY=*", "LC_ALL=C",
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
	}, env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return string(out), 0
	}
	ee, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("%s: %v", text, err)
	}
	return string(out), ee.ExitCode()
}

func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	ran := 0
	for _, f := range fences(t, "README.md") {
		if f.lang != "sh" && f.lang != "console" {
			continue
		}
		for _, c := range f.commands(t) {
			ok := t.Run(fmt.Sprintf("line_%d", c.line), func(t *testing.T) { //nolint:paralleltest // one after the other
				r.follow(t, f.lang, c)
			})
			if !ok {
				t.Fatalf("README.md:%d: what comes after it may depend on it", c.line)
			}
			ran++
		}
	}
	if ran < 20 {
		t.Errorf("only %d commands were found in README.md", ran)
	}
	samePicture(t, filepath.Join(checkout, "docs", "bicycle.webp"), filepath.Join(r.dir, "bicycle.webp"))
}

// follow does what a reader would do with one command.
func (r *reader) follow(t *testing.T, lang string, c command) {
	t.Helper()
	if out, code := r.run(t, "set -n\n"+c.text); code != 0 {
		t.Fatalf("the shell cannot read it: %s", out)
	}
	var env []string
	switch {
	case ofCheckout(t, c.text):
		return
	case c.needs == "needs a key":
		env = []string{"OPENAI_API_KEY=" + canaryKey, "OPENAI_BASE_URL=" + r.emulator.URL() + "/v1"}
	case c.needs != "":
		return
	}
	out, code := r.run(t, c.text, env...)
	want := 0
	if c.code != nil {
		want = *c.code
	}
	if code != want {
		t.Fatalf("%s\nexit code %d, want %d\n%s", c.text, code, want, out)
	}
	if strings.Contains(out, canaryKey) {
		t.Errorf("%s\nprints the key", c.text)
	}
	if lang != "console" {
		return
	}
	if diff := cmp.Diff(normal(strings.Join(c.want, "\n")), normal(out)); diff != "" {
		t.Errorf("%s\nprints something else (-README +now):\n%s", c.text, diff)
	}
}

var (
	makeLine = regexp.MustCompile(`^(?:sudo )?make ([a-z-]+)(?: |$)`)
	goLine   = regexp.MustCompile(`^(?:CGO_ENABLED=0 )?go install .*\./(\S+)`)
)

// ofCheckout recognises commands that build the checkout, and checks that what they name is there.
func ofCheckout(t *testing.T, text string) bool {
	t.Helper()
	if m := makeLine.FindStringSubmatch(text); m != nil {
		makefile, err := os.ReadFile(filepath.Join(checkout, "Makefile"))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
			t.Errorf("the Makefile has no target %s", m[1])
		}
		return true
	}
	if m := goLine.FindStringSubmatch(text); m != nil {
		if _, err := os.Stat(filepath.Join(checkout, m[1], "main.go")); err != nil {
			t.Error(err)
		}
		return true
	}
	return false
}

// normal replaces what differs from run to run. Job ids are base32 words with a digit in them.
func normal(text string) string {
	text = regexp.MustCompile(`(?m)^making .*: (?:running|[0-9]).*\n`).ReplaceAllString(text, "") // on a slow machine
	text = regexp.MustCompile(`(done in|failed after) [0-9.]+m?s`).ReplaceAllString(text, "$1 TIME")
	text = regexp.MustCompile(`\b[0-9a-z]{12}\b`).ReplaceAllStringFunc(text, func(word string) string {
		if strings.ContainsAny(word, "0123456789") {
			return "JOB"
		}
		return word
	})
	text = regexp.MustCompile(`output_[0-9]+_`).ReplaceAllString(text, "output_TIME_")
	text = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).ReplaceAllString(text, "UUID")
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+Z)?`).ReplaceAllString(text, "DATE")
	return strings.TrimRight(text, "\n")
}

// samePicture compares two pictures by their pixels: encoders differ between flavours, what is shown must not.
func samePicture(t *testing.T, wantPath, gotPath string) {
	t.Helper()
	decode := func(path string) image.Image {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		img, err := webp.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return img
	}
	want, got := decode(wantPath), decode(gotPath)
	if want.Bounds() != got.Bounds() {
		t.Fatalf("the picture is %v, the README shows %v", got.Bounds().Size(), want.Bounds().Size())
	}
	var sum, n float64
	for y := range want.Bounds().Dy() {
		for x := range want.Bounds().Dx() {
			r1, g1, b1, _ := want.At(x, y).RGBA()
			r2, g2, b2, _ := got.At(x, y).RGBA()
			for _, d := range []float64{float64(r1) - float64(r2), float64(g1) - float64(g2), float64(b1) - float64(b2)} {
				sum += max(d, -d) / 257
				n++
			}
		}
	}
	if mean := sum / n; mean > 3 {
		t.Errorf("the session makes another picture than %s: %.1f of 255 apart on average", wantPath, mean)
	}
}

// TestReadmeEnvelope holds the JSON that the README shows against what a call prints: the same keys everywhere.
func TestReadmeEnvelope(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	var shown []fence
	for _, f := range fences(t, "README.md") {
		if f.lang == "json" {
			shown = append(shown, f)
		}
	}
	if len(shown) != 2 {
		t.Fatalf("README.md has %d json blocks, want one for success and one for failure", len(shown))
	}
	for i, text := range []string{
		`mediagen images generate -q --provider emulator --json "a red bicycle"`,
		`mediagen images generate -q --provider emulator --json "[[fault:cut-after-body]] a red bicycle"`,
	} {
		out, _ := r.run(t, text)
		var want, got any
		if err := json.Unmarshal([]byte(strings.Join(shown[i].lines, "\n")), &want); err != nil {
			t.Fatalf("README.md:%d: %v", shown[i].line, err)
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v\n%s", text, err, out)
		}
		if diff := cmp.Diff(keys("", want), keys("", got)); diff != "" {
			t.Errorf("README.md:%d shows other keys than the program prints (-README +now):\n%s", shown[i].line, diff)
		}
	}
}

// keys lists the paths of all values, without the values; token counts differ from model to model.
func keys(path string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		if path == ".usage" {
			return []string{path}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, keys(path+"."+k, v[k])...)
		}
		return out
	case []any:
		if len(v) == 0 {
			return []string{path + "[]"}
		}
		return keys(path+"[]", v[0])
	}
	return []string{path}
}

// TestDocumentLinks follows every relative link of the documents.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)|(?:src|href)="([^":]+)"`)
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(filepath.Join(checkout, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range links.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(checkout, m[1]+m[2])); err != nil {
				t.Errorf("%s has a dead link: %v", name, err)
			}
		}
	}
}
