package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
)

// fill puts generated text between the marks "<!-- begin generated: NAME -->" and "<!-- end generated: NAME -->". Every
// region must be marked exactly once, and no mark may be left over.
func fill(text []byte, regions map[string][]byte) ([]byte, error) {
	const any = "<!-- begin generated: "
	if n := bytes.Count(text, []byte(any)); n != len(regions) {
		return nil, fmt.Errorf("%d generated regions are marked, want %d", n, len(regions))
	}
	for name, body := range regions {
		begin, end := []byte(any+name+" -->\n"), []byte("<!-- end generated: "+name+" -->\n")
		before, rest, ok := bytes.Cut(text, begin)
		_, after, closed := bytes.Cut(rest, end)
		if !ok || !closed {
			return nil, fmt.Errorf("region %q is not marked with %q and %q", name, bytes.TrimSpace(begin), bytes.TrimSpace(end))
		}
		text = slices.Concat(before, begin, []byte("\n"), bytes.TrimSpace(body), []byte("\n\n"), end, after)
	}
	return text, nil
}

// commandTable lists every command that does something, then the help topics.
func commandTable(root *cobra.Command) []byte {
	var b, topics bytes.Buffer
	b.WriteString("| Command | What it does |\n|---|---|\n")
	for _, c := range all(root) {
		switch {
		case isTopic(c):
			fmt.Fprintf(&topics, "| `mediagen help %s` | %s |\n", c.Name(), cell(c.Short))
		case isGroup(c) || c.Name() == "help":
		default:
			fmt.Fprintf(&b, "| `%s` | %s |\n", c.CommandPath(), cell(c.Short))
		}
	}
	return slices.Concat(b.Bytes(), topics.Bytes())
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// exitTable lists the exit codes with the kinds that --json names.
func exitTable(root *cobra.Command) ([]byte, error) {
	byCode := map[string][]string{}
	for _, k := range kinds() {
		code := strconv.Itoa(cli.ExitCode(k))
		byCode[code] = append(byCode[code], "`"+string(k)+"`")
	}
	var b bytes.Buffer
	b.WriteString("| Exit | `error.kind` | Meaning |\n|---|---|---|\n")
	for _, s := range exitStatus(named(root, "exit-codes")) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", s.code, strings.Join(byCode[s.code], ", "), cell(upperFirst(s.text)))
		delete(byCode, s.code)
	}
	if len(byCode) > 0 {
		return nil, fmt.Errorf("help exit-codes does not explain %v", byCode)
	}
	return b.Bytes(), nil
}

// kindTable lists what each kind of failure means and ends in.
func kindTable() []byte {
	var b bytes.Buffer
	b.WriteString("| Kind | Exit code |\n|---|---|\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "| `%s` | %d |\n", k, cli.ExitCode(k))
	}
	return b.Bytes()
}

// kinds are all kinds of failure, in the order of the engine's list. A test holds it against the source.
func kinds() []engine.Kind {
	return []engine.Kind{
		engine.KindFailure, engine.KindInvalidRequest, engine.KindUnsupported, engine.KindNotFound, engine.KindExists,
		engine.KindAuth, engine.KindConfig, engine.KindPolicyDenied, engine.KindBlocked, engine.KindRateLimited,
		engine.KindQuota, engine.KindUnavailable, engine.KindUnknownOutcome, engine.KindConstraint,
		engine.KindModelRetired, engine.KindOverBudget, engine.KindPartial, engine.KindWaitTimeout,
		engine.KindInterrupted, engine.KindTerminated,
	}
}
