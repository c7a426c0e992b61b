package openai_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
)

const sseType = "text/event-stream"

// stream asks for partials and returns what came.
func stream(t *testing.T, srv *server, out engine.ImageSink) (engine.ImageReply, error) {
	t.Helper()
	call := engine.ImageCall{Prompt: "a fox in the snow", Model: "m", Partials: 2, N: 2}
	return client(t, srv.URL).GenerateImages(t.Context(), call, out)
}

// ev builds one event in the order in which OpenAI sends it.
func ev(kind, b64 string) string {
	return "event: image_generation." + kind + "\ndata: {\"type\":\"image_generation." + kind + "\",\"b64_json\":\"" +
		b64 + "\"}\n\n"
}

func TestStreamsOfManyShapes(t *testing.T) {
	t.Parallel()
	slot := func(index, partial int) engine.Slot { return engine.Slot{Index: index, Partial: partial} }
	data := func(kind, b64 string) string {
		return "data: {\"type\":\"image_generation." + kind + "\",\"b64_json\":\"" + b64 + "\"}\n\n"
	}
	usual := ev("partial_image", b3) + ev("completed", b1)
	tests := []struct {
		name, kind, body string
		want             map[engine.Slot][]byte
	}{
		{"as OpenAI sends it", sseType, usual, map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one}},
		{
			"with parameters in the content type", "Text/Event-Stream; charset=utf-8", usual,
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{"with the content type of JSON", jsonType, usual, map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one}},
		{
			"data only, with the content type of text", "text/plain", data("completed", b1),
			map[engine.Slot][]byte{slot(0, 0): one},
		},
		{
			"a pulse first, without a content type", "", ": hello\n\n" + data("completed", b1),
			map[engine.Slot][]byte{slot(0, 0): one},
		},
		{
			"without event lines", sseType, data("partial_image", b3) + data("completed", b1),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{
			"CRLF", sseType, strings.ReplaceAll(usual, "\n", "\r\n"),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{"CR", sseType, strings.ReplaceAll(usual, "\n", "\r"), map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one}},
		{"a byte order mark", sseType, "\ufeff" + usual, map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one}},
		{
			"no space behind the colon", sseType, strings.ReplaceAll(usual, ": ", ":"),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{
			"more than one space", sseType, strings.ReplaceAll(usual, "data: ", "data:   "),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{
			"no line end behind the last event", sseType, strings.TrimSpace(usual),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{
			"comments, ids, unknown fields and pulses", sseType,
			":ping\n\nid: 1\nretry: 5\nfoo\nbar: x\n\n:" + strings.Repeat("p", 100_000) +
				"\ndata: ping\n\ndata:\n\ndata\n\n" + usual + "data: [DONE]\n\n",
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{
			"JSON over several data lines", sseType,
			"event: image_generation.partial_image\ndata: {\ndata:  \"b64_json\"\ndata\n: between\ndata: : \"" + b3 +
				"\"\nid: 7\ndata: }\n\n" + ev("completed", b1),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{
			"the event line behind the data", sseType,
			"data: {\"b64_json\":\"" + b1 + "\"}\nevent: image_generation.completed\n\n",
			map[engine.Slot][]byte{slot(0, 0): one},
		},
		{
			"the name of one event does not reach the next", sseType,
			"event: image_generation.partial_image\n\ndata: {\"b64_json\":\"" + b1 + "\"}\n\n",
			map[engine.Slot][]byte{slot(0, 0): one},
		},
		{
			"two pictures, each with partials", sseType,
			ev("partial_image", b3) + ev("partial_image", b2) + ev("completed", b1) +
				ev("partial_image", b1) + ev("completed", b2),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 2): two, slot(0, 0): one, slot(1, 1): one, slot(1, 0): two},
		},
		{
			"two pictures whose partials come together", sseType,
			ev("partial_image", b3) + ev("partial_image", b2) + ev("completed", b1) + ev("completed", b2),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 2): two, slot(0, 0): one, slot(1, 0): two},
		},
		{
			"only final pictures", sseType, ev("completed", b1) + ev("completed", b2) + ev("completed", b3),
			map[engine.Slot][]byte{slot(0, 0): one, slot(1, 0): two, slot(2, 0): three},
		},
		{
			"a list of two in one event, then another", sseType,
			"data: {\"data\":[{\"b64_json\":\"" + b1 + "\"},{\"b64_json\":\"" + b2 + "\"}]}\n\n" + data("completed", b3),
			map[engine.Slot][]byte{slot(0, 0): one, slot(1, 0): two, slot(2, 0): three},
		},
		{
			"events without a picture between them", sseType,
			"data: {\"object\":\"image.edit.chunk\",\"type\":\"ar_delta\",\"delta\":\"abc\"}\n\n" +
				data("completed", b1) + "data: {\"type\":\"done\",\"data\":null}\n\n",
			map[engine.Slot][]byte{slot(0, 0): one},
		},
		{
			"the edit's names", sseType, strings.ReplaceAll(usual, "image_generation", "image_edit"),
			map[engine.Slot][]byte{slot(0, 1): three, slot(0, 0): one},
		},
		{
			"a partial that cannot be decoded", sseType, ev("partial_image", "A*AA") + ev("completed", b1),
			map[engine.Slot][]byte{slot(0, 0): one},
		},
		{
			"a partial that says so behind its picture", sseType, // it cannot be told in time, and nothing may be lost
			"data: {\"b64_json\":\"" + b3 + "\",\"type\":\"image_generation.partial_image\"}\n\n" + ev("completed", b1),
			map[engine.Slot][]byte{slot(0, 0): three, slot(1, 0): one},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, out := answering(t, 200, tt.kind, tt.body), newSink()
			if _, err := stream(t, srv, out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.saved); diff != "" {
				t.Error(diff)
			}
			if out.open > 0 || (len(out.warnings) > 0) != strings.Contains(tt.name, "decoded") {
				t.Errorf("%d open, warnings %v", out.open, out.warnings)
			}
		})
	}
}

