package cli

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"size", "output", "output-format", "output-compression", "prompt", "n", "quality", "max-cost"}
	for word, want := range map[string]string{
		"siz": "size", "sizes": "size", "outptu": "output", "output_format": "output-format", "outpt-format": "output-format",
		"quallity": "quality", "output-comp": "output-compression", "maxcost": "max-cost", "prompts": "prompt",
		"zzzzzz": "", "x": "", "colour": "", "": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}} {
		if got, back := distance(tc.a, tc.b), distance(tc.b, tc.a); got != tc.want || back != tc.want {
			t.Errorf("distance(%q, %q) = %d and back %d, want %d", tc.a, tc.b, got, back, tc.want)
		}
	}
}

// TestWrap keeps every word, hangs lists and leaves code alone.
func TestWrap(t *testing.T) {
	t.Parallel()
	long := "  name      " + "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
	got := wrap(long)
	if len(got) != 2 || got[0][:14] != "    name      " || got[1][:14] != "              " || got[1][14] == ' ' {
		t.Errorf("list: %q", got)
	}
	code := "  " + string(make([]byte, 200))
	if got := wrap(code); len(got) != 1 || got[0] != "  "+code {
		t.Errorf("code was changed: %q", got)
	}
	if got := wrap(""); len(got) != 1 || got[0] != "" {
		t.Errorf("empty: %q", got)
	}
	if got := wrapAt("aa bb ccccccccc d", 5); len(got) != 3 || got[0] != "aa bb" || got[1] != "ccccccccc" || got[2] != "d" {
		t.Errorf("wrapAt: %q", got)
	}
}
