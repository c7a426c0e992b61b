package openai_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/fault"
)

// Three small pictures and their base64.
var (
	one, two, three = []byte("picture one?>~"), []byte("picture two\xff\xfe\xfd"), []byte("picture three")

	b1 = base64.StdEncoding.EncodeToString(one)
	b2 = base64.StdEncoding.EncodeToString(two)
	b3 = base64.StdEncoding.EncodeToString(three)
)

func TestRepliesOfManyShapes(t *testing.T) {
	t.Parallel()
	escaped := func(text string) string { // every character as \u00XX
		var b strings.Builder
		for _, c := range []byte(text) {
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		return b.String()
	}
	wrapped := b1[:8] + `\r\n` + b1[8:] + `\n`
	tests := []struct {
		name, kind, body string
		want             map[int][]byte
	}{
		{
			"plain", jsonType, `{"created":1,"data":[{"b64_json":"` + b1 + `"},{"b64_json":"` + b2 + `"}]}`,
			map[int][]byte{0: one, 1: two},
		},
		{
			"white space and a byte order mark", jsonType,
			"\ufeff \r\n\t{ \"data\" : [ { \"b64_json\" : \"" + b1 + "\" } ] } \n",
			map[int][]byte{0: one},
		},
		{"no content type", "", `{"data":[{"b64_json":"` + b1 + `"}]}`, map[int][]byte{0: one}},
		{"wrong content type", "text/html", `{"data":[{"b64_json":"` + b1 + `"}]}`, map[int][]byte{0: one}},
		{
			"an object with the content type of a stream", "text/event-stream", `{"data":[{"b64_json":"` + b1 + `"}]}`,
			map[int][]byte{0: one},
		},
		{
			"keys in another order", jsonType, `{"data":[{"revised_prompt":"r","b64_json":"` + b1 + `","z":1}],"created":5}`,
			map[int][]byte{0: one},
		},
		{
			"every character escaped", jsonType, `{"data":[{"` + escaped("b64_json") + `":"` + escaped(b1) + `"}]}`,
			map[int][]byte{0: one},
		},
		{
			"escaped slashes", jsonType, `{"data":[{"b64_json":"` + strings.ReplaceAll(b1, "/", `\/`) + `"}]}`,
			map[int][]byte{0: one},
		},
		{"base64 in lines", jsonType, `{"data":[{"b64_json":"` + wrapped + `"}]}`, map[int][]byte{0: one}},
		{
			"data URL in b64_json", jsonType, `{"data":[{"b64_json":"data:image/png;base64,` + b1 + `"}]}`,
			map[int][]byte{0: one},
		},
		{"data URL in url", jsonType, `{"data":[{"url":"Data:image\/png;base64,` + b1 + `"}]}`, map[int][]byte{0: one}},
		{
			"data URL and base64", jsonType, `{"data":[{"url":"data:image/png;base64,` + b1 + `","b64_json":"` + b1 + `"}]}`,
			map[int][]byte{0: one},
		},
		{
			"base64 and data URL", jsonType, `{"data":[{"b64_json":"` + b1 + `","url":"data:image/png;base64,` + b1 + `"}]}`,
			map[int][]byte{0: one},
		},
		{
			"base64 and a link that nobody may follow", jsonType,
			`{"data":[{"b64_json":"` + b1 + `","url":"https://elsewhere.invalid/1"}]}`,
			map[int][]byte{0: one},
		},
		{
			"null beside the picture", jsonType,
			`{"data":[{"b64_json":"` + b1 + `","url":null},{"url":"","b64_json":"` + b2 + `"}],"usage":null,"error":null}`,
			map[int][]byte{0: one, 1: two},
		},
		{
			"an item without a picture", jsonType, `{"data":[{"b64_json":null},{"b64_json":"` + b2 + `"},{},{"b64_json":""}]}`,
			map[int][]byte{1: two},
		},
		{"errors that are none", jsonType, `{"error":"","data":[{"b64_json":"` + b1 + `"}]}`, map[int][]byte{0: one}},
		{"an empty error object", jsonType, `{"error":{},"data":[{"b64_json":"` + b1 + `"}]}`, map[int][]byte{0: one}},
		{"data is an object", jsonType, `{"data":{"b64_json":"` + b1 + `"}}`, map[int][]byte{0: one}},
		{"a picture at the top", jsonType, `{"b64_json":"` + b1 + `"}`, map[int][]byte{0: one}},
		{
			"unknown fields of any depth", jsonType,
			`{"x":[[{"a":[1.5e-3,true,false,null,"b64_json","é\ud83d\ude00\"\\"]}],{}],"data":[{"m":{"deep":[{"url":"not ` +
				`data:"}]},"b64_json":"` + b1 + `"}]}`,
			map[int][]byte{0: one},
		},
		{
			"fields of other types", jsonType,
			`{"created":"yesterday","size":1024,"quality":{},"background":[],"usage":[],"error":false,"type":7,` +
				`"data":[{"b64_json":"` + b1 + `"},"x",{"url":5}]}`,
			map[int][]byte{0: one},
		},
		{
			"a picture that is not base64 beside one that is", jsonType,
			`{"data":[{"b64_json":"####","url":"data:image/png;base64,` + b1 + `"}]}`,
			map[int][]byte{0: one},
		},
		{
			"the bare picture", "image/png",
			"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89", nil,
		},
		{"trailing bytes", jsonType, `{"data":[{"b64_json":"` + b1 + `"}]} <!-- cached -->`, map[int][]byte{0: one}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, out := answering(t, 200, tt.kind, tt.body), newSink()
			reply, err := generate(t, client(t, srv.URL), out)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want == nil {
				want = map[int][]byte{0: []byte(tt.body)}
			}
			got := map[int][]byte{}
			for slot, b := range out.saved {
				got[slot.Index] = b
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if reply.Pictures != len(want) || len(out.links) > 0 || out.open > 0 {
				t.Errorf("%d pictures, links %v, %d open", reply.Pictures, out.links, out.open)
			}
		})
	}
}

func TestRepliesThatAreNone(t *testing.T) {
	t.Parallel()
	good := `{"b64_json":"` + b1 + `"}`
	brokeOff := "the reply broke off before it was complete; it may have been billed"
	tests := []struct {
		name, kind, body string
		want             outcome
		message          string
		saved            int
	}{
		{"empty", jsonType, "", unusable, "the reply is empty; it may have been billed", 0},
		{"white space", jsonType, " \n", unusable, "the reply is empty; it may have been billed", 0},
		{
			"web page", "text/html", "<!doctype html>", unusable, "the reply is a web page, not JSON; it may have been billed",
			0,
		},
		{"web page as JSON", jsonType, "\n<html>", unusable, "the reply is a web page, not JSON; it may have been billed", 0},
		{"text", "text/plain", "OK", unusable, "the reply is not JSON; it may have been billed", 0},
		{"a list", jsonType, `[` + good + `]`, unusable, "the reply is not JSON; it may have been billed", 0},
		{"no list", jsonType, `{"created":1}`, unusable, "the reply holds no picture; it may have been billed", 0},
		{
			"only nulls", jsonType, `{"data":[{"b64_json":null,"url":null}]}`, unusable,
			"the reply holds no picture; it may have been billed", 0,
		},
		{"cut within base64", jsonType, `{"data":[` + good + `,{"b64_json":"` + b2[:9], unknownOutcome, brokeOff, 1},
		{"cut within a key", jsonType, `{"data":[` + good + `,{"b64`, unknownOutcome, brokeOff, 1},
		{"cut within an escape", jsonType, `{"data":[` + good + `,{"b64_json":"AA\u00`, unknownOutcome, brokeOff, 1},
		{"cut within a data URL", jsonType, `{"data":[` + good + `,{"b64_json":"data:image/png`, unknownOutcome, brokeOff, 1},
		{
			"cut behind the pictures", jsonType, `{"data":[` + good + `],"usage":{"input_tokens":1`, unknownOutcome, brokeOff,
			1,
		},
		{
			"no JSON behind the pictures", jsonType, `{"data":[` + good + `],}`, unusable,
			"the reply is not valid JSON; it may have been billed", 1,
		},
		{
			"brackets that do not match", jsonType, `{"data":[` + good + `}`, unusable,
			"the reply is not valid JSON; it may have been billed", 1,
		},
		{
			"a bad escape within base64", jsonType, `{"data":[{"b64_json":"AAAA\x"}]}`, unusable,
			"the reply is not valid JSON; it may have been billed", 0,
		},
		{
			"a control character within base64", jsonType, "{\"data\":[{\"b64_json\":\"AAAA\x01\"}]}", unusable,
			"the reply is not valid JSON: it has a control character in a string; it may have been billed", 0,
		},
		{
			"a data URL without data", jsonType, `{"data":[{"url":"data:image/png"}]}`, unusable,
			"the reply holds a data URL without data; it may have been billed", 0,
		},
		{
			"an empty data URL", jsonType, `{"data":[{"url":"data:image/png;base64,"}]}`, unusable,
			"a picture of the reply is empty; it may have been billed", 0,
		},
		{
			"one of three is not base64", jsonType, `{"data":[` + good + `,{"b64_json":"A*AA"},` + good + `]}`, unusable,
			"a picture of the reply cannot be decoded: it is not base64; it may have been billed", 2,
		},
		{
			"base64 without its end", jsonType, `{"data":[{"b64_json":"AAA"}]}`, unusable,
			"a picture of the reply cannot be decoded: it is not base64; it may have been billed", 0,
		},
		{
			"too deep", jsonType, strings.Repeat(`{"a":`, 65) + `1` + strings.Repeat("}", 65), unusable,
			"the reply is not valid JSON: it is nested deeper than 64; it may have been billed", 0,
		},
		{
			"too much beside the pictures", jsonType, `{"data":[` + good + `],"x":"` + strings.Repeat("<", 5<<20) + `"}`,
			unusable,
			"the reply holds more than 4194304 bytes beside its pictures; it may have been billed", 1,
		},
		{
			"too many small values", jsonType, `{"data":[` + good + `],"x":[` + strings.Repeat("1,", 3<<20) + `1]}`, unusable,
			"the reply holds more than 4194304 bytes beside its pictures; it may have been billed", 1,
		},
		{
			"a key without end", jsonType, `{"` + strings.Repeat("k", 5000) + `":1}`, unusable,
			"the reply is not valid JSON: a key is longer than 4096 bytes; it may have been billed", 0,
		},
		{
			"an error with status 200", jsonType, `{"error":{"message":"out of memory","code":"oom","type":"server_error"}}`,
			outcome{"unknown_outcome", "oom", "maybe"},
			"answered with an error: out of memory", 0,
		},
		{
			"an error sentence with status 200", jsonType, `{"error":"out of memory"}`,
			outcome{"unknown_outcome", "error_in_reply", "maybe"},
			"answered with an error: out of memory", 0,
		},
		{
			"an error beside pictures", jsonType, `{"data":[` + good + `],"error":{"code":500}}`,
			outcome{"unknown_outcome", "error_in_reply", "maybe"},
			"answered with an error", 1,
		},
		{
			"moderation with status 200", jsonType, `{"error":{"message":"no","code":"moderation_blocked"}}`,
			outcome{"blocked", "moderation_blocked", "maybe"},
			"answered with an error: no", 0,
		},
		{
			"an object that calls itself an error", jsonType, `{"object":"error","message":"bad","code":400}`,
			outcome{"unknown_outcome", "error_in_reply", "maybe"},
			"answered with an error: bad", 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv, out := answering(t, 200, tt.kind, tt.body, "X-Request-Id", "req_7"), newSink()
			call := engine.ImageCall{Prompt: "a fox in the snow", Model: "m", N: 3}
			reply, err := client(t, srv.URL).GenerateImages(t.Context(), call, out)
			e, got := told(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.message, e.Message); diff != "" {
				t.Error(diff)
			}
			if len(out.saved) != tt.saved || out.open > 0 || e.RequestID != "req_7" || reply.Pictures != tt.saved {
				t.Errorf("%d pictures saved, want %d; %d open; request id %q", len(out.final()), tt.saved, out.open, e.RequestID)
			}
			if posts, _ := srv.counts(); posts != 1 {
				t.Errorf("%d requests", posts)
			}
		})
	}
}

