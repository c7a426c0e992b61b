package emulator

import (
	"bytes"
	"encoding/json"
	"strconv"

	"mediagen/internal/emulator/drawing"
)

// replyHead and replyTail are the parts of an images reply around its data list. The counts come behind the pictures,
// as they do at OpenAI.
type replyHead struct {
	Created    int64  `json:"created"`
	Background string `json:"background"`
}

type replyTail struct {
	OutputFormat string  `json:"output_format"`
	Quality      string  `json:"quality"`
	Size         string  `json:"size"`
	Safety       *string `json:"safety_identifier"`
	Usage        usage   `json:"usage"`

	SVG *svgUsage `json:"svg_usage,omitempty"`
}

// reply draws the pictures of a job and sends them as JSON or as a stream.
func (x *exchange) reply(j *imageJob) {
	n := j.params.N
	if x.plan.fewer {
		n--
	}
	if x.plan.empty {
		n = 0
	}
	if j.params.ResponseURL && x.plan.asURL == urlNone {
		x.plan.asURL = urlSameOrigin
	}
	if j.params.Stream && !x.plan.jsonForStream {
		x.stream(j, n)
		return
	}
	x.replyJSON(j, n)
}

// replyJSON sends the pictures one after another; only one is in memory at a time. The first is drawn before the
// status line, so that a build that cannot write the format says so with a status.
func (x *exchange) replyJSON(j *imageJob, n int) {
	var pic drawing.File
	if n > 0 {
		var err error
		if pic, err = x.draw(j, 0); err != nil {
			x.fail(serverFault("cannot draw this picture as %s", j.params.Format))
			return
		}
	}
	head, tail := x.envelope(j, n)
	if n == 1 && x.plan.plainBase64() {
		length := int64(len(head)+len(b64Open)+len(b64Close)+len(tail)) + base64Len(pic.Size())
		x.w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	}
	x.w.Header().Set("Content-Type", "application/json")
	out := x.newBody(int64(n) * base64Len(pic.Size()))
	out.text(head)
	for i := range n {
		if i > 0 {
			var err error
			if pic, err = x.draw(j, i); err != nil {
				x.hangUp()
				return
			}
			out.text([]byte(","))
		}
		if last := n == 1 || i == 1; x.plan.truncate != cutNone && last {
			out.text([]byte(b64Open))
			out.base64(pic, base64Len(pic.Size())/2)
			x.end(x.plan.truncate)
			return
		}
		x.item(out, pic)
		if out.err != nil {
			x.hangUp()
			return
		}
	}
	out.text(tail)
}

const (
	b64Open  = `{"b64_json":"`
	b64Close = `"}`
)

// plainBase64 reports whether the length of a picture in the reply follows from its size.
func (p plan) plainBase64() bool {
	return p.asURL == urlNone && !p.dataPrefix && !p.escape && p.truncate == cutNone
}

// end ends a reply that is not complete.
func (x *exchange) end(how cut) {
	if how == cutReset {
		x.hangUp()
	}
}

// envelope returns the JSON before and behind the items of the data list.
func (x *exchange) envelope(j *imageJob, n int) (head, tail []byte) {
	p := j.params
	u := countUsage(x.s.catalog, p, j.inputs(), n, true)
	u.OutputDetails = &usageDetails{Image: u.Output}
	head = encodeJSON(replyHead{Created: x.s.now().Unix(), Background: p.Background})
	tail = encodeJSON(replyTail{
		OutputFormat: p.Format, Quality: p.Quality, Size: p.Size, Safety: orNull(p.Safety), Usage: u, SVG: svgUsageOf(p),
	})
	head = append(head[:len(head)-1], `,"data":[`...)
	return head, append([]byte("],"), tail[1:]...)
}

// encodeJSON encodes a value of the emulator's own types, none of which can fail, and without HTML escapes.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// item sends one element of the data list.
func (x *exchange) item(out *body, pic drawing.File) {
	if x.plan.asURL == urlNone {
		out.text([]byte(b64Open))
		out.base64(pic, -1)
		out.text([]byte(b64Close))
		return
	}
	address, err := x.address(pic)
	if err != nil {
		out.err = err
		return
	}
	out.text(encodeJSON(map[string]string{"url": address}))
}

// address puts a picture on the shelf and names it in the way the plan asks for.
func (x *exchange) address(pic drawing.File) (string, error) {
	path := x.s.shelf.put(pic)
	switch x.plan.asURL {
	case urlRelative:
		return path, nil
	case urlForeign:
		origin := x.plan.foreignAt
		if origin == "" {
			var err error
			if origin, err = x.s.foreignOrigin(x.r.Context()); err != nil {
				return "", err
			}
		}
		return origin + path + "?sig=emulated", nil // signed addresses must not end up in a log
	default:
		return "http://" + x.r.Host + path, nil
	}
}
