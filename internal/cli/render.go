package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

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

// renderer prints results and errors of one command.
type renderer struct {
	d       Deps
	g       *globals
	command string
}

func (r renderer) envelope() envelope {
	return envelope{Schema: schema, OK: true, Command: r.command, Assets: []engine.Asset{}, Warnings: []string{}}
}

// result is the envelope of a paid call.
func (r renderer) result(res *engine.Result) envelope {
	e := r.envelope()
	if res == nil {
		return e
	}
	e.Job, e.Assets, e.Usage, e.Plan, e.Warnings = res.Job, res.Assets, res.Usage, res.Plan, res.Warnings
	e.Cost = &res.Cost
	return e
}

// items prints rows as JSON or, through text, for people.
func (r renderer) items(rows any, text func(w io.Writer) error) error {
	if r.g.json {
		e := r.envelope()
		e.Items = rows
		return r.emit(e)
	}
	return text(r.d.Streams.Out)
}

// emit writes the envelope, filtered with --jq.
func (r renderer) emit(e envelope) error {
	if r.g.jq != "" {
		return r.filter(e)
	}
	enc := json.NewEncoder(r.d.Streams.Out)
	enc.SetEscapeHTML(false)
	return written(enc.Encode(e))
}

func written(err error) error {
	if err == nil {
		return nil
	}
	return fault.Caused(fault.IOFailed, err, "stdout cannot be written")
}

func parseJQ(expr string) (*gojq.Code, error) {
	q, err := gojq.Parse(expr)
	if err != nil {
		return nil, usageError{fault.New(fault.InvalidArgument, "--jq cannot be read: %v", err)}
	}
	code, err := gojq.Compile(q)
	if err != nil {
		return nil, usageError{fault.New(fault.InvalidArgument, "--jq cannot be compiled: %v", err)}
	}
	return code, nil
}

// filter prints each value that the expression yields: strings raw, everything else as JSON.
func (r renderer) filter(e envelope) error {
	code, err := parseJQ(r.g.jq)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	for it := code.Run(v); ; {
		out, ok := it.Next()
		if !ok {
			return nil
		}
		if err, bad := out.(error); bad {
			return usageError{fault.New(fault.InvalidArgument, "--jq failed: %v", err)}
		}
		line, isText := out.(string)
		if !isText {
			b, err := gojq.Marshal(out)
			if err != nil {
				return err
			}
			line = string(b)
		}
		if _, err := fmt.Fprintln(r.d.Streams.Out, line); err != nil {
			return written(err)
		}
	}
}

// paths prints saved files one a line, or NUL-terminated.
func (r renderer) paths(assets []engine.Asset, nul bool) error {
	end := "\n"
	if nul {
		end = "\x00"
	}
	for _, a := range assets {
		if a.Path == "" || a.Spooled {
			continue
		}
		if _, err := io.WriteString(r.d.Streams.Out, r.shown(a.Path)+end); err != nil {
			return written(err)
		}
	}
	return nil
}

// shown is a path as a person typed it: relative when it lies below the working directory.
func (r renderer) shown(path string) string {
	rel, err := filepath.Rel(r.d.WorkDir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	if strings.HasPrefix(rel, "-") {
		return "." + string(filepath.Separator) + rel // so that no command takes it for a flag
	}
	return rel
}

// warn prints warnings for people; with --json they are in the envelope.
func (r renderer) warn(warnings []string) {
	if r.g.quiet || r.g.json {
		return
	}
	for _, w := range warnings {
		r.note("warning: " + w)
	}
}

// note writes a line to stderr. A terminal that is gone cannot be told so.
func (r renderer) note(line string) {
	_, _ = fmt.Fprintln(r.d.Streams.Err, oneLine(r.d.Scrub(line))) //nolint:errcheck // nowhere left to report
}

// oneLine keeps foreign text from forging lines or steering the terminal.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return '?'
		}
		return c
	}, s)
}

// failed is an error that comes with what was achieved before it.
type failed struct {
	error
	res *engine.Result
}

// Unwrap keeps the kind.
func (f failed) Unwrap() error { return f.error }

// fail prints an error and returns its exit code.
func (r renderer) fail(err error) int {
	e := asError(err)
	code := exitCode(e.Kind)
	if r.g.json {
		env := r.result(resultOf(err))
		if w, ok := errors.AsType[withItems](err); ok {
			env.Items = w.items
		}
		env.OK = false
		env.Error = r.errorJSON(e, code)
		if werr := r.emit(env); werr == nil {
			return code
		}
	}
	head := "mediagen"
	if r.command != "" {
		head += ": " + r.command
	}
	r.note(head + ": " + e.Error())
	if hint := r.hint(e, err); hint != "" {
		r.note("hint: " + hint)
	}
	return code
}

func (r renderer) errorJSON(e *engine.Error, code int) *errorJSON {
	out := &errorJSON{
		Kind: string(e.Kind), Code: string(e.Code), Message: r.d.Scrub(e.Error()), Hint: r.d.Scrub(e.Hint), Exit: code,
		Provider: e.Provider, RequestID: e.RequestID, RetryAfterS: e.RetryAfter.Seconds(), Billed: string(e.Billed),
	}
	if out.Billed == "" {
		out.Billed = string(engine.BilledNo)
	}
	return out
}

func resultOf(err error) *engine.Result {
	f, ok := errors.AsType[failed](err)
	if !ok {
		return nil
	}
	return f.res
}

// hint is the error's own, else where to look.
func (r renderer) hint(e *engine.Error, err error) string {
	if e.Hint != "" {
		return e.Hint
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return strings.TrimSpace("see: mediagen " + r.command + " --help")
	}
	if e.RequestID != "" {
		return "the provider's request id is " + e.RequestID
	}
	return ""
}

// interrupted prints what became of a command that a signal ended.
func (r renderer) interrupted(sig *Signal, err error) int {
	if err == nil {
		return exitCode(sig.Kind)
	}
	if e := asError(err); e.Kind == engine.KindInterrupted || r.g.json {
		e2 := *e
		if e.Kind == engine.KindInterrupted {
			e2.Kind = sig.Kind
		}
		r.fail(failed{error: &e2, res: resultOf(err)})
		return exitCode(sig.Kind)
	}
	r.fail(err)
	return exitCode(sig.Kind)
}

// table prints aligned columns.
func table(w io.Writer, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = oneLine(cell)
		}
		if _, err := fmt.Fprintln(tw, strings.Join(row, "\t")); err != nil {
			return written(err)
		}
	}
	return written(tw.Flush())
}