// TestABadEndBehindAllPictures costs a warning: what was asked for is there.
func TestABadEndBehindAllPictures(t *testing.T) {
	t.Parallel()
	both := `{"data":[{"b64_json":"` + b1 + `"},{"b64_json":"` + b2 + `"}`
	events := ev("completed", b1) + ev("completed", b2)
	many := `{"data":[` + strings.Repeat(`{"b64_json":"AAEC"},`, 140)
	for name, tt := range map[string]struct {
		kind, body, why string
		saved           int
	}{
		"cut":             {jsonType, both + `],"usage":{"tot`, "broke off", 2},
		"cut in a third":  {jsonType, both + `,{"b64_json":"AAEC`, "broke off", 2},
		"no JSON":         {jsonType, both + `],}`, "not valid JSON", 2},
		"too much":        {jsonType, both + `],"x":"` + strings.Repeat("x", 5<<20), "4194304 bytes", 2},
		"too many":        {jsonType, many, "more than 128 pictures", 128},
		"a stream is cut": {sseType, events + "event: x\ndata: {", "broke off", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, out := answering(t, 200, tt.kind, tt.body), newSink()
			call := engine.ImageCall{Prompt: "p", Model: "m", N: 2}
			reply, err := client(t, srv.URL).GenerateImages(t.Context(), call, out)
			if err != nil || len(out.saved) != tt.saved || reply.Pictures != tt.saved || out.open > 0 {
				t.Errorf("%v, %d pictures saved, want %d; %d open", err, len(out.saved), tt.saved, out.open)
			}
			if len(out.warnings) != 1 || !strings.Contains(out.warnings[0], tt.why) {
				t.Errorf("warnings = %q, want one about %q", out.warnings, tt.why)
			}
		})
	}
}

