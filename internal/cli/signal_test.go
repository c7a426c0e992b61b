package cli_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
)

func doctorSays(r cli.Report, err error) func(context.Context, *pflag.FlagSet) (cli.Report, error) {
	return func(context.Context, *pflag.FlagSet) (cli.Report, error) { return r, err }
}

// TestSignals ends every command with the signal's code, in the object too, whether the command got to its end or not.
func TestSignals(t *testing.T) {
	t.Parallel()
	for kind, code := range map[engine.Kind]int{engine.KindInterrupted: 130, engine.KindTerminated: 143} {
		for _, line := range commands() {
			b := newBench(t, "").ready()
			b.ctx = signalled(t, kind)
			b.wants(code, strings.Fields(line)...)
			if !strings.Contains(b.errOut.String(), "mediagen: ") {
				t.Errorf("%s: nothing was said", line)
			}
			b.wants(code, append(strings.Fields(line), "--json")...)
			if r := b.reply(); r.OK || r.Error.Exit != code || r.Error.Kind != string(kind) {
				t.Errorf("%s: %s", line, b.out)
			}
		}
	}
}

// TestSignalDuringPaidCall lets the call run to its end: its pictures are told, and then the exit code.
func TestSignalDuringPaidCall(t *testing.T) {
	t.Parallel()
	for _, quiet := range []bool{false, true} {
		ctx, stop := context.WithCancelCause(t.Context())
		b := newBench(t, "")
		b.ctx = ctx
		b.eng.events = []engine.Event{{Kind: engine.EventSent, Total: 1}}
		b.eng.during = func() { stop(&cli.Signal{Kind: engine.KindInterrupted}) }
		args := []string{"images", "generate", "x"}
		if quiet {
			args = append(args, "-q")
		}
		b.wants(130, args...)
		if got := b.out.String(); got != "out/a.png\n" {
			t.Errorf("stdout %q", got)
		}
		if n := strings.Count(b.errOut.String(), "runs to its end"); n != 1 {
			t.Errorf("quiet %v: explained %d times: %s", quiet, n, b.errOut)
		}
	}
}

// TestSignalKinds keeps what went wrong, under the signal's code; only what the signal itself cut short takes its name.
func TestSignalKinds(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		kind string
	}{
		{engine.Errorf(engine.KindUnknownOutcome, "no_answer", "no answer").Bill(engine.BilledMaybe), "unknown_outcome"},
		{engine.Errorf(engine.KindUnknownOutcome, "no_answer", "no answer").WithCause(context.Canceled), "unknown_outcome"},
		{engine.Errorf(engine.KindInterrupted, "interrupted", "stopped"), "terminated"},
		{context.Canceled, "terminated"},
	} {
		b := newBench(t, "")
		b.ctx = signalled(t, engine.KindTerminated)
		b.eng.err = tc.err
		b.wants(143, "images", "generate", "--json", "x")
		if r := b.reply(); r.Error.Kind != tc.kind || r.Error.Exit != 143 || len(r.Assets) != 1 {
			t.Errorf("%v: %s", tc.err, b.out)
		}
		b.wants(143, "images", "generate", "x")
		if !strings.Contains(b.errOut.String(), tc.err.Error()) {
			t.Errorf("stderr: %s", b.errOut)
		}
	}
}

// TestSignalWhilePromptIsRead does not wait for a person who types nothing.
func TestSignalWhilePromptIsRead(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	ctx, stop := context.WithCancelCause(t.Context())
	b := newBench(t, "")
	b.ctx = ctx
	b.deps.Streams.In = r
	go func() {
		_, _ = w.Write([]byte("half a prompt"))
		stop(&cli.Signal{Kind: engine.KindInterrupted})
	}()
	b.wants(130, "images", "generate", "--json", "-")
	if rep := b.reply(); rep.Error.Kind != "interrupted" || !strings.Contains(rep.Error.Message, "nothing was sent") {
		t.Errorf("%s", b.out)
	}
	if len(b.eng.calls) != 0 {
		t.Error("half a prompt was sent")
	}
}

// TestTimeoutWhilePromptIsRead is a time limit, not a signal.
func TestTimeoutWhilePromptIsRead(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	b := newBench(t, "")
	b.deps.Streams.In = r
	b.session.Timeout = time.Millisecond
	b.wants(7, "images", "generate", "-")
	if !strings.Contains(b.errOut.String(), "time limit") {
		t.Errorf("stderr: %s", b.errOut)
	}
}

// TestTimeoutReachesTheEngine bounds every command that asks the engine.
func TestTimeoutReachesTheEngine(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	b.session.Timeout = time.Nanosecond
	b.wants(1, "jobs", "list")
	if !strings.Contains(b.errOut.String(), "deadline") {
		t.Errorf("stderr: %s", b.errOut)
	}
}

func TestSignalOf(t *testing.T) {
	t.Parallel()
	if s := cli.SignalOf(t.Context()); s != nil {
		t.Errorf("%v without a signal", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s := cli.SignalOf(ctx); s != nil {
		t.Errorf("%v after a plain cancel", s)
	}
	if s := cli.SignalOf(signalled(t, engine.KindTerminated)); s == nil || s.Error() != "terminated" {
		t.Errorf("got %v", s)
	}
}

// TestInterruptible hands through what comes, in pieces of any size, and every error.
func TestInterruptible(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 10_000)
	r := cli.Interruptible(t.Context(), io.MultiReader(strings.NewReader(text), failing{errors.New("torn")}))
	var got []byte
	buf := make([]byte, 7)
	for {
		n, err := r.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			if err.Error() != "torn" {
				t.Errorf("error %v", err)
			}
			break
		}
	}
	if string(got) != text {
		t.Errorf("%d bytes came, want %d", len(got), len(text))
	}
	if _, err := r.Read(buf); err == nil || err.Error() != "torn" {
		t.Errorf("after the end: %v", err)
	}
	gone := cli.Interruptible(signalled(t, engine.KindInterrupted), strings.NewReader("x"))
	if n, err := gone.Read(buf); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v after the context ended", n, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
