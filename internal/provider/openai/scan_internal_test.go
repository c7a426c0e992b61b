package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// taken is one picture that a scanner gave out.
type taken struct {
	Index int
	Text  string
}

// scanAll scans a document and returns its skeleton and pictures.
func scanAll(r io.Reader) (skeleton string, pictures []taken, kind string, err error) {
	s := &scanner{in: bufio.NewReaderSize(r, readBuffer)}
	s.take = func(index int, text io.Reader) error {
		b, err := io.ReadAll(text)
		if err == nil {
			pictures = append(pictures, taken{index, string(b)})
		}
		return err
	}
	err = s.scan()
	return s.skeleton.String(), pictures, s.kind, err
}

func TestScanner(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, skeleton string
		pictures           []taken
		kind               string
	}{
		{
			"no picture", ` {"a" : [1, -2.5e+3, true, null, "x"], "b":{}} rest`, `{"a":[1,-2.5e+3,true,null,"x"],"b":{}}`, nil,
			"",
		},
		{
			"two", `{"data":[{"b64_json":"AA=="},{"b64_json":"BB=="}]}`, `{"data":[{"b64_json":""},{"b64_json":""}]}`,
			[]taken{{0, "AA=="}, {1, "BB=="}},
			"",
		},
		{
			"the nearest list counts", `[[],[1,{"x":{"b64_json":"A"}}]]`, `[[],[1,{"x":{"b64_json":""}}]]`,
			[]taken{{1, "A"}},
			"",
		},
		{"lists of pictures", `{"b64_json":["A","B"]}`, `{"b64_json":["A","B"]}`, nil, ""},
		{
			"escapes", `{"b64\u005fjson":"\u0041\/\"\\\b\f\n\r\t\u00e9\ud83d\ude00"}`, `{"b64\u005fjson":""}`,
			[]taken{{0, "A/\"\\\b\f\n\r\té😀"}},
			"",
		},
		{
			"surrogates alone", `{"b64_json":"\ud83d\u0041\ude00\ud83d"}`, `{"b64_json":""}`,
			[]taken{{0, "\ufffdA\ufffd\ufffd"}},
			"",
		},
		{
			"data URLs", `{"url":"DATA:a;base64,A,B","b64_json":"data:,C"}`, `{"url":"","b64_json":""}`,
			[]taken{{0, "A,B"}, {0, "C"}},
			"",
		},
		{"links", `{"url":"https://x/data:,A","u":"data:,A"}`, `{"url":"https://x/data:,A","u":"data:,A"}`, nil, ""},
		{"short strings under url", `{"url":"d","a":{"url":""}}`, `{"url":"d","a":{"url":""}}`, nil, ""},
		{"empty and null", `{"b64_json":"","a":{"b64_json":null}}`, `{"b64_json":"","a":{"b64_json":null}}`, nil, ""},
		{
			"the type", `{"a":{"type":"no"},"type":"y\u0065s","b":["type","z"]}`,
			`{"a":{"type":"no"},"type":"y\u0065s","b":["type","z"]}`, nil, "yes",
		},
		{"a type that is no string", `{"type":5,"x":"y"}`, `{"type":5,"x":"y"}`, nil, ""},
	}
	for _, tt := range tests {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(tt.in), "by the byte": iotest.OneByteReader(strings.NewReader(tt.in)),
			"end with data": iotest.DataErrReader(strings.NewReader(tt.in)),
		} {
			skeleton, pictures, kind, err := scanAll(r)
			if err != nil {
				t.Errorf("%s, %s: %v", tt.name, name, err)
			}
			if diff := cmp.Diff([]any{tt.skeleton, tt.pictures, tt.kind}, []any{skeleton, pictures, kind}); diff != "" {
				t.Errorf("%s, %s: %s", tt.name, name, diff)
			}
		}
	}
}

