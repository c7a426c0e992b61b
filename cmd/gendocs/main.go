// Command gendocs writes what follows from the command tree, the table of settings and the kinds of failure: man pages,
// shell completions, the sample configuration, and the marked regions of README.md and ARCHITECTURE.md.
//
// It is a developer's tool and no part of a release. The same source always gives the same bytes: it reads no setting,
// no environment and no clock, and writes no version. It never touches text outside the marks.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mediagen/internal/app"
	"mediagen/internal/cli"
	"mediagen/internal/config"
	"mediagen/internal/iostreams"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run returns the exit code: 0 when everything is written or fresh, 1 when not, 2 for a wrong command line.
func run(args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gendocs", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "write nothing; name what is stale and exit 1")
	dir := flags.String("C", ".", "`directory` of the checkout")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	stale, err := update(*dir, *check)
	for _, name := range stale {
		say(stderr, name+" is stale (run make generate)")
	}
	if err != nil {
		say(stderr, err.Error())
		return 1
	}
	if len(stale) > 0 {
		return 1
	}
	return 0
}

// say writes a line to stderr. When that is gone there is nobody to tell.
func say(w io.Writer, line string) { _, _ = fmt.Fprintln(w, "gendocs: "+line) }

// update writes every generated file below dir and removes pages that no command has any more. With check it changes
// nothing and returns the names of the files that differ.
func update(dir string, check bool) (stale []string, err error) {
	files, err := generate(dir, fixedProcess())
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		old, err := os.ReadFile(path) //nolint:gosec // the developer's own checkout
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && bytes.Equal(old, files[name]) {
			continue
		}
		if check {
			stale = append(stale, name)
			continue
		}
		if err := write(path, files[name]); err != nil {
			return nil, err
		}
	}
	orphans, err := orphaned(dir, files)
	if err != nil || check {
		return append(stale, orphans...), err
	}
	for _, name := range orphans {
		if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // part of the checkout, for everybody
		return err
	}
	return os.WriteFile(path, data, 0o644) //nolint:gosec // part of the checkout, for everybody
}

// orphaned lists files in the folders that hold nothing but generated files, which generate does not make.
func orphaned(dir string, files map[string][]byte) ([]string, error) {
	var out []string
	for _, folder := range []string{"man", "completions"} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if name := folder + "/" + e.Name(); files[name] == nil {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// fixedProcess is a process without any fact about this machine.
func fixedProcess() app.Process {
	streams, _, _ := iostreams.Test("")
	return app.Process{WorkDir: "/", HomeDir: "/", Streams: streams, Now: func() time.Time { return time.Time{} }}
}

// generate returns the content of every generated file by its slash-separated name below dir. Only README.md and
// ARCHITECTURE.md are read, for the text around their regions.
func generate(dir string, p app.Process) (map[string][]byte, error) {
	root := cli.NewRoot(app.Deps(p))
	addDefaults(root)
	files := manPages(root)
	scripts, err := completions(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, scripts)
	files["testdata/golden/config.sample.yaml"] = config.Sample()

	exits, err := exitTable(root)
	if err != nil {
		return nil, err
	}
	for name, regions := range map[string]map[string][]byte{
		"README.md":       {"commands": commandTable(root), "settings": config.MarkdownTable(), "exit codes": exits},
		"ARCHITECTURE.md": {"kinds": kindTable()},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the developer's own checkout
		if err != nil {
			return nil, err
		}
		if files[name], err = fill(text, regions); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}
