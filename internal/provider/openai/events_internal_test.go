package openai

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// event is what one event of a stream says.
type event struct{ Name, Data string }

// readEvents reads a whole stream.
func readEvents(r io.Reader, size int) (events []event, err error) {
	s := &eventStream{in: bufio.NewReaderSize(r, size)}
	for {
		if err := s.next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return events, err
		}
		data, err := io.ReadAll(s)
		events = append(events, event{s.name, string(data)})
		if err != nil {
			return events, err
		}
	}
}

// model reads a stream as the standard words it, all of it at once.
func model(text string) (events []event) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var e event
	open := false
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for _, line := range lines {
		name, value, colon := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if open {
				events = append(events, e)
			}
			e, open = event{}, false
		case name == "event" && colon:
			e.Name = strings.TrimSpace(value[:min(len(value), maxEventField+1)])
		case name == "data" && colon && open:
			e.Data += "\n" + value
		case name == "data" && colon:
			e.Data, open = value, true
		}
	}
	if open { // an event that the end cuts off is handed out; its JSON tells whether it is whole
		events = append(events, e)
	}
	return events
}

func TestEventStream(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"two":                "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n",
		"no space":           "data:1\n\n",
		"two spaces":         "data:  1\n\n",
		"lines":              "data: 1\ndata:\ndata: 3\n\n",
		"late name":          "data: 1\nevent: a\n\n",
		"name without data":  "event: a\n\ndata: 1\n\n",
		"comments":           ":\n: x\n:data: 1\n\ndata: 1\n: x\n\n",
		"other fields":       "id: 1\nretry: 2\ndata\nfoo\ndata: 1\nid\n\n",
		"CRLF":               "data: 1\r\ndata: 2\r\n\r\n",
		"CR":                 "data: 1\rdata: 2\r\rdata: 3\r\r",
		"mixed":              "data: 1\r\ndata: 2\n\rdata: 3\n\n",
		"no end":             "data: 1",
		"end behind a colon": "data:",
		"end in a name":      "data: 1\n\nda",
		"many blank lines":   "\n\n\r\n\rdata: 1\n\n\n\n",
		"empty":              "",
		"long name":          "event: " + strings.Repeat("n", 1000) + "\ndata: 1\n\n",
		"long field":         strings.Repeat("n", 100_000) + ": 1\ndata: 1\n\n",
		"long data":          "data: " + strings.Repeat("d", 200_000) + "\n\n",
	} {
		for _, size := range []int{16, readBuffer} {
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(in), "by the byte": iotest.OneByteReader(strings.NewReader(in)),
			} {
				got, err := readEvents(r, size)
				if err != nil {
					t.Errorf("%s, %s: %v", name, how, err)
				}
				if diff := cmp.Diff(model(in), got); diff != "" {
					t.Errorf("%s, %s: %.500s", name, how, diff)
				}
			}
		}
	}
}

func TestEventStreamPassesErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("network is down")
	for _, in := range []string{"", "da", "data:", "data: 1", "data: 1\n", "data: 1\r", "event: a", ": x", "data: 1\nev"} {
		r := io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))
		if _, err := readEvents(r, 16); !errors.Is(err, broken) {
			t.Errorf("%q: %v, want the network's error", in, err)
		}
	}
}

// FuzzEvents holds the reader against the model, however the stream is cut into pieces.
func FuzzEvents(f *testing.F) {
	for _, in := range []string{
		"event: image_generation.completed\ndata: {\"b64_json\":\"AAEC\"}\n\n", "data: 1\r\ndata: 2\r\r\n\ndata:3",
		":\n\nid\n\r", "event:a\rdata:\r\r",
	} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		want := model(in)
		for _, size := range []int{16, readBuffer} {
			for _, r := range []io.Reader{
				strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)),
				iotest.HalfReader(strings.NewReader(in)),
			} {
				got, err := readEvents(r, size)
				if err != nil {
					t.Fatal(err)
				}
				if fmt.Sprint(want) != fmt.Sprint(got) || !cmp.Equal(want, got) {
					t.Fatal(cmp.Diff(want, got))
				}
			}
		}
	})
}