func TestScannerRefuses(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused by take")
	for name, tt := range map[string]struct {
		in   string
		want error
	}{
		"nothing":                       {"", io.ErrUnexpectedEOF},
		"a lone value":                  {"5", errSyntax},
		"a lone string":                 {`"x"`, errSyntax},
		"a lone comma":                  {",", errSyntax},
		"a lone colon":                  {":", errSyntax},
		"a lone bracket":                {"]", errSyntax},
		"another bracket":               {"[}", errSyntax},
		"a colon in a list":             {"[:", errSyntax},
		"a word with a sign in it":      {"[nu_ll]", errSyntax},
		"a word that runs into another": {`[1"x"]`, errSyntax},
		"an unknown escape":             {`{"b64_json":"\q"}`, errSyntax},
		"an escape without digits":      {`{"b64_json":"\u00zz"}`, errSyntax},
		"a second escape, too":          {`{"b64_json":"\ud83d\uzzzz"}`, errSyntax},
		"a line break in a string":      {"{\"b64_json\":\"A\nB\"}", errSyntax},
		"a bad escape in a key":         {`{"\q":1}`, errSyntax},
		"a bad escape in the type":      {`{"type":"\q"}`, errSyntax},
		"the end in a number":           {"[1", io.ErrUnexpectedEOF},
		"the end in a string":           {`["x`, io.ErrUnexpectedEOF},
		"the end behind a backslash":    {`["x\`, io.ErrUnexpectedEOF},
		"the end in a picture":          {`{"b64_json":"x`, io.ErrUnexpectedEOF},
		"the end behind its backslash":  {`{"b64_json":"x\`, io.ErrUnexpectedEOF},
		"the end in its escape":         {`{"b64_json":"x\u00`, io.ErrUnexpectedEOF},
		"the end in its second escape":  {`{"b64_json":"x\ud83d\ude`, io.ErrUnexpectedEOF},
		"the end between two":           {`{"b64_json":"x\ud83d\`, io.ErrUnexpectedEOF},
		"the end in a data URL":         {`{"url":"data:x`, io.ErrUnexpectedEOF},
		"a data URL without a comma":    {`{"url":"data:x"}`, replyError("the reply holds a data URL without data")},
		"a data URL with a long head": {
			`{"url":"data:` + strings.Repeat("x", 5000) + `,A"}`,
			replyError("the reply holds a data URL without data"),
		},
	} {
		if _, _, _, err := scanAll(strings.NewReader(tt.in)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	s := &scanner{
		in:   bufio.NewReader(strings.NewReader(`{"b64_json":"A"}`)),
		take: func(int, io.Reader) error { return refused },
	}
	if err := s.scan(); !errors.Is(err, refused) {
		t.Errorf("error of take = %v", err)
	}
	broken := errors.New("network is down")
	for _, in := range []string{
		`{"a":"`, `{"b64_json":"`, `{"b64_json":"\`, `{"b64_json":"A`, `[1`, `[`, `{"url":"data:`,
		`{"url":"da`,
	} {
		r := io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))
		if _, _, _, err := scanAll(r); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the network's error", in, err)
		}
	}
}

// TestScannerReadsWhatTakeLeaves checks that a picture that is not wanted is passed over.
func TestScannerReadsWhatTakeLeaves(t *testing.T) {
	t.Parallel()
	in := `{"a":[{"b64_json":"` + strings.Repeat("A", 200_000) + `"},{"b64_json":"B"}],"z":1}`
	s := &scanner{in: bufio.NewReader(strings.NewReader(in))}
	s.take = func(_ int, text io.Reader) error {
		_, err := io.ReadFull(text, make([]byte, 1))
		return err
	}
	if err := s.scan(); err != nil || s.skeleton.String() != `{"a":[{"b64_json":""},{"b64_json":""}],"z":1}` {
		t.Errorf("skeleton %s, error %v", s.skeleton.String(), err)
	}
}

// TestStringReaderInSmallReads checks escapes against every size of buffer.
func TestStringReaderInSmallReads(t *testing.T) {
	t.Parallel()
	const in = `ab\u00e9\ud83d\ude00\/cd\n"rest`
	for size := 1; size < 20; size++ {
		for _, source := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			r := &stringReader{in: bufio.NewReader(source)}
			var got []byte
			buf := make([]byte, size)
			for {
				n, err := r.Read(buf)
				got = append(got, buf[:n]...)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
			}
			if string(got) != "abé😀/cd\n" {
				t.Errorf("size %d: %q", size, got)
			}
			if n, err := r.Read(nil); n != 0 || err != nil {
				t.Errorf("reading nothing: %d, %v", n, err)
			}
			if n, err := r.Read(buf); n != 0 || !errors.Is(err, io.EOF) {
				t.Errorf("reading behind the end: %d, %v", n, err)
			}
		}
	}
}

// splice scans a document and puts the pictures' text back into the skeleton.
func splice(doc []byte) (string, error) {
	var out bytes.Buffer
	s := &scanner{in: bufio.NewReaderSize(bytes.NewReader(doc), 16)}
	done := 0
	s.take = func(_ int, text io.Reader) error {
		b, err := io.ReadAll(text)
		if err != nil {
			return err
		}
		quoted, err := json.Marshal(string(b))
		if err != nil {
			return err
		}
		out.Write(s.skeleton.Bytes()[done:])
		out.Write(quoted)
		done = s.skeleton.Len() + len(`""`) // what the scanner is about to write
		return nil
	}
	if err := s.scan(); err != nil {
		return "", err
	}
	out.Write(s.skeleton.Bytes()[done:])
	return out.String(), nil
}

// headless drops the heads of data URLs, as the scanner does.
func headless(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = headless(v[k], k)
		}
	case []any:
		for i := range v {
			v[i] = headless(v[i], "")
		}
	case string:
		if (key == "b64_json" || key == "url") && len(v) >= 5 && strings.EqualFold(v[:5], "data:") {
			_, data, _ := strings.Cut(v, ",")
			return data
		}
	}
	return v
}

// depth returns how deep a value is nested.
func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			deepest = max(deepest, depth(v[k]))
		}
	case []any:
		for i := range v {
			deepest = max(deepest, depth(v[i]))
		}
	default:
		return 0
	}
	return deepest + 1
}

// FuzzScanner holds the scanner against encoding/json: of a valid document they see the same, and of any other input
// the scanner neither panics nor holds more than its bound.
func FuzzScanner(f *testing.F) {
	for _, doc := range []string{
		`{"created":1,"data":[{"b64_json":"AAEC"},{"b64_json":"data:image\/png;base64,AAEC","url":null}],"usage":{"a":1}}`,
		`{"url":"data:,x","b64_json":"\u0041\ud83d\ude00\ud83d\n"}`, `[{"b64_json":["a",{"b64_json":"b"}]},1.5e-3,true]`,
		`{"b64_json":"a","b64_json":"b"}`, `{"a" 1}`, `{"b64_json":"A\`, `{"type":"x","data":[[],{}]}`, `{"":""}`, "\ufeff{}",
		strings.Repeat("[", 70), `{"` + strings.Repeat("k", 5000) + `":1}`,
		`{"url":"dAtA:` + strings.Repeat("h", 5000) + `,A"}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		skeleton, pictures, _, err := scanAll(bytes.NewReader(doc))
		if len(skeleton) > maxSkeleton || len(skeleton) > len(doc)+2*len(pictures) {
			t.Fatalf("a skeleton of %d bytes from %d", len(skeleton), len(doc))
		}
		slow, more, _, slowErr := scanAll(iotest.OneByteReader(bytes.NewReader(doc)))
		if slow != skeleton || !cmp.Equal(pictures, more) || fmt.Sprint(err) != fmt.Sprint(slowErr) {
			t.Fatalf("by the byte it is another reply: %q %v %v, %q %v %v", skeleton, pictures, err, slow, more, slowErr)
		}
		var want any
		if json.Unmarshal(doc, &want) != nil || !utf8.Valid(doc) || depth(want) == 0 || depth(want) > maxDepth {
			return
		}
		// Of a key that stands twice, encoding/json shows only the last value.
		if longKeys(want) || awkward(want, "", bytes.ContainsRune(doc, '\\')) || err != nil &&
			bytes.Contains(bytes.ToLower(doc), []byte("data:")) {
			return
		}
		if err != nil {
			t.Fatalf("valid JSON is refused: %v", err)
		}
		whole, err := splice(doc)
		if err != nil {
			t.Fatalf("in small reads it is refused: %v", err)
		}
		var got any
		if err := json.Unmarshal([]byte(whole), &got); err != nil {
			t.Fatalf("spliced it is no JSON: %v: %s", err, whole)
		}
		if diff := cmp.Diff(headless(want, ""), got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// longKeys reports whether a key, or its spelling, may be beyond the scanner's bound.
func longKeys(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if len(k) > maxKey/6-2 || longKeys(v[k]) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, longKeys)
	}
	return false
}

// awkward reports whether a document holds a data URL that the scanner is right to refuse, or not to recognise: one
// without data, or one whose head may be spelt with escapes.
func awkward(v any, key string, escapes bool) bool {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if awkward(v[k], k, escapes) {
				return true
			}
		}
	case []any:
		for i := range v {
			if awkward(v[i], "", escapes) {
				return true
			}
		}
	case string:
		if (key != "b64_json" && key != "url") || len(v) < 5 || !strings.EqualFold(v[:5], "data:") {
			return false
		}
		comma := strings.IndexByte(v, ',')
		return escapes || comma < 0 || comma > maxKey-10
	}
	return false
}
