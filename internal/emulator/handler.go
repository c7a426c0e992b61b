package emulator

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"mediagen/internal/catalog"
	"mediagen/internal/emulator/drawing"
)

// service is everything that requests share.
type service struct {
	now     func() time.Time
	log     *requestLog
	faults  *faultBook
	painter *drawing.Painter
	catalog *catalog.Catalog // for the tokens of pictures
	shelf   *shelf
	serial  atomic.Int64

	// foreignOrigin names an origin other than the request's, for the fault url-foreign.
	foreignOrigin func(context.Context) (string, error)
}

// route is one line of the route table.
type route struct {
	pattern string // of http.ServeMux
	api     bool   // wants a key and can be hit by faults
	create  bool   // has a body: its faults are taken once the prompt is known
	handle  func(*exchange)
}

func newService(o Options) (*service, error) {
	for _, f := range o.Faults {
		if err := f.check(); err != nil {
			return nil, err
		}
	}
	p, err := drawing.New()
	if err != nil {
		return nil, err
	}
	cat, err := catalog.New(nil)
	if err != nil {
		return nil, err
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	return &service{
		now:     now,
		log:     &requestLog{w: o.Log},
		faults:  newFaultBook(o.Faults),
		painter: p,
		catalog: cat,
		shelf:   newShelf(),
		foreignOrigin: func(context.Context) (string, error) {
			return "http://pictures.emulator.invalid", nil
		},
	}, nil
}

// handler serves the whole route table. One file holds one family of routes.
func (s *service) handler() http.Handler {
	return s.serveRoutes(slices.Concat(openAIModelRoutes(), openAIImageRoutes(), pictureRoutes()))
}

// pictureHandler serves nothing but pictures: the second origin of the fault url-foreign.
func (s *service) pictureHandler() http.Handler { return s.serveRoutes(pictureRoutes()) }

func (s *service) serveRoutes(routes []route) http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.Handle(rt.pattern, s.serve(rt))
	}
	mux.Handle("/", s.serve(route{handle: unknownRoute}))
	return mux
}

// serve runs what every request goes through before and after its route.
func (s *service) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := newExchange(s, w, r)
		switch {
		case !hostIsLoopback(r.Host):
			// A web page can point its own name at this address; its requests then carry that name (DNS rebinding).
			x.fail(badRequest("", "host_not_loopback", "the Host header must name a loopback address").at(http.StatusForbidden))
		case rt.api && !x.hasKey():
			x.fail(missingKey())
		case rt.api:
			x.serveAPI(rt)
		default:
			rt.handle(x)
		}
	})
}

// serveAPI takes the faults that need no look at the body, then runs the route.
func (x *exchange) serveAPI(rt route) {
	if err := x.readFaultHeader(); err != nil {
		x.fail(err)
		return
	}
	hit := x.takeFault(func(d faultDef) bool { return d.early || !rt.create && d.anyRoute })
	if hit && x.plan.instead != nil {
		x.plan.instead(x)
		return
	}
	rt.handle(x)
}

// hostIsLoopback reports whether a Host header names this machine.
func hostIsLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if len(host) > 2 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	return isLoopback(host)
}

// nextRequestID returns a request id that nobody takes for a vendor's.
func (s *service) nextRequestID() string {
	return fmt.Sprintf("req_emulated_%08d", s.serial.Add(1))
}

// millis formats a duration for the header openai-processing-ms.
func millis(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 0), 10) }