func TestWhatAReplySaysBesideItsPictures(t *testing.T) {
	t.Parallel()
	day := time.Unix(1_700_000_000, 0).UTC()
	const usage = `"usage":{"input_tokens":"30","output_tokens":272.0,"total_tokens":302,` +
		`"input_tokens_details":{"text_tokens":10,"image_tokens":20,"cached_tokens_details":{"text_tokens":4,` +
		`"image_tokens":99}},` +
		`"output_tokens_details":{"image_tokens":270,"text_tokens":2}}`
	whole := engine.Usage{
		Reported: true, InputTokens: 30, OutputTokens: 272, TotalTokens: 302, InputTextTokens: 10, InputImageTokens: 20,
		CachedTextTokens: 4, CachedImageTokens: 20, OutputTextTokens: 2, OutputImageTokens: 270,
	}
	tests := []struct {
		name, fields string
		want         engine.ImageReply
	}{
		{
			"everything", `"created":1700000000,"size":"1024x1024","quality":"low","background":"opaque",` +
				`"output_format":"png",` + usage,
			engine.ImageReply{
				Created: day, Size: "1024x1024", Quality: "low", Background: "opaque", OutputFormat: "png",
				Usage: whole,
			},
		},
		{"a time as text", `"created":"1700000000"`, engine.ImageReply{Created: day}},
		{"a time with a fraction", `"created":1.7e9`, engine.ImageReply{Created: day}},
		{"a time in milliseconds", `"created":1700000000000`, engine.ImageReply{}},
		{"a time before 1970", `"created":-5`, engine.ImageReply{}},
		{"a time that is absurd", `"created":1e300`, engine.ImageReply{}},
		{"a time that is a date", `"created":"2026-11-30T00:00:00Z"`, engine.ImageReply{}},
		{
			"usage with absurd counts", `"usage":{"input_tokens":-1,"output_tokens":1e99,"total_tokens":[]}`,
			engine.ImageReply{Usage: engine.Usage{Reported: true}},
		},
		{"no usage", `"usage":null`, engine.ImageReply{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := answering(t, 200, jsonType, `{`+tt.fields+`,"data":[{"b64_json":"`+b1+`"}]}`, "Request-Id", "r-9")
			got, err := generate(t, client(t, srv.URL), newSink())
			if err != nil {
				t.Fatal(err)
			}
			tt.want.RequestID, tt.want.Pictures = "r-9", 1
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestASinkThatFails checks that our own failures are told as such and cost no other picture.
func TestASinkThatFails(t *testing.T) {
	t.Parallel()
	full := fault.New(fault.DiskFull, "no space left")
	for name, out := range map[string]*sink{
		"picture": {failPicture: full}, "write": {failWrite: full}, "commit": {failCommit: full},
		"commit with an engine error": {failCommit: engine.Errorf(engine.KindFailure, fault.DiskFull, "no space left")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out.saved, out.links = map[engine.Slot][]byte{}, map[int]string{}
			srv := answering(t, 200, jsonType,
				`{"data":[{"b64_json":"`+b1+`"},{"b64_json":"`+b2+`"}],"usage":{"total_tokens":5}}`)
			reply, err := generate(t, client(t, srv.URL), out)
			e, got := told(t, err)
			if diff := cmp.Diff(outcome{engine.KindFailure, "disk_full", engine.BilledYes}, got); diff != "" {
				t.Error(diff)
			}
			if e.Message != "no space left" || out.open != 0 || reply.Usage.TotalTokens != 5 {
				t.Errorf("message %q, %d writers open, usage %+v", e.Message, out.open, reply.Usage)
			}
			if posts, _ := srv.counts(); posts != 1 {
				t.Errorf("%d requests", posts)
			}
		})
	}
}

// oncely fails the first picture only.
type failsOnce struct{ *sink }

func (f failsOnce) Picture(slot engine.Slot) (engine.PictureWriter, error) {
	if slot.Index == 0 {
		return nil, errors.New("no handle left")
	}
	return f.sink.Picture(slot)
}

func TestTheOtherPicturesAreKept(t *testing.T) {
	t.Parallel()
	srv := answering(t, 200, jsonType, `{"data":[{"b64_json":"`+b1+`"},{"b64_json":"`+b2+`"},{"b64_json":"`+b3+`"}]}`)
	out := newSink()
	_, err := client(t, srv.URL).GenerateImages(t.Context(), engine.ImageCall{Prompt: "p"}, failsOnce{out})
	_, _ = told(t, err)
	if diff := cmp.Diff([][]byte{two, three}, out.final()); diff != "" {
		t.Error(diff)
	}
}

// TestAPictureOfOneByteReads reads a reply that trickles in.
func TestAReplyThatTricklesIn(t *testing.T) {
	t.Parallel()
	body := `{"data":[{"b64_json":"data:image\/png;base64,` + b1 + `"},{"url":"data:;base64,` + b2 +
		`","x":"é\n"}],"created":3}`
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := range len(body) {
			_, _ = io.WriteString(w, body[i:i+1])
			_ = http.NewResponseController(w).Flush()
		}
	}))
	out := newSink()
	reply, err := generate(t, client(t, srv.URL), out)
	if err != nil || reply.Created.Unix() != 3 {
		t.Fatal(err, reply)
	}
	if diff := cmp.Diff([][]byte{one, two}, out.final()); diff != "" {
		t.Error(diff)
	}
}

// TestAReplyIsReadAsItComes checks that a picture is saved before the server has sent the next.
func TestAReplyIsReadAsItComes(t *testing.T) {
	t.Parallel()
	saved := make(chan struct{})
	srv := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"b64_json":"`+b1+`"}`)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-saved:
		case <-r.Context().Done():
			t.Error("the first picture was not saved while the second had not come")
		}
		_, _ = io.WriteString(w, `,{"b64_json":"`+b2+`"}]}`)
	}))
	out := &signals{newSink(), saved}
	if _, err := client(t, srv.URL).GenerateImages(t.Context(), engine.ImageCall{Prompt: "p"}, out); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.final()[1], two) {
		t.Error("the second picture is wrong")
	}
}

// signals closes a channel when the first picture is saved.
type signals struct {
	*sink
	first chan struct{}
}

func (s *signals) Picture(slot engine.Slot) (engine.PictureWriter, error) {
	w, err := s.sink.Picture(slot)
	if slot.Index == 1 {
		return w, err
	}
	return &signalling{w, s.first}, err
}

type signalling struct {
	engine.PictureWriter
	done chan struct{}
}

func (s *signalling) Commit() error {
	err := s.PictureWriter.Commit()
	close(s.done)
	return err
}
