package emulator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"time"
)

// exchange is one request and its reply.
type exchange struct {
	s          *service
	w          *replyWriter
	r          *http.Request
	candidates []candidate
	plan       plan
	entry      entry
}

// replyWriter calls before once, ahead of the first byte of the reply: a client that has an answer finds its line in
// the log.
type replyWriter struct {
	http.ResponseWriter
	before func(status int)
	begun  bool
}

func newExchange(s *service, w http.ResponseWriter, r *http.Request) *exchange {
	start := s.now()
	id := s.nextRequestID()
	x := &exchange{s: s, r: r, entry: entry{
		Time: start.UTC(), Method: r.Method, Path: clip(r.URL.Path, 200), RequestID: id, Credential: credential(r),
	}}
	x.w = &replyWriter{ResponseWriter: w, before: func(status int) {
		w.Header().Set("Openai-Processing-Ms", millis(s.now().Sub(start)))
		x.entry.Status = status
		s.log.write(x.entry)
	}}
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("Server", "mediagen-emulator")
	return x
}

// WriteHeader sends the status, after the log line.
func (w *replyWriter) WriteHeader(status int) {
	w.begin(status)
	w.ResponseWriter.WriteHeader(status)
}

// Write sends bytes of the body.
func (w *replyWriter) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach Flush and Hijack.
func (w *replyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *replyWriter) begin(status int) {
	if !w.begun {
		w.begun = true
		w.before(status)
	}
}

// credential names the header that carries a key, in the order in which OpenAI and Azure look.
func credential(r *http.Request) string {
	switch {
	case r.Header.Get("Authorization") != "":
		return "authorization"
	case r.Header.Get("Api-Key") != "":
		return "api-key"
	}
	return ""
}

// hasKey reports whether the request carries any key at all; which one does not matter here.
func (x *exchange) hasKey() bool { return x.entry.Credential != "" }

// sendJSON answers with a JSON body of known length. The emulator's values always encode.
func (x *exchange) sendJSON(status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(x.w, "emulator: reply cannot be encoded", http.StatusInternalServerError)
		return
	}
	x.send(status, "application/json", body)
}

// send answers with a body of known length. A client that went away is no failure of the emulator.
func (x *exchange) send(status int, contentType string, body []byte) {
	x.w.Header().Set("Content-Type", contentType)
	x.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
}

// reset ends the connection with a TCP reset and no reply.
func (x *exchange) reset() {
	x.w.begin(0)
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// hangUp ends the connection in the middle of a reply, after what was written so far has left.
func (x *exchange) hangUp() {
	rc := http.NewResponseController(x.w)
	_ = rc.Flush()
	conn, _, err := rc.Hijack()
	if err != nil {
		return
	}
	_ = conn.Close()
}

// wait pauses for a fault. It reports false when the client went away first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// digest returns the first 16 hex digits of the SHA-256 of s.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