func TestStreamsThatDoNotEndWell(t *testing.T) {
	t.Parallel()
	brokeOff := "the reply broke off before it was complete; it may have been billed"
	tests := []struct {
		name, body string
		want       outcome
		message    string
		saved      []engine.Slot
	}{
		{"no event", ": ping\n\n", unknownOutcome, brokeOff, nil},
		{"a picture behind [DONE]", "data: [DONE]\n\n" + ev("completed", b1), unknownOutcome, brokeOff, nil},
		{"only [DONE]", "data: [DONE]\n\n", unknownOutcome, brokeOff, nil},
		{"only a partial", ev("partial_image", b1), unknownOutcome, brokeOff, []engine.Slot{{Partial: 1}}},
		{
			"only a late partial", "data: {\"b64_json\":\"" + b3 + "\",\"type\":\"partial_image\"}\n\n", unknownOutcome,
			brokeOff,
			[]engine.Slot{{}},
		},
		{
			"cut in the second picture", ev("completed", b1) + ev("completed", b2)[:90], unknownOutcome, brokeOff,
			[]engine.Slot{{}},
		},
		{"cut in a field's name", ev("partial_image", b1) + "dat", unknownOutcome, brokeOff, []engine.Slot{{Partial: 1}}},
		{"cut behind the colon", ev("partial_image", b1) + "data:", unknownOutcome, brokeOff, []engine.Slot{{Partial: 1}}},
		{
			"bad JSON", ev("completed", b1) + "data: {]\n\n", unusable, "the reply is not valid JSON; it may have been billed",
			[]engine.Slot{{}},
		},
		{
			"data lines that split a string", "data: {\"b64_json\":\"AAAA\ndata: AAAA\"}\n\n", unusable,
			"the reply is not valid JSON: it has a control character in a string; it may have been billed", nil,
		},
		{
			"an error object",
			ev("partial_image", b1) + "event: error\ndata: {\"error\":{\"message\":\"boom\",\"code\":\"server_error\"}}\n\n",
			outcome{"unknown_outcome", "server_error", "maybe"},
			"answered with an error: boom",
			[]engine.Slot{{Partial: 1}},
		},
		{
			"an error without an object", "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"boom\"}\n\n",
			outcome{"unknown_outcome", "server_error", "maybe"},
			"answered with an error: boom", nil,
		},
		{
			"an error by the event's name", "event: error\ndata: {\"message\":\"boom\"}\n\n",
			outcome{"unknown_outcome", "error_in_reply", "maybe"},
			"answered with an error: boom", nil,
		},
		{
			"moderation in the middle", ev("partial_image", b1) + "data: {\"error\":{\"code\":\"moderation_blocked\"}}\n\n",
			outcome{"blocked", "moderation_blocked", "maybe"},
			"answered with an error",
			[]engine.Slot{{Partial: 1}},
		},
		{
			"an error behind a picture",
			ev("completed", b1) + "data: {\"error\":{\"message\":\"boom\"}}\n\n" + ev("completed", b2),
			outcome{"unknown_outcome", "error_in_reply", "maybe"},
			"answered with an error: boom",
			[]engine.Slot{{}},
		},
		{
			"a final picture that is not base64", ev("completed", "A*AA") + ev("completed", b2), unusable,
			"a picture of the reply cannot be decoded: it is not base64; it may have been billed",
			[]engine.Slot{{Index: 1}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, out := answering(t, 200, sseType, tt.body), newSink()
			_, err := stream(t, srv, out)
			e, got := told(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.message, e.Message); diff != "" {
				t.Error(diff)
			}
			var saved []engine.Slot
			for s := range out.saved {
				saved = append(saved, s)
			}
			if diff := cmp.Diff(tt.saved, saved); diff != "" || out.open > 0 {
				t.Errorf("%d open, %s", out.open, diff)
			}
		})
	}
}

