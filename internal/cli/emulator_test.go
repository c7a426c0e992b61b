package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

type fakeServer struct {
	closed *int
	err    error
}

func (s fakeServer) URL() string { return "http://127.0.0.1:4711" }
func (s fakeServer) Close() error {
	*s.closed++
	return s.err
}

func fakeEmulator(closed *int) func(context.Context, cli.EmulatorOptions) (cli.Emulator, error) {
	return func(context.Context, cli.EmulatorOptions) (cli.Emulator, error) {
		return fakeServer{closed: closed}, nil
	}
}

// TestEmulator prints the address, serves until a signal comes, and calls that a good end.
func TestEmulator(t *testing.T) {
	t.Parallel()
	for _, kind := range []engine.Kind{engine.KindInterrupted, engine.KindTerminated} {
		closed := 0
		b := newBench(t, "")
		b.ctx = signalled(t, kind)
		b.deps.StartEmulator = fakeEmulator(&closed)
		b.wants(0, "emulator")
		if b.out.String() != "http://127.0.0.1:4711\n" || b.errOut.Len() != 0 || closed != 1 {
			t.Errorf("stdout %q, stderr %q, closed %d times", b.out, b.errOut, closed)
		}
		b.wants(0, "emulator", "--json")
		if r := b.reply(); !r.OK || r.Items[0]["url"] != "http://127.0.0.1:4711" {
			t.Errorf("%s", b.out)
		}
	}
}

// TestEmulatorForPeople tells a person at a terminal what to do with the address.
func TestEmulatorForPeople(t *testing.T) {
	t.Parallel()
	closed := 0
	b := newBench(t, "")
	b.ctx = signalled(t, engine.KindInterrupted)
	b.deps.StartEmulator = fakeEmulator(&closed)
	b.deps.Streams.ErrTTY = true
	b.wants(0, "emulator")
	if !strings.Contains(b.errOut.String(), "OPENAI_BASE_URL=http://127.0.0.1:4711/v1") {
		t.Errorf("stderr %q", b.errOut)
	}
	b.wants(0, "emulator", "-q")
	if b.errOut.Len() != 0 {
		t.Errorf("-q still says %q", b.errOut)
	}
}

func TestEmulatorFlags(t *testing.T) {
	t.Parallel()
	var got cli.EmulatorOptions
	b := newBench(t, "")
	b.deps.StartEmulator = func(ctx context.Context, o cli.EmulatorOptions) (cli.Emulator, error) {
		got = o
		if ctx.Done() != nil {
			t.Error("a signal would tear the connections of the emulator before its end is asked for")
		}
		return nil, fault.New(fault.InvalidArgument, "not loopback")
	}
	b.wants(2, "emulator", "--addr", "0.0.0.0:1", "--fault", "slow:1s", "--fault", "a,b", "--log", "l.jsonl")
	want := cli.EmulatorOptions{Addr: "0.0.0.0:1", Faults: []string{"slow:1s", "a,b"}, Log: "l.jsonl"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// TestEmulatorEndsBadly when it could not serve or log.
func TestEmulatorEndsBadly(t *testing.T) {
	t.Parallel()
	closed := 0
	b := newBench(t, "")
	b.ctx = signalled(t, engine.KindInterrupted)
	b.deps.StartEmulator = func(context.Context, cli.EmulatorOptions) (cli.Emulator, error) {
		return fakeServer{closed: &closed, err: errors.New("the log is full")}, nil
	}
	b.wants(1, "emulator")
	if !strings.Contains(b.errOut.String(), "the log is full") {
		t.Errorf("stderr: %s", b.errOut)
	}
}
