package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// EmulatorOptions are what the emulator command takes.
type EmulatorOptions struct {
	Addr   string
	Faults []string
	Log    string // file that gets a JSON line a request; "-" is stderr, "" none
}

// Emulator is a running emulator.
type Emulator interface {
	URL() string
	Close() error
}

// FaultDoc describes one fault that the emulator can show.
type FaultDoc struct{ Name, Usage string }

func newEmulator(sh *shell) *cobra.Command {
	var o EmulatorOptions
	cmd := &cobra.Command{
		Use: "emulator", Short: "Serve an OpenAI-shaped emulator on loopback", Args: none,
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Serve the OpenAI images routes on a loopback address, for trying things out and for tests: it draws a " +
			"picture that carries the prompt, costs nothing and can fail in every way a provider does. Its address goes to " +
			"stdout. It wants a key and takes any. Ctrl-C ends it.\n\nFaults, as NAME, NAME:ARG or NAME:times=N; also as the " +
			"header X-Emulator-Fault and the prompt prefix [[fault:NAME]]:\n" + faultList(sh.Faults()),
		Example: `  mediagen emulator --addr 127.0.0.1:8089
  OPENAI_API_KEY=x OPENAI_BASE_URL=http://127.0.0.1:8089/v1 mediagen images generate "a red bicycle"
  mediagen emulator --fault unavailable:times=1 --log requests.jsonl`,
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2)},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.Addr, "addr", "127.0.0.1:0", "loopback `ADDRESS` to listen on; port 0 takes a free one")
	fs.StringArrayVar(&o.Faults, "fault", nil, "show this `FAULT` (repeatable)")
	fs.StringVar(&o.Log, "log", "", "append one JSON line a request to this `FILE`; - is stderr")
	completeWords(cmd, "addr", func() []string { return []string{"127.0.0.1:8089"} })
	completeWords(cmd, "fault", func() []string {
		var names []string
		for _, f := range sh.Faults() {
			names = append(names, f.Name)
		}
		return names
	})
	cmd.RunE = func(*cobra.Command, []string) error { return sh.serveEmulator(o) }
	return cmd
}

// serveEmulator serves until a signal comes, which is the good end.
func (sh *shell) serveEmulator(o EmulatorOptions) error {
	srv, err := sh.StartEmulator(context.WithoutCancel(sh.ctx), o)
	if err != nil {
		return err
	}
	if err := sh.listening(srv.URL()); err != nil {
		_ = srv.Close() // the first error is the one to tell
		return err
	}
	<-sh.ctx.Done()
	sh.ctx = context.WithoutCancel(sh.ctx) // the signal is obeyed; what goes wrong now has a code of its own
	return srv.Close()
}

// listening prints the address. What to do with it is for a person only.
func (sh *shell) listening(url string) error {
	if sh.flags.wantsJSON() {
		e := sh.envelope(nil)
		e.Items = []map[string]string{{"url": url}}
		return sh.emit(e)
	}
	if err := writef(sh.Streams.Out, "%s\n", url); err != nil {
		return err
	}
	if sh.Streams.ErrTTY && !sh.flags.quiet {
		sh.note("in another shell: OPENAI_API_KEY=x OPENAI_BASE_URL=" + url + "/v1 mediagen images generate ...")
	}
	return nil
}

func faultList(faults []FaultDoc) string {
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "  %-20s %s\n", f.Name, f.Usage)
	}
	return strings.TrimRight(b.String(), "\n")
}
