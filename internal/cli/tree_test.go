package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mediagen/internal/cli"
)

var update = flag.Bool("update", false, "rewrite the golden help texts")

const golden = "../../testdata/golden/help"

// tree returns every visible command of the program below and with the root.
func tree(t *testing.T) []*cobra.Command {
	t.Helper()
	root := cli.NewRoot(newBench(t, "").deps)
	root.InitDefaultHelpCmd()
	var all []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		all = append(all, c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
	if len(all) < 20 {
		t.Fatalf("found %d commands", len(all))
	}
	return all
}

func isTopic(c *cobra.Command) bool { return !c.Runnable() && !c.HasSubCommands() }

// TestEveryCommandIsDocumented holds the house rules for commands.
func TestEveryCommandIsDocumented(t *testing.T) {
	t.Parallel()
	for _, c := range tree(t) {
		path := c.CommandPath()
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || len(c.Short) > 72 {
			t.Errorf("%s: Short must be a line without a full stop: %q", path, c.Short)
		}
		if isTopic(c) {
			if len(c.Long) < 200 {
				t.Errorf("%s: the topic says too little", path)
			}
			continue
		}
		if c.Long == "" || c.Long == c.Short {
			t.Errorf("%s has no Long text of its own", path)
		}
		for line := range strings.Lines(c.Example) {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: an example is not indented: %q", path, line)
			}
		}
		if !strings.Contains(c.Example, "mediagen") {
			t.Errorf("%s has no example", path)
		}
		status := cli.ExitStatus(c)
		for _, code := range []string{"0", "2"} {
			if !strings.Contains(status, "\n  "+code+" ") {
				t.Errorf("%s: EXIT STATUS does not explain %s:\n%s", path, code, status)
			}
		}
	}
}

// TestEveryExampleRuns parses each example line, so that none shows a flag or command that is not there.
func TestEveryExampleRuns(t *testing.T) {
	t.Parallel()
	for _, c := range tree(t) {
		for line := range strings.Lines(c.Example) {
			_, line, _ = strings.Cut(strings.TrimSpace(line), "mediagen ")
			words := splitWords(t, line)
			b := newBench(t, "a prompt")
			root := cli.NewRoot(b.deps)
			root.InitDefaultHelpCmd()
			found, rest, err := root.Find(words)
			if err != nil || !found.HasParent() {
				t.Errorf("example of %s: no command in %q", c.CommandPath(), line)
				continue
			}
			if err := found.ParseFlags(rest); err != nil {
				t.Errorf("example of %s: %q: %v", c.CommandPath(), line, err)
			}
			if err := found.ValidateArgs(found.Flags().Args()); err != nil {
				t.Errorf("example of %s: %q: %v", c.CommandPath(), line, err)
			}
		}
	}
}

// splitWords splits a line of a shell as far as the examples use it: quotes, and the end at a pipe or redirection.
func splitWords(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	var quote rune
	cur, open := "", false
	for _, r := range line + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			cur += string(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ':
			if cur == "|" || cur == ">" {
				return words
			}
			if cur != "" || open {
				words = append(words, cur)
			}
			cur, open = "", false
		default:
			cur += string(r)
		}
	}
	if quote != 0 {
		t.Fatalf("quote without end: %s", line)
	}
	return words
}

// TestEveryFlagIsDocumented holds the house rules for flags: a usage, kebab-case, one meaning of a letter on the way
// from the root to the command.
func TestEveryFlagIsDocumented(t *testing.T) {
	t.Parallel()
	for _, c := range tree(t) {
		if isTopic(c) {
			continue
		}
		c.InitDefaultHelpFlag()
		letters := map[string]string{}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" || strings.HasSuffix(f.Usage, ".") {
				t.Errorf("%s --%s: usage must be words without a full stop: %q", c.CommandPath(), f.Name, f.Usage)
			}
			if f.Name != strings.ToLower(f.Name) || strings.Contains(f.Name, "_") {
				t.Errorf("%s --%s is not kebab-case", c.CommandPath(), f.Name)
			}
			if other, taken := letters[f.Shorthand]; taken && f.Shorthand != "" {
				t.Errorf("%s: -%s is both --%s and --%s", c.CommandPath(), f.Shorthand, other, f.Name)
			}
			letters[f.Shorthand] = f.Name
		})
	}
}

// TestNoFlagTakesASecret keeps keys out of process lists and shell histories.
func TestNoFlagTakesASecret(t *testing.T) {
	t.Parallel()
	for _, c := range tree(t) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, word := range []string{"key", "token", "password", "credential"} {
				if slices.Contains(strings.Split(f.Name, "-"), word) {
					t.Errorf("%s --%s looks like a secret", c.CommandPath(), f.Name)
				}
			}
		})
	}
}

