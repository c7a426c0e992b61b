package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// stdlib is what govulncheck calls the module of the standard library.
const stdlib = "stdlib"

// message is the part of govulncheck's stream (protocol v1.0.0) that the gate needs.
type message struct {
	Config *struct {
		GoVersion string `json:"go_version"`
		ScanLevel string `json:"scan_level"`
	} `json:"config"`
	SBOM *struct {
		Modules []struct{} `json:"modules"`
		Roots   []string   `json:"roots"`
	} `json:"SBOM"`
	OSV *struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	} `json:"osv"`
	Finding *struct {
		OSV          string  `json:"osv"`
		FixedVersion string  `json:"fixed_version"`
		Trace        []frame `json:"trace"`
	} `json:"finding"`
}

// frame is one step from the vulnerable symbol (first) to our code (last).
type frame struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Package  string `json:"package"`
	Function string `json:"function"`
	Receiver string `json:"receiver"`
}

func (f frame) symbol() string {
	if f.Receiver != "" {
		return f.Package + "." + strings.TrimPrefix(f.Receiver, "*") + "." + f.Function
	}
	return f.Package + "." + f.Function
}

// finding is one vulnerability of one module. Reached is false when the module is there but no vulnerable function of
// it can be called.
type finding struct {
	id, summary, module, version, fixed string
	reached                             bool
	symbol, from                        string // the vulnerable function and the function of ours that leads to it
}

// report is what one scan found, ordered by module and id.
type report struct {
	goVersion string
	modules   int
	findings  []finding
}

// read takes a whole stream. It refuses one that is not a finished symbol-level scan of some packages: an empty stream
// must not pass for a clean one.
func read(r io.Reader) (report, error) {
	var (
		out       report
		level     string
		roots     int
		summaries = map[string]string{}
		found     = map[string]finding{}
	)
	for dec := json.NewDecoder(r); ; {
		var m message
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return report{}, fmt.Errorf("unreadable stream: %w", err)
		}
		switch {
		case m.Config != nil:
			out.goVersion, level = m.Config.GoVersion, m.Config.ScanLevel
		case m.SBOM != nil:
			out.modules, roots = len(m.SBOM.Modules), len(m.SBOM.Roots)
		case m.OSV != nil:
			summaries[m.OSV.ID] = m.OSV.Summary
		case m.Finding != nil && len(m.Finding.Trace) > 0:
			add(found, m.Finding.OSV, m.Finding.FixedVersion, m.Finding.Trace)
		}
	}
	if level != "symbol" || roots == 0 {
		return report{}, fmt.Errorf("not a symbol-level scan of packages (level %q, %d packages)", level, roots)
	}
	for f := range maps.Values(found) {
		f.summary = summaries[f.id]
		out.findings = append(out.findings, f)
	}
	slices.SortFunc(out.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.id, b.id))
	})
	return out, nil
}

// add keeps one finding for each vulnerability and module; one that is reached replaces one that is not.
func add(found map[string]finding, id, fixed string, trace []frame) {
	first, last := trace[0], trace[len(trace)-1]
	key := id + " " + first.Module
	if old, ok := found[key]; ok && (old.reached || first.Function == "") {
		return
	}
	f := finding{id: id, module: first.Module, version: first.Version, fixed: cmp.Or(fixed, "no release yet")}
	if first.Function != "" {
		f.reached, f.symbol, f.from = true, first.symbol(), last.symbol()
	}
	found[key] = f
}

// failing returns the findings that a change to go.mod or to our code must remove.
func (r report) failing() []finding {
	return r.pick(func(f finding) bool { return f.reached && f.module != stdlib })
}

func (r report) pick(want func(finding) bool) []finding {
	var out []finding
	for _, f := range r.findings {
		if want(f) {
			out = append(out, f)
		}
	}
	return out
}

// print writes the report: what fails, what only a newer Go cures, what is present and out of reach.
func (r report) print(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.failing() {
		fmt.Fprintf(&b, "FAIL %s %s@%s, fixed in %s: %s\n", f.id, f.module, f.version, f.fixed, f.summary)
		fmt.Fprintf(&b, "     %s is reached from %s\n", f.symbol, f.from)
	}
	for _, f := range r.pick(func(f finding) bool { return f.reached && f.module == stdlib }) {
		fmt.Fprintf(&b, "note %s standard library of %s, fixed in %s: %s\n", f.id, r.goVersion, f.fixed, f.summary)
	}
	for _, f := range r.pick(func(f finding) bool { return !f.reached }) {
		fmt.Fprintf(&b, "info %s %s@%s, fixed in %s, is not reached\n", f.id, f.module, f.version, f.fixed)
	}
	fmt.Fprintf(&b, "%d modules with %s: %d reachable findings in modules\n", r.modules, r.goVersion, len(r.failing()))
	_, err := io.WriteString(w, b.String())
	return err
}
