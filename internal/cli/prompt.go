package cli

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// maxStdinPrompt bounds a prompt from stdin, in bytes.
const maxStdinPrompt = 1 << 20

// promptSources are the places where a prompt may come from; exactly one must be used.
type promptSources struct {
	args   []string // positional words, joined with spaces; "-" alone is stdin
	flag   string   // -p; "-" is stdin
	given  bool     // -p was there, even if empty
	file   string   // --prompt-file; "-" is stdin
	target *string  // the request's prompt, which read sets
}

func promptOf(cmd *cobra.Command, args []string, target *string, file string) promptSources {
	return promptSources{args: args, flag: *target, given: cmd.Flags().Changed("prompt"), file: file, target: target}
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

// read sets the request's prompt. One trailing newline is dropped, since editors and echo add it.
func (p promptSources) read(ctx context.Context, eng Engine, stdin io.Reader) error {
	text, from := strings.Join(p.args, " "), "the argument"
	var err error
	switch {
	case p.usesStdin():
		from = "stdin"
		text, err = readAll(ctx, stdin)
	case p.file != "":
		from = "the prompt file"
		text, err = eng.ReadText(p.file)
	case p.given:
		text, from = p.flag, "-p"
	}
	if err != nil {
		return err
	}
	*p.target, err = nonEmpty(text, from)
	return err
}

func nonEmpty(text, from string) (string, error) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if strings.TrimSpace(text) == "" {
		return "", fault.New(fault.InvalidArgument, "the prompt from %s is empty", from)
	}
	return text, nil
}

// readAll reads a prompt from stdin.
func readAll(ctx context.Context, r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(Interruptible(ctx, r), maxStdinPrompt+1))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", engine.Errorf(engine.KindUnavailable, "timeout",
			"the time limit ended while the prompt was read; nothing was sent").WithCause(err)
	case err != nil && ctx.Err() != nil:
		return "", engine.Errorf(engine.KindInterrupted, "interrupted",
			"stopped while the prompt was read; nothing was sent").WithCause(err)
	case err != nil:
		return "", fault.Caused(fault.IOFailed, err, "stdin cannot be read")
	case len(data) > maxStdinPrompt:
		return "", fault.New(fault.ItemTooLarge, "the prompt from stdin is longer than %d bytes", maxStdinPrompt)
	}
	return string(data), nil
}

// Interruptible returns a reader of r that gives up with the context's error when ctx ends: a person may sit there
// typing, or the other end of a pipe may never speak. A read that was given up may still take bytes from r.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return &interruptible{ctx: ctx, r: r} }

type interruptible struct {
	ctx  context.Context //nolint:containedctx // of the one command that reads
	r    io.Reader
	left []byte // was read and not handed out yet
	err  error
}

type chunk struct {
	data []byte
	err  error
}

// Read waits for bytes or for the end of the context.
func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.left) == 0 && i.err == nil {
		if err := i.ctx.Err(); err != nil {
			return 0, err
		}
		ch := make(chan chunk, 1) // so that a read that was given up can end
		go func() {
			buf := make([]byte, 32<<10)
			n, err := i.r.Read(buf)
			ch <- chunk{buf[:n], err}
		}()
		select {
		case <-i.ctx.Done():
			return 0, i.ctx.Err()
		case c := <-ch:
			i.left, i.err = c.data, c.err
		}
	}
	n := copy(p, i.left)
	i.left = i.left[n:]
	if n > 0 {
		return n, nil
	}
	return 0, i.err
}
