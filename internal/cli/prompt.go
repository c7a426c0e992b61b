package cli

import (
	"context"
	"io"
	"strings"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// maxStdinPrompt bounds a prompt from stdin, in bytes.
const maxStdinPrompt = 1 << 20

// promptSources are the places where a prompt may come from; exactly one must be used.
type promptSources struct {
	args  []string // positional words, joined with spaces; "-" alone is stdin
	flag  string   // -p; "-" is stdin
	given bool     // -p was there, even if empty
	file  string   // --prompt-file; "-" is stdin
}

// usesStdin reports whether the prompt takes stdin, so that no picture may.
func (p promptSources) usesStdin() bool {
	return p.flag == "-" || p.file == "-" || len(p.args) == 1 && p.args[0] == "-"
}

// check finds none or several sources before anything is read.
func (p promptSources) check() error {
	n := 0
	for _, used := range []bool{len(p.args) > 0, p.given, p.file != ""} {
		if used {
			n++
		}
	}
	switch {
	case n == 0:
		return usageError{fault.New(fault.InvalidArgument,
			"a prompt is required: as words, with -p, with --prompt-file, or - for stdin")}
	case n > 1:
		return usageError{fault.New(fault.InvalidArgument,
			"the prompt came from more than one place; use one of words, -p and --prompt-file")}
	}
	return nil
}

// read returns the prompt. One trailing newline is dropped, since editors and echo add it.
func (p promptSources) read(ctx context.Context, eng Engine, stdin io.Reader) (string, error) {
	switch {
	case p.usesStdin():
		text, err := readAll(ctx, stdin)
		if err != nil {
			return "", err
		}
		return nonEmpty(text, "stdin")
	case p.file != "":
		text, err := eng.ReadText(p.file)
		if err != nil {
			return "", err
		}
		return nonEmpty(text, "the prompt file")
	case p.given:
		return nonEmpty(p.flag, "-p")
	}
	return nonEmpty(strings.Join(p.args, " "), "the argument")
}

func nonEmpty(text, from string) (string, error) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if strings.TrimSpace(text) == "" {
		return "", fault.New(fault.InvalidArgument, "the prompt from %s is empty", from)
	}
	return text, nil
}

// readAll reads stdin, but a signal ends the wait: a person may sit there typing.
func readAll(ctx context.Context, r io.Reader) (string, error) {
	type answer struct {
		data []byte
		err  error
	}
	ch := make(chan answer, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(r, maxStdinPrompt+1))
		ch <- answer{data, err}
	}()
	select {
	case <-ctx.Done():
		return "", engine.Errorf(engine.KindInterrupted, "interrupted", "stopped while the prompt was read").WithCause(ctx.Err())
	case a := <-ch:
		if a.err != nil {
			return "", fault.Caused(fault.IOFailed, a.err, "stdin cannot be read")
		}
		if len(a.data) > maxStdinPrompt {
			return "", fault.New(fault.ItemTooLarge, "the prompt from stdin is longer than %d bytes", maxStdinPrompt)
		}
		return string(a.data), nil
	}
}
