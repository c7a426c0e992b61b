package app

import (
	"context"
	"errors"
	"io"
	"os"

	"mediagen/internal/cli"
	"mediagen/internal/emulator"
	"mediagen/internal/fault"
)

// served is an emulator with the log that it writes.
type served struct {
	*emulator.Server

	log io.Closer // nil when there is nothing to close
}

// Close ends the emulator and then its log.
func (s *served) Close() error {
	err := s.Server.Close()
	if s.log == nil {
		return err
	}
	return errors.Join(err, s.log.Close())
}

// startEmulator serves the emulator until it is closed.
func (a *app) startEmulator(ctx context.Context, o cli.EmulatorOptions) (cli.Emulator, error) {
	opt := emulator.Options{Addr: o.Addr, Now: a.Now}
	for _, spec := range o.Faults {
		f, err := emulator.ParseFault(spec)
		if err != nil {
			return nil, err
		}
		opt.Faults = append(opt.Faults, f)
	}
	s := &served{}
	switch o.Log {
	case "":
	case "-":
		opt.Log = a.Streams.Err
	default:
		if !opens(o.Log, true) {
			return nil, fault.New(fault.InvalidArgument, "the log %s is not a regular file; name a file, or - for stderr", o.Log)
		}
		f, err := os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fault.Caused(fault.IOFailed, err, "the log file %s cannot be opened", o.Log)
		}
		opt.Log, s.log = f, f
	}
	srv, err := emulator.Start(ctx, opt)
	if err != nil {
		if s.log != nil {
			_ = s.log.Close() // nothing was written; the first error is the one to tell
		}
		return nil, err
	}
	s.Server = srv
	return s, nil
}

func faultDocs() []cli.FaultDoc {
	var docs []cli.FaultDoc
	for _, f := range emulator.FaultDocs() {
		docs = append(docs, cli.FaultDoc{Name: f.Name, Usage: f.Usage})
	}
	return docs
}
