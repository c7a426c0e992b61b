package emulator

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"mediagen/internal/fault"
)

// Options say how the emulator runs. The zero value listens on a free loopback port without faults or log.
type Options struct {
	Addr   string           // "127.0.0.1:0" when empty; only loopback addresses are bound
	Faults []Fault          // asked of every request; the first that is not used up answers
	Log    io.Writer        // one JSON line a request; nil = none
	Now    func() time.Time // nil = time.Now
}

// Server is a running emulator.
type Server struct {
	service *service
	url     string

	mu        sync.Mutex
	listeners []*listener
	stop      func() bool // ends the watch on the context
	closed    bool
	closeErr  error
}

// listener is one bound port and the goroutine that serves it.
type listener struct {
	http *http.Server
	addr *net.TCPAddr
	done chan error
}

// Start binds the address and serves until ctx ends or Close is called. An address that is not loopback and a fault
// that is not known are fault.InvalidArgument; an address that cannot be bound is fault.IOFailed.
func Start(ctx context.Context, o Options) (*Server, error) {
	svc, err := newService(o)
	if err != nil {
		return nil, err
	}
	s := &Server{service: svc}
	svc.foreignOrigin = s.foreignOrigin
	ln, err := s.listen(ctx, o.Addr, svc.handler())
	if err != nil {
		return nil, err
	}
	s.url = "http://" + ln.addr.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = context.AfterFunc(ctx, func() { _ = s.Close() }) // the caller's own Close reports the error
	return s, nil
}

// NewHandler returns the emulator without a listener, for tests that wrap it. The fault url-foreign then names a host
// that does not exist instead of a second listener, and nobody is told when the log cannot be written.
func NewHandler(o Options) (http.Handler, error) {
	svc, err := newService(o)
	if err != nil {
		return nil, err
	}
	return svc.handler(), nil
}

// URL returns the origin, "http://127.0.0.1:PORT", without a path. Clients append /v1.
func (s *Server) URL() string { return s.url }

// Handler returns what the server serves, for tests that wrap it.
func (s *Server) Handler() http.Handler { return s.service.handler() }

// Close ends all connections, waits for the listeners and leaves Options.Log alone from then on. It reports what went
// wrong while serving or logging. Calling it again returns the same.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.closeErr
	}
	s.closed = true
	s.stop()
	errs := []error{s.service.log.close()}
	for _, ln := range s.listeners {
		errs = append(errs, ln.http.Close(), <-ln.done)
	}
	s.closeErr = errors.Join(errs...)
	return s.closeErr
}

// foreignOrigin opens the second listener, which serves nothing but pictures, and returns its origin.
func (s *Server) foreignOrigin(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", fault.New(fault.IOFailed, "emulator is closed")
	}
	if len(s.listeners) < 2 {
		if _, err := s.listenLocked(ctx, "", s.service.pictureHandler()); err != nil {
			return "", err
		}
	}
	return "http://" + s.listeners[1].addr.String(), nil
}

// listen binds a loopback address and serves h on it.
func (s *Server) listen(ctx context.Context, addr string, h http.Handler) (*listener, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listenLocked(ctx, addr, h)
}

func (s *Server) listenLocked(ctx context.Context, addr string, h http.Handler) (*listener, error) {
	addr, err := loopbackAddr(addr)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // which leaves out the address
	}
	if err != nil {
		return nil, fault.New(fault.IOFailed, "cannot listen on %s: %w", addr, err)
	}
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return nil, errors.Join(fault.New(fault.InvalidArgument, "%s is not a loopback address", addr), l.Close())
	}
	ln := &listener{
		http: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second},
		addr: tcp,
		done: make(chan error, 1),
	}
	go func() { ln.done <- serveError(ln.http.Serve(l)) }()
	s.listeners = append(s.listeners, ln)
	return ln, nil
}

// serveError drops the error that means an orderly end.
func serveError(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// loopbackAddr returns addr with a literal loopback address. Names other than localhost are refused, for a name may
// resolve to anything.
func loopbackAddr(addr string) (string, error) {
	if addr == "" {
		return "127.0.0.1:0", nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fault.New(fault.InvalidArgument,
			"address %q must be HOST:PORT, for example 127.0.0.1:8080", clip(addr, 80))
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if !isLoopback(host) {
		return "", fault.New(fault.InvalidArgument,
			"address %q is not loopback; the emulator listens on 127.0.0.1, [::1] or localhost only", clip(addr, 80))
	}
	return net.JoinHostPort(host, port), nil
}

// isLoopback reports whether host is localhost or a literal loopback address.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
