package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/itchyny/gojq"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// schema names the version of the JSON output.
const schema = "mediagen/1"

// envelope is the one JSON object of every command (design.md §9). Lists put their rows in items.
type envelope struct {
	Schema   string          `json:"schema"`
	OK       bool            `json:"ok"`
	Command  string          `json:"command"`
	Job      *engine.JobInfo `json:"job"`
	Assets   []engine.Asset  `json:"assets"`
	Items    any             `json:"items,omitempty"`
	Plan     *engine.Plan    `json:"plan,omitempty"`
	Usage    *engine.Usage   `json:"usage,omitempty"`
	Cost     *engine.Cost    `json:"cost,omitempty"`
	Warnings []string        `json:"warnings"`
	Error    *errorJSON      `json:"error"`
}

type errorJSON struct {
	Kind        string  `json:"kind"`
	Code        string  `json:"code"`
	Message     string  `json:"message"`
	Hint        string  `json:"hint,omitempty"`
	Exit        int     `json:"exit"`
	Provider    string  `json:"provider,omitempty"`
	RequestID   string  `json:"request_id,omitempty"`
	RetryAfterS float64 `json:"retry_after_s,omitempty"`
	Billed      string  `json:"billed"`
}

// envelope returns the object with everything that there was to warn about.
func (sh *shell) envelope(res *engine.Result) envelope {
	e := envelope{Schema: schema, OK: true, Command: sh.command, Assets: []engine.Asset{}, Warnings: []string{}}
	e.Warnings = append(e.Warnings, sh.warnings...)
	if res == nil {
		return e
	}
	e.Job, e.Usage, e.Plan, e.Cost = res.Job, res.Usage, res.Plan, &res.Cost
	if res.Assets != nil {
		e.Assets = res.Assets
	}
	return e
}

// items prints rows as JSON or, through text, for people. Both stand also when a signal came meanwhile, which is then
// the error.
func (sh *shell) items(rows any, text func(w io.Writer) error) error {
	ended := sh.ended(nil)
	if sh.flags.wantsJSON() {
		if ended != nil {
			return withItems{error: ended, items: rows}
		}
		e := sh.envelope(nil)
		e.Items = rows
		return sh.emit(e)
	}
	if err := text(sh.Streams.Out); err != nil {
		return err
	}
	return ended
}

// failedItems is a failure that still has rows to show.
func (sh *shell) failedItems(err error, rows any, text func(w io.Writer) error) error {
	if sh.flags.wantsJSON() {
		return withItems{error: err, items: rows}
	}
	if werr := text(sh.Streams.Out); werr != nil {
		return werr
	}
	return err
}

// emit writes the envelope, filtered with --jq.
func (sh *shell) emit(e envelope) error {
	if sh.flags.jq != "" {
		return sh.filter(e)
	}
	line, err := encode(e)
	if err != nil {
		return err
	}
	return write(sh.Streams.Out, line+"\n")
}

// encode writes a value as one line of JSON in which nothing steers a terminal.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return escapeJSON(string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))), nil
}

// parseJQ reads a filter. With one that cannot be used, stdout can tell nothing, not even that.
func parseJQ(expr string) (*gojq.Code, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, brokenOutput{usageError{fault.New(fault.InvalidArgument, "--jq cannot be read: %v", err)}}
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, brokenOutput{usageError{fault.New(fault.InvalidArgument, "--jq cannot be compiled: %v", err)}}
	}
	return code, nil
}

// filter prints each value that the expression yields: strings raw, everything else as JSON.
//
//nolint:contextcheck,nolintlint // sh carries the context; the linter obeys this by itself, so it counts as unused
func (sh *shell) filter(e envelope) error {
	code, err := parseJQ(sh.flags.jq)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // a float would round a long seed
	if err := dec.Decode(&v); err != nil {
		return err
	}
	ctx, cancel := sh.filterTime()
	defer cancel()
	for it := code.RunWithContext(ctx, v); ; {
		out, ok := it.Next()
		if !ok {
			return nil
		}
		if err, bad := out.(error); bad {
			return jqError(err)
		}
		line, isText := out.(string)
		if isText {
			line = sh.rawText(line)
		} else {
			b, err := gojq.Marshal(out)
			if err != nil {
				return jqError(err)
			}
			line = escapeJSON(string(b))
		}
		if err := write(sh.Streams.Out, line+"\n"); err != nil {
			return err
		}
	}
}

// filterGrace is how long --jq may take over an answer that comes after a signal or after the time limit.
const filterGrace = 2 * time.Second

// filterTime bounds an expression, which may have no end, by the command's own context. One that has ended already must
// not cost the answer.
func (sh *shell) filterTime() (context.Context, context.CancelFunc) {
	if sh.bounded != nil && sh.bounded.Err() == nil {
		return context.WithCancel(sh.bounded)
	}
	if sh.bounded == nil && sh.ctx.Err() == nil {
		return context.WithCancel(sh.ctx)
	}
	if sh.ctx.Err() == nil {
		return context.WithTimeout(sh.ctx, filterGrace)
	}
	return context.WithTimeout(context.WithoutCancel(sh.ctx), filterGrace)
}

// brokenOutput is an answer that could not be given on stdout, so that stderr has to tell.
type brokenOutput struct{ error }

// Unwrap keeps the code.
func (b brokenOutput) Unwrap() error { return b.error }

func jqError(err error) error {
	return brokenOutput{engine.Errorf(engine.KindFailure, "jq_failed", "--jq failed on the result: %v", err)}
}

// write writes text to stdout.
func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return brokenOutput{fault.New(fault.IOFailed, "stdout cannot be written: %w", err)}
	}
	return nil
}

func writef(w io.Writer, format string, args ...any) error {
	return write(w, fmt.Sprintf(format, args...))
}
