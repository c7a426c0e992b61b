package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pageDate stands in every page instead of the day on which it was made, so that the same tree gives the same bytes. It
// is changed with a release.
const pageDate = "2026-11-30"

// manPages returns a page for each command and help topic, named like mediagen-images-generate.1.
func manPages(root *cobra.Command) map[string][]byte {
	files := map[string][]byte{}
	for _, c := range all(root) {
		files["man/"+pageName(c)+".1"] = page(c)
	}
	return files
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page writes one page in the man macros. The order of the sections is that of man-pages(7).
func page(cmd *cobra.Command) []byte {
	r := &roff{}
	r.line(`.\" Made by cmd/gendocs from the command tree. DO NOT EDIT.`)
	r.line(`.TH "` + escape(strings.ToUpper(pageName(cmd))) + `" 1 "` + pageDate + `" mediagen "mediagen manual"`)
	r.line(".nh")   // no hyphens inside names, which are searched for and copied
	r.line(".ad l") // ragged right, for long names
	r.section("NAME")
	r.line(escape(pageName(cmd)) + ` \- ` + escape(lowerFirst(cmd.Short)))
	r.section("SYNOPSIS")
	r.synopsis(cmd)
	r.section("DESCRIPTION")
	r.text(description(cmd))
	r.commands(cmd)
	if !isTopic(cmd) {
		r.options("OPTIONS", cmd.LocalNonPersistentFlags())
		r.options("GLOBAL OPTIONS", globalFlags(cmd))
	}
	r.section("EXAMPLES")
	r.code(strings.Split(examples(cmd), "\n"))
	r.section("EXIT STATUS")
	for _, s := range exitStatus(cmd) {
		r.term(bold(s.code), escape(upperFirst(s.text)+"."))
	}
	r.section("SEE ALSO")
	r.seeAlso(cmd)
	return []byte(r.b.String())
}

// roff collects a page.
type roff struct{ b strings.Builder }

func (r *roff) line(s string) { r.b.WriteString(s + "\n") }

// prose writes a line of text that must not be taken for a request.
func (r *roff) prose(s string) {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	r.line(s)
}

func (r *roff) section(title string) { r.line(".SH " + title) }

func (r *roff) term(term, meaning string) {
	r.line(".TP")
	r.line(term)
	if meaning != "" {
		r.prose(meaning)
	}
}

// text writes paragraphs, headings, lists and code of a help text.
func (r *roff) text(s string) {
	for i, b := range parse(s) {
		switch b.kind {
		case blockText:
			if i > 0 {
				r.line(".PP")
			}
			for _, line := range b.lines {
				r.prose(escape(line))
			}
		case blockHead:
			r.line(".SS " + escape(b.lines[0]))
		case blockTerm:
			r.term(bold(b.lines[0]), escape(b.text))
		case blockCode:
			r.code(b.lines)
		}
	}
}

// code writes lines as they are, indented.
func (r *roff) code(lines []string) {
	r.line(".PP")
	r.line(".RS 4")
	r.line(".nf")
	for _, line := range lines {
		r.prose(escape(strings.TrimPrefix(strings.TrimPrefix(line, "\t"), "  ")))
	}
	r.line(".fi")
	r.line(".RE")
}

// synopsis writes the command in bold and its arguments as the usage line has them.
func (r *roff) synopsis(cmd *cobra.Command) {
	if isTopic(cmd) {
		r.line(bold("mediagen help " + cmd.Name()))
		return
	}
	rest := "COMMAND"
	if !isGroup(cmd) {
		rest = strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
	}
	words := []string{bold(cmd.CommandPath())}
	for word := range strings.FieldsSeq(rest) {
		dress := italic
		if strings.HasPrefix(word, "-") {
			dress = bold
		}
		words = append(words, dress(word))
	}
	r.line(strings.Join(words, " "))
}

func (r *roff) commands(cmd *cobra.Command) {
	var commands, topics []*cobra.Command
	for _, c := range cmd.Commands() {
		switch {
		case c.Hidden:
		case isTopic(c):
			topics = append(topics, c)
		default:
			commands = append(commands, c)
		}
	}
	for _, list := range []struct {
		title string
		cmds  []*cobra.Command
	}{{"COMMANDS", commands}, {"HELP TOPICS", topics}} {
		if len(list.cmds) > 0 {
			r.section(list.title)
		}
		for _, c := range list.cmds {
			r.term(bold(c.Name()), escape(c.Short)+". See "+reference(c)+".")
		}
	}
}

// options lists flags in the order in which they were added: the order of a request's parameters.
func (r *roff) options(title string, fs *pflag.FlagSet) {
	fs.SortFlags = false
	if !fs.HasAvailableFlags() {
		return
	}
	r.section(title)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := bold("--" + f.Name)
		if f.Shorthand != "" {
			name = bold("-"+f.Shorthand) + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" && f.Value.Type() != "bool" && f.Value.Type() != "count" {
			name += " " + italic(value)
		}
		if !blank(f.DefValue) {
			usage += " (default " + f.DefValue + ")"
		}
		r.term(name, escape(usage))
	})
}

// blank reports whether a default says no more than that there is none.
func blank(text string) bool {
	return text == "" || text == "0" || text == "0s" || text == "false" || text == "[]"
}

func globalFlags(cmd *cobra.Command) *pflag.FlagSet {
	if cmd.HasParent() {
		return cmd.InheritedFlags()
	}
	return cmd.PersistentFlags()
}

// seeAlso names the parent, the pages beside it, and the help topics.
func (r *roff) seeAlso(cmd *cobra.Command) {
	var refs []string
	seen := map[string]bool{pageName(cmd): true}
	add := func(c *cobra.Command) {
		if !seen[pageName(c)] && !c.Hidden {
			seen[pageName(c)] = true
			refs = append(refs, reference(c))
		}
	}
	if cmd.HasParent() {
		add(cmd.Parent())
		if cmd.Parent().HasParent() {
			for _, c := range cmd.Parent().Commands() {
				add(c)
			}
		}
	}
	for _, c := range cmd.Root().Commands() {
		if isTopic(c) || !cmd.HasParent() {
			add(c)
		}
	}
	r.line(strings.Join(refs, ",\n"))
}

func reference(cmd *cobra.Command) string { return fmt.Sprintf(`%s(1)`, bold(pageName(cmd))) }

func bold(s string) string   { return `\fB` + escape(s) + `\fR` }
func italic(s string) string { return `\fI` + escape(s) + `\fR` }

// escape writes text so that it stays plain ASCII that can be copied from the page: no curly quotes, no Unicode
// hyphens. Long lists of words get places (\:) where a line may break without a hyphen.
func escape(s string) string {
	return strings.NewReplacer(
		`,"`, `,\:\(dq`, "|", `|\:`, `\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`,
	).Replace(s)
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lowerFirst is for names in sentences; a word of capitals stays.
func lowerFirst(s string) string {
	if len(s) < 2 || strings.ToUpper(s[:2]) == s[:2] {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