// TestEnumsComplete asks the completion of every flag whose help lists words, and of every other flag: a file name is
// offered where a file is wanted, and nowhere else.
func TestEnumsComplete(t *testing.T) {
	t.Parallel()
	lists := 0
	for _, c := range tree(t) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			find, ok := c.GetFlagCompletionFunc(f.Name)
			isFile := f.Value.Type() == "FILE" || f.Value.Type() == "file" || strings.Contains(f.Usage, "`FILE`") ||
				strings.Contains(f.Usage, "`PATH`") || strings.Contains(f.Usage, "`DIRECTORY`")
			isSwitch := f.NoOptDefVal != ""
			if !ok {
				if !isFile && !isSwitch {
					t.Errorf("%s --%s completes file names and takes none", c.CommandPath(), f.Name)
				}
				return
			}
			if isFile {
				t.Errorf("%s --%s takes a file and does not complete one", c.CommandPath(), f.Name)
			}
			words, directive := find(c, nil, "")
			if directive&cobra.ShellCompDirectiveNoFileComp == 0 {
				t.Errorf("%s --%s completes files", c.CommandPath(), f.Name)
			}
			_, list, enum := strings.Cut(f.Usage, "{")
			list, _, _ = strings.Cut(list, "}")
			if !enum || strings.Contains(f.Usage, "TEMPLATE") {
				return
			}
			lists++
			if diff := cmp.Diff(strings.Split(list, "|"), words); diff != "" {
				t.Errorf("%s --%s: help and completion differ (-help +completion):\n%s", c.CommandPath(), f.Name, diff)
			}
		})
	}
	if lists < 15 {
		t.Errorf("%d flags with words were looked at", lists)
	}
}

// TestGoldenHelp compares the help of every command with testdata/golden/help. "go test -update" rewrites it.
func TestGoldenHelp(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, c := range tree(t) {
		words := strings.Fields(c.CommandPath())
		args := append(words[1:], "--help")
		if isTopic(c) {
			args = []string{"help", c.Name()}
		}
		for _, form := range []struct {
			name string
			args []string
		}{{strings.Join(words, "-"), args}, {"", append(words[1:], "-h")}} {
			b := newBench(t, "")
			b.wants(0, form.args...)
			if b.errOut.Len() != 0 {
				t.Errorf("%v says on stderr: %s", form.args, b.errOut)
			}
			for line := range strings.Lines(b.out.String()) {
				if len(line) > 111 || strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") {
					t.Errorf("%v: a line is longer than 110 columns or ends in blanks: %q", form.args, line)
				}
			}
			if form.name != "" {
				names[form.name+".txt"] = true
				compareGolden(t, form.name+".txt", b.out.Bytes())
			}
		}
	}
	entries, err := os.ReadDir(golden)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !names[e.Name()] {
			t.Errorf("%s belongs to no command", filepath.Join(golden, e.Name()))
		}
	}
}

// compareGolden holds text against a file. A missing one is written, but in CI it is a failure: nobody would read it.
func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join(golden, name)
	want, err := os.ReadFile(path)
	if *update || os.IsNotExist(err) && os.Getenv("CI") == "" {
		if err := os.MkdirAll(golden, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v; run go test ./internal/cli -update and read what it wrote", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-golden +now); run go test ./internal/cli -update if that is right:\n%s", path, diff)
	}
}

// TestGroups show their commands, and a program that wants JSON is told that it forgot one.
func TestGroups(t *testing.T) {
	t.Parallel()
	for _, c := range tree(t) {
		if !c.HasSubCommands() {
			continue
		}
		words := strings.Fields(c.CommandPath())[1:]
		b := newBench(t, "")
		b.wants(0, words...)
		if !strings.Contains(b.out.String(), "COMMANDS") {
			t.Errorf("%s does not list its commands:\n%s", c.CommandPath(), b.out)
		}
		b.wants(2, append(words, "--json")...)
		if r := b.reply(); !strings.Contains(r.Error.Message, "name a command") {
			t.Errorf("%s --json: %s", c.CommandPath(), b.out)
		}
	}
}

// TestHelpIsOnePlace gives the same text by --help and by the command help.
func TestHelpIsOnePlace(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.wants(0, "images", "generate", "--help")
	want := b.out.String()
	b.wants(0, "help", "images", "generate")
	if diff := cmp.Diff(want, b.out.String()); diff != "" {
		t.Errorf("help differs from --help:\n%s", diff)
	}
	b.wants(0, "images", "generate", "-h")
	short := b.out.String()
	if len(short) >= len(want) || strings.Contains(short, "EXIT STATUS") || !strings.Contains(short, "--help") {
		t.Errorf("-h is no short form:\n%s", short)
	}
	if i, j := strings.Index(want, "EXAMPLES"), strings.Index(want, "USAGE"); i < 0 || i > j {
		t.Error("examples do not come first")
	}
	if !strings.HasPrefix(want[strings.LastIndex(want, "\n\n")+2:], "EXIT STATUS") {
		t.Error("EXIT STATUS does not come last")
	}
	b.wants(0, "images", "generate", "--", "-h")
	if got, ok := b.call().(generated); !ok || got.Req.Prompt != "-h" {
		t.Errorf("-- -h is no prompt: %+v", b.call())
	}
}
