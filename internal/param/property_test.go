package param_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/param"
)

func contains(s, sub string) bool { return strings.Contains(s, sub) }

// unwrapped returns the *fault.Error inside what pflag makes of it.
func unwrapped(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return err
}

// sample returns a random text that any kind may be offered.
func sample(r *rand.Rand) string {
	switch r.IntN(9) {
	case 0:
		return strconv.Itoa(r.IntN(40) - 20)
	case 1:
		return strconv.FormatFloat(r.NormFloat64()*3, 'g', -1, 64)
	case 2:
		return time.Duration(r.Int64N(int64(5 * time.Hour))).String()
	case 3:
		return []string{"true", "false", "png", "jpeg", "auto", "", " ", ",", "NaN"}[r.IntN(9)]
	default:
		letters := []rune("ab, \n=é犬1-")
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
}

// Whatever is set: a failed Set changes nothing and names the parameter, a good one gives a value that Check accepts
// and that its String sets again.
func TestSetProperties(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 5))
	good := map[string]int{}
	for range 4_000 {
		r := request{Prompt: "p"}
		set := r.params()
		p := set[rnd.IntN(len(set))]
		before, in := r, sample(rnd)
		err := p.Set(in)
		if err != nil {
			if diff := cmp.Diff(before, r); diff != "" {
				t.Fatalf("a failed Set(%q) of %s changed the request: %s", in, p.Name, diff)
			}
			if !strings.HasPrefix(err.Error(), p.Name+" must ") || fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatalf("Set(%q) of %s: %v", in, p.Name, err)
			}
			continue
		}
		good[p.Name]++
		if err := set.Check(); err != nil && (p.Name != "prompt" || strings.TrimSpace(in) != "") {
			t.Fatalf("Set(%q) of %s passed, then Check said %v", in, p.Name, err)
		}
		sameAgain(t, p, &r)
	}
	for _, p := range (&request{}).params() {
		if good[p.Name] < 5 {
			t.Errorf("only %d good values of %s were tried", good[p.Name], p.Name)
		}
	}
}

// sameAgain sets a second request from the String of the first.
func sameAgain(t *testing.T, p *param.Param, r *request) {
	t.Helper()
	twin := request{Prompt: "p"}
	again := twin.params().Lookup(p.Name)
	if text := p.String(); p.Kind != param.KindStrings && p.Kind != param.KindFiles {
		if err := again.Set(text); err != nil {
			t.Fatalf("%s does not take its own String %q: %v", p.Name, text, err)
		}
		if diff := cmp.Diff(*r, twin); diff != "" {
			t.Fatalf("%s became another value by its String %q: %s", p.Name, text, diff)
		}
	}
}

// Set and Check draw the same line for numbers.
func TestRangesAgree(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 11))
	for range 2_000 {
		low := float64(rnd.IntN(200) - 100)
		high := low + float64(rnd.IntN(50))
		v := rnd.IntN(400) - 200
		inside := float64(v) >= low && float64(v) <= high
		var set, filled *int
		err := param.OptInt(&set, "n", "").Between(low, high).Set(strconv.Itoa(v))
		filled = &v
		checked := param.Set{param.OptInt(&filled, "n", "").Between(low, high)}.Check()
		if (err == nil) != inside || (checked == nil) != inside || (set != nil) != inside {
			t.Fatalf("%d in [%v, %v]: Set %v, Check %v", v, low, high, err, checked)
		}
	}
	bad := math.NaN()
	wantFault(t, param.Set{param.Float(&bad, "f", "")}.Check(), "f must be a number")
}

func FuzzText(f *testing.F) {
	f.Add("a red bicycle", 5)
	f.Add("\xffé犬", 3)
	f.Fuzz(func(t *testing.T, in string, most int) {
		var v string
		most = max(most, 1)
		err := param.Text(&v, "prompt", "").AtMost(most).Set(in)
		want := utf8.ValidString(in) && utf8.RuneCountInString(in) <= most
		if (err == nil) != want {
			t.Errorf("Set(%q) of at most %d characters: %v", in, most, err)
		}
		// What a person wrote never comes back in the message.
		if err != nil && len(in) > 20 && strings.Contains(err.Error(), in) {
			t.Errorf("the message repeats the text: %v", err)
		}
	})
}
