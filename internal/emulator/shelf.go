package emulator

import (
	"io"
	"net/http"
	"strconv"
	"sync"

	"mediagen/internal/emulator/drawing"
)

const (
	picturePath = "/emulator/pictures/"
	shelfSize   = 32 // pictures that can be fetched by address; older ones are forgotten
)

// shelf holds the last pictures that replies named by address.
type shelf struct {
	mu       sync.Mutex
	order    []string
	pictures map[string]drawing.File
}

func newShelf() *shelf { return &shelf{pictures: map[string]drawing.File{}} }

// put keeps a picture and returns its path.
func (s *shelf) put(p drawing.File) string {
	name := p.Name()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.pictures[name]; !ok {
		s.order = append(s.order, name)
	}
	s.pictures[name] = p
	if len(s.order) > shelfSize {
		delete(s.pictures, s.order[0])
		s.order = s.order[1:]
	}
	return picturePath + name
}

func (s *shelf) get(name string) (drawing.File, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pictures[name]
	return p, ok
}

func pictureRoutes() []route {
	return []route{{pattern: "GET " + picturePath + "{name}", handle: sendPicture}}
}

// sendPicture serves a picture of the shelf. Like a signed address it needs no key; the log tells whether one came.
func sendPicture(x *exchange) {
	p, ok := x.s.shelf.get(x.r.PathValue("name"))
	if !ok {
		x.fail(newAPIError(http.StatusNotFound, "invalid_request_error", "not_found", "", "no such picture"))
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", p.MIME())
	h.Set("Content-Length", strconv.FormatInt(p.Size(), 10))
	x.w.WriteHeader(http.StatusOK)
	_, _ = io.Copy(x.w, p.Open()) // a client that went away is no failure
}