func TestUsageOfAStreamAddsUp(t *testing.T) {
	t.Parallel()
	one := strings.Replace(ev("completed", b1), "}\n\n",
		`,"created_at":9,"size":"64x64","usage":{"input_tokens":2,"output_tokens":3,"total_tokens":5}}`+"\n\n", 1)
	reply, err := stream(t, answering(t, 200, sseType, one+one), newSink())
	if err != nil {
		t.Fatal(err)
	}
	want := engine.Usage{Reported: true, InputTokens: 4, OutputTokens: 6, TotalTokens: 10}
	if diff := cmp.Diff(want, reply.Usage); diff != "" {
		t.Error(diff)
	}
	if reply.Created.Unix() != 9 || reply.Size != "64x64" || reply.Pictures != 2 {
		t.Errorf("reply = %+v", reply)
	}
}

func TestLinksInAStream(t *testing.T) {
	t.Parallel()
	srv := answering(t, 200, sseType,
		"data: {\"type\":\"image_generation.completed\",\"url\":\"https://elsewhere.invalid/a\"}\n\n"+ev("completed", b2)+
			"data: {\"type\":\"image_generation.completed\",\"data\":[{\"url\":\"https://elsewhere.invalid/b\"}]}\n\n")
	out := newSink()
	_, err := stream(t, srv, out)
	_, got := told(t, err)
	if diff := cmp.Diff(outcome{"unknown_outcome", "url_not_allowed", "yes"}, got); diff != "" {
		t.Error(diff)
	}
	want := map[int]string{0: "https://elsewhere.invalid/a", 2: "https://elsewhere.invalid/b"}
	if diff := cmp.Diff(want, out.links); diff != "" || !bytes.Equal(out.saved[engine.Slot{Index: 1}], two) {
		t.Errorf("saved %v, links: %s", out.saved, diff)
	}
}

// TestALineOf33MiB is beyond what the SDK's own reader takes.
func TestALineOf33MiB(t *testing.T) {
	t.Parallel()
	want := bytes.Repeat([]byte("0123456789ab"), 33<<20/16)
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", sseType)
		out := bufio.NewWriterSize(w, 1<<20)
		_, _ = io.WriteString(out, "event: image_generation.completed\ndata: {\"b64_json\":\"")
		enc := base64.NewEncoder(base64.StdEncoding, out)
		_, _ = enc.Write(want)
		_ = enc.Close()
		_, _ = io.WriteString(out, "\"}\n\n")
		_ = out.Flush()
	}))
	out := newSink()
	if _, err := stream(t, srv, out); err != nil {
		t.Fatal(err)
	}
	if got := out.final()[0]; !bytes.Equal(got, want) {
		t.Errorf("picture of %d bytes, want %d equal ones", len(got), len(want))
	}
}

// TestAStreamThatTricklesIn sends each byte by itself: what an event is must not depend on how it is cut into packets.
func TestAStreamThatTricklesIn(t *testing.T) {
	t.Parallel()
	body := strings.ReplaceAll(ev("partial_image", b3)+
		"data: {\"type\":\"image_generation.partial_image\",\"b64_json\":\""+b2+"\"}\n\n"+
		ev("completed", b1), "\n", "\r\n")
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", sseType)
		for i := range len(body) {
			_, _ = io.WriteString(w, body[i:i+1])
			_ = http.NewResponseController(w).Flush()
		}
	}))
	out := newSink()
	if _, err := stream(t, srv, out); err != nil {
		t.Fatal(err)
	}
	want := map[engine.Slot][]byte{{Partial: 1}: three, {Partial: 2}: two, {}: one}
	if diff := cmp.Diff(want, out.saved); diff != "" {
		t.Error(diff)
	}
}

// TestAPartialIsSavedAtOnce checks that a partial picture does not wait for bytes behind its event.
func TestAPartialIsSavedAtOnce(t *testing.T) {
	t.Parallel()
	saved := make(chan struct{})
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", sseType)
		_, _ = io.WriteString(w, strings.TrimSuffix(ev("partial_image", b1), "}\n\n"))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-saved:
		case <-r.Context().Done():
			t.Error("the partial picture was not saved")
		}
		_, _ = io.WriteString(w, "}\n\n"+strings.ReplaceAll(ev("completed", b2), "b64_json", "url\":\"\",\"b64_json"))
	}))
	out := &signalsPartial{newSink(), saved}
	if _, err := stream(t, srv, out); err != nil {
		t.Fatal(err)
	}
}

type signalsPartial struct {
	*sink
	first chan struct{}
}

func (s *signalsPartial) Picture(slot engine.Slot) (engine.PictureWriter, error) {
	w, err := s.sink.Picture(slot)
	if slot.Partial == 0 {
		return w, err
	}
	return &signalling{w, s.first}, err
}

// TestDoneEndsAStream does not wait for a server that keeps the connection.
func TestDoneEndsAStream(t *testing.T) {
	t.Parallel()
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", sseType)
		_, _ = io.WriteString(w, ev("completed", b1)+"data: [DONE]\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	if _, err := stream(t, srv, newSink()); err != nil {
		t.Error(err)
	}
}
