package cli

import (
	"fmt"
	"strings"

	"mediagen/internal/engine"
)

// delivery is what a call that saves files came to.
type delivery struct {
	res    *engine.Result // nil when nothing was sent
	err    error
	nul    bool // paths end with NUL
	silent bool // stdout has taken bytes and takes no path
}

// deliver prints what was saved, also when a part failed, and returns the error to end with. What was paid for is named
// on stderr when stdout does not take it.
func (sh *shell) deliver(d delivery) error {
	if d.err == nil {
		d.err = sh.ended(d.res)
	}
	if sh.flags.wantsJSON() {
		if d.err != nil {
			return failed{error: d.err, res: d.res}
		}
		return sh.kept(d.res, sh.emit(sh.envelope(d.res)))
	}
	if d.res != nil && !d.silent {
		if err := sh.paths(d.res.Assets, d.nul); err != nil {
			if d.err == nil {
				return sh.kept(d.res, err)
			}
			sh.note(sh.kept(d.res, err).Error())
		}
	}
	if d.err != nil {
		return failed{error: d.err, res: d.res}
	}
	return nil
}

// kept makes an error about stdout name the files that stdout was to name.
func (sh *shell) kept(res *engine.Result, err error) error {
	if err == nil || res == nil {
		return err
	}
	var names []string
	for _, a := range res.Assets {
		if a.Path != "" {
			names = append(names, a.Path)
		}
	}
	if len(names) == 0 {
		return err
	}
	e := engine.AsError(err)
	out := engine.Errorf(e.Kind, e.Code, "%s; saved all the same: %s", e.Message, strings.Join(names, ", ")).
		WithCause(err)
	if res.Job != nil {
		out = out.Bill(engine.BilledYes)
	}
	if res.Job != nil && res.Job.ID != "" {
		out = out.WithHint("mediagen jobs show %s names the files too", res.Job.ID)
	}
	return brokenOutput{out}
}

// plan prints a dry run for a person.
func (sh *shell) plan(p *engine.Plan) error {
	estimate := p.Estimate.String()
	if p.UpperBound {
		estimate = "at most " + estimate
	}
	if p.Estimate.Micros == nil && p.Estimate.Why != "" {
		estimate += ": " + p.Estimate.Why
	}
	if p.AsOf != "" {
		estimate += ", prices of " + p.AsOf
	}
	rows := [][]string{
		{"would send", p.Op},
		{"provider", p.Provider + " at " + p.Endpoint},
		{"model", p.Model},
		{"pictures", fmt.Sprint(p.N)},
		{"size", p.Size},
		{"quality", p.Quality},
		{"format", p.OutputFormat},
		{"cost", estimate},
	}
	for i, path := range p.Paths {
		label := " "
		if i == 0 {
			label = "files"
		}
		rows = append(rows, []string{label, sh.shown(path)})
	}
	if err := card(sh.Streams.Out, rows); err != nil {
		return err
	}
	if err := write(sh.Streams.Out, "nothing sent\n"); err != nil {
		return err
	}
	return sh.ended(nil)
}
