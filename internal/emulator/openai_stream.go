package emulator

import (
	"net/http"

	"mediagen/internal/emulator/drawing"
)

// eventTail is what an event carries behind its type and picture. Nil fields belong to the other kind of event.
type eventTail struct {
	CreatedAt    int64  `json:"created_at"`
	Size         string `json:"size"`
	Quality      string `json:"quality"`
	Background   string `json:"background"`
	OutputFormat string `json:"output_format"`

	PartialIndex *int    `json:"partial_image_index,omitempty"`
	Usage        *usage  `json:"usage,omitempty"`
	Safety       *string `json:"safety_identifier,omitempty"`
}

// stream sends n pictures as server-sent events: for each its partial images and then completed.
func (x *exchange) stream(j *imageJob, n int) {
	var out *body
	for i := range n {
		img, err := x.s.painter.Paint(j.sketch(i))
		if err != nil {
			x.breakOff(out, j)
			return
		}
		for k := range j.params.Partials {
			pic, err := x.encode(j, drawing.Coarse(img, maxPartials-j.params.Partials+k+1))
			if err != nil {
				x.breakOff(out, j)
				return
			}
			out = x.openStream(out, j, n, pic)
			x.event(out, j, "partial_image", pic, eventTail{PartialIndex: &k})
		}
		pic, err := x.encode(j, img)
		if err != nil {
			x.breakOff(out, j)
			return
		}
		out = x.openStream(out, j, n, pic)
		if x.spoilStream(out) {
			return
		}
		u := countUsage(x.s.catalog, j.params, j.inputs(), 1, i == 0)
		x.event(out, j, "completed", pic, eventTail{Usage: &u, Safety: orNull(j.params.Safety)})
		if out.err != nil {
			x.hangUp()
			return
		}
	}
	x.openStream(out, j, n, drawing.File{})
}

// openStream sends the headers once there is something to send.
func (x *exchange) openStream(out *body, j *imageJob, n int, first drawing.File) *body {
	if out != nil {
		return out
	}
	x.w.Header().Set("Content-Type", "text/event-stream")
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	return x.newBody(int64(n*(1+j.params.Partials)) * base64Len(first.Size()))
}

// event sends one event with a picture and flushes it.
func (x *exchange) event(out *body, j *imageJob, suffix string, pic drawing.File, tail eventTail) {
	p := j.params
	tail.CreatedAt, tail.Size, tail.Quality = x.s.now().Unix(), p.Size, p.Quality
	tail.Background, tail.OutputFormat = p.Background, p.Format
	name := j.event(suffix)
	out.text([]byte("event: " + name + "\ndata: {\"type\":\"" + name + "\",\"b64_json\":\""))
	out.base64(pic, -1)
	out.text([]byte("\","))
	out.text(encodeJSON(tail)[1:])
	out.text([]byte("\n\n"))
	if out.err == nil {
		out.err = http.NewResponseController(x.w).Flush()
	}
}

// spoilStream ends the stream in place of completed if a fault asks for it.
func (x *exchange) spoilStream(out *body) bool {
	switch {
	case x.plan.streamError:
		e := newAPIError(0, "server_error", "server_error", "", "the server had an error while it drew the picture")
		out.text([]byte("event: error\ndata: "))
		out.text(encodeJSON(map[string]any{"type": "error", "error": e}))
		out.text([]byte("\n\n"))
	case x.plan.cutStream != cutNone:
		x.end(x.plan.cutStream)
	default:
		return false
	}
	return true
}

// breakOff answers for a picture that cannot be drawn: with an error before the first byte, else by hanging up.
func (x *exchange) breakOff(out *body, j *imageJob) {
	if out == nil {
		x.fail(serverFault("cannot draw this picture as %s", j.params.Format))
		return
	}
	x.hangUp()
}
