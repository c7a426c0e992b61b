package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// said is what a server says in an error, whatever its shape.
type said struct {
	code, kind, message, param, stage string
}

// errorBody is OpenAI's error object; many servers put its fields at the top of the reply.
type errorBody struct {
	Code       word `json:"code"`
	Type       word `json:"type"`
	Message    word `json:"message"`
	Param      word `json:"param"`
	Moderation struct {
		Stage word `json:"moderation_stage"`
	} `json:"moderation_details"`
	Inner struct {
		Code word `json:"code"`
	} `json:"innererror"`
}

// word is a string that servers also send as a number or null.
type word string

// UnmarshalJSON never fails: a field that cannot be read must not cost the others.
func (w *word) UnmarshalJSON(raw []byte) error {
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil: // null too
		*w = word(text)
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		*w = word(raw)
	}
	return nil
}

func (b errorBody) said() said {
	s := said{
		code: string(b.Code), kind: string(b.Type), message: string(b.Message), param: string(b.Param),
		stage: string(b.Moderation.Stage),
	}
	if b.Inner.Code == "ResponsibleAIPolicyViolation" { // Azure's filter, under more than one outer code
		s.code = "content_filter"
	}
	return s
}

// saidIn reads the value of an "error" field: an object or a sentence. It is the zero said for null and empty values,
// which some servers send with every success.
func saidIn(raw json.RawMessage) said {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return said{message: text}
	}
	var b errorBody
	if lenient(raw, &b) != nil {
		return said{}
	}
	return b.said()
}

// listen digs the error out of a reply: OpenAI's object, FastAPI's detail, a bare message, or plain text. An HTML page
// says nothing.
func listen(body []byte, h http.Header) said {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 { // some front ends wrap the object
		body = list[0]
	}
	var reply struct {
		errorBody
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	if lenient(body, &reply) != nil {
		return said{message: sentence(body, h)}
	}
	if s := saidIn(reply.Error); s != (said{}) {
		return s
	}
	s := reply.said()
	if s.message == "" {
		s.message = detailText(reply.Detail)
	}
	return s
}

// sentence returns the plain text of gateways. Broken JSON and web pages are none, whatever they are called.
func sentence(body []byte, h http.Header) string {
	media, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if media != "text/plain" || bytes.ContainsAny(body[:min(len(body), 1)], `{["<`) {
		return ""
	}
	return string(body)
}

// detailText reads FastAPI's detail: a sentence, an object with a message, or a list of {loc, msg}. Its input field,
// which repeats what was sent, is left out.
func detailText(raw json.RawMessage) string {
	if s := saidIn(raw); s.message != "" {
		return s.message
	}
	var items []struct {
		Msg word  `json:"msg"`
		Loc []any `json:"loc"`
	}
	if lenient(raw, &items) != nil {
		return ""
	}
	parts := make([]string, 0, len(items))
	for _, it := range items {
		path := make([]string, 0, len(it.Loc))
		for _, step := range it.Loc {
			path = append(path, fmt.Sprint(step))
		}
		parts = append(parts, strings.Trim(strings.Join(path, ".")+": "+string(it.Msg), ": "))
	}
	return strings.Join(parts, "; ")
}

// lenient decodes JSON and takes a field of another type than expected for absent.
func lenient(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil
	}
	return err
}
