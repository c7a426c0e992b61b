package emulator

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// entry is one line of the request log. It has no place for a prompt, a key or a picture.
type entry struct {
	Time       time.Time   `json:"time"`
	Method     string      `json:"method"`
	Path       string      `json:"path"`   // without query
	Status     int         `json:"status"` // 0: the connection was cut before a status
	RequestID  string      `json:"request_id"`
	Fault      string      `json:"fault,omitempty"`
	Credential string      `json:"credential,omitempty"` // which header carried a key, never the key
	Model      string      `json:"model,omitempty"`
	N          int         `json:"n,omitempty"`
	Stream     bool        `json:"stream,omitempty"`
	Prompt     *promptMark `json:"prompt,omitempty"`
	Parts      []partMark  `json:"parts,omitempty"`
}

// promptMark tells prompts apart without holding one.
type promptMark struct {
	Chars  int    `json:"chars"`
	SHA256 string `json:"sha256"` // first 16 hex digits
}

// partMark describes one part of a multipart body.
type partMark struct {
	Name        string `json:"name"`
	Filename    string `json:"filename,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Bytes       int64  `json:"bytes"`
}

// requestLog writes entries as JSON lines. The first failed write ends the log and is reported by close.
type requestLog struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (l *requestLog) write(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil || l.err != nil {
		return
	}
	if err := json.NewEncoder(l.w).Encode(e); err != nil {
		l.err = fmt.Errorf("write request log: %w", err)
	}
}

// close ends the log and returns the error that ended it before, if any.
func (l *requestLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w = nil
	return l.err
}
