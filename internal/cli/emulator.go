package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"mediagen/internal/fault"
)

// EmulatorOptions are what the emulator command takes.
type EmulatorOptions struct {
	Addr   string
	Faults []string
	Log    io.Writer // nil: no request log
}

// Emulator is a running emulator.
type Emulator interface {
	URL() string
	Close() error
}

// FaultDoc describes one fault that the emulator can show.
type FaultDoc struct{ Name, Usage string }

func newEmulator(d Deps, g *globals) *cobra.Command {
	var o EmulatorOptions
	var logFile string
	cmd := &cobra.Command{
		Use: "emulator", Short: "Serve an OpenAI-shaped emulator on loopback", Args: none,
		Long: "Serve the OpenAI images routes on a loopback address, for trying things out and for tests: it draws a picture " +
			"that carries the prompt, costs nothing and can fail in every way a provider does. Its address goes to stdout. " +
			"Any key is accepted.\n\nFaults, as NAME, NAME:ARG or NAME:times=N; also as the header X-Emulator-Fault and the " +
			"prompt prefix [[fault:NAME]]:\n" + faultList(d.Faults),
		Example: `  mediagen emulator --addr 127.0.0.1:8089
  OPENAI_API_KEY=x OPENAI_BASE_URL=http://127.0.0.1:8089/v1 mediagen images generate "a red bicycle"
  mediagen emulator --fault unavailable:times=1 --log requests.jsonl`,
		Annotations: map[string]string{exitCodes: exitStatus(0, 1, 2), serves: "1"},
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Addr, "addr", "127.0.0.1:0", "loopback `ADDRESS` to listen on; port 0 takes a free one")
	fs.StringArrayVar(&o.Faults, "fault", nil, "show this `FAULT` (repeatable)")
	fs.StringVar(&logFile, "log", "", "append one JSON line a request to this `FILE`; - is stderr")
	var names []string
	for _, f := range d.Faults {
		names = append(names, f.Name)
	}
	mustComplete(cmd, "fault", names...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		closeLog, err := openLog(d, logFile, &o)
		if err != nil {
			return err
		}
		defer closeLog()
		srv, err := d.StartEmulator(cmd.Context(), o)
		if err != nil {
			return err
		}
		if err := (renderer{d: d, g: g, command: commandName(cmd)}).listening(srv.URL()); err != nil {
			_ = srv.Close() // the first error is the one to tell
			return err
		}
		<-cmd.Context().Done()
		return srv.Close()
	}
	return cmd
}

func (r renderer) listening(url string) error {
	return r.items([]map[string]string{{"url": url}}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, url)
		return written(err)
	})
}

// openLog opens the request log that the person named.
func openLog(d Deps, path string, o *EmulatorOptions) (func(), error) {
	switch path {
	case "":
		return func() {}, nil
	case "-":
		o.Log = d.Streams.Err
		return func() {}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // the person's own path
	if err != nil {
		return nil, fault.Caused(fault.IOFailed, err, "the log file %s cannot be opened", path)
	}
	o.Log = f
	return func() { _ = f.Close() }, nil //nolint:errcheck // every line was written when it was logged
}

func faultList(faults []FaultDoc) string {
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "  %-20s %s\n", f.Name, f.Usage)
	}
	return strings.TrimRight(b.String(), "\n")
}
