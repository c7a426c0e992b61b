package emulator

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	picturePath = "/emulator/pictures/"
	shelfSize   = 32 // pictures that can be fetched by address; older ones are forgotten
)

// shelf holds the last pictures that replies named by address.
type shelf struct {
	mu       sync.Mutex
	order    []string
	pictures map[string]picture
}

func newShelf() *shelf { return &shelf{pictures: map[string]picture{}} }

// put keeps a picture and returns its path.
func (s *shelf) put(p picture) string {
	name := digest(string(p.data)) + "-" + strconv.FormatInt(p.pad, 10) + "." + p.format
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

func (s *shelf) get(name string) (picture, bool) {
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
	h.Set("Content-Type", mimeOf(p.format))
	h.Set("Content-Length", strconv.FormatInt(p.size(), 10))
	x.w.WriteHeader(http.StatusOK)
	_, _ = io.Copy(x.w, p.open()) // a client that went away is no failure
}

func mimeOf(format string) string {
	if format == "svg" {
		return "image/svg+xml"
	}
	return "image/" + strings.ToLower(format)
}
