package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"mediagen/internal/cli"
	"mediagen/internal/engine"
)

// How long a process may take to note its job as unknown and to answer: after the second signal, and after the third,
// which comes from somebody who is in a hurry.
const (
	leaveTime = 3 * time.Second
	hurryTime = 500 * time.Millisecond
)

// Main runs the program and returns its exit code. The first SIGINT, SIGTERM or SIGHUP ends waiting, the second ends
// paid requests that are under way, the third leaves almost at once.
func Main(p Process) int {
	soft, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	abort, leave := context.WithCancel(context.Background())
	defer leave()
	signals := make(chan os.Signal, 3)
	watch(signals)
	defer signal.Stop(signals)
	done := make(chan int, 1)
	go func() { done <- Run(soft, abort, p) }()
	return wait(done, signals, stop, leave)
}

// watch asks for the signals that end the program. Those that were ignored when it started, as under nohup and in the
// background of scripts, stay ignored. A closed pipe behind stdout is an error of a write, not the end: what was paid
// for still has to be told about.
func watch(signals chan<- os.Signal) {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	signal.Ignore(syscall.SIGPIPE)
}

// wait returns the program's exit code; after a second signal it does not wait for long, and after a third hardly.
func wait(done <-chan int, signals <-chan os.Signal, stop context.CancelCauseFunc, leave context.CancelFunc) int {
	var late <-chan time.Time
	code := 0
	for n := 1; ; {
		select {
		case c := <-done:
			return c
		case <-late:
			return code
		case sig := <-signals:
			kind := engine.KindTerminated
			if sig == os.Interrupt {
				kind = engine.KindInterrupted
			}
			switch n {
			case 1:
				code = cli.ExitCode(kind)
				stop(&cli.Signal{Kind: kind})
			case 2:
				leave()
				late = time.After(leaveTime)
			case 3:
				late = time.After(hurryTime)
			}
			n++
		}
	}
}
