package param_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"mediagen/internal/fault"
	"mediagen/internal/param"
)

var _ pflag.Value = (*param.Param)(nil)

// request has a field for each constructor.
type request struct {
	Prompt, Text, Format, Size, Mask string
	N                                int
	Bytes                            int64
	Opt                              *int
	Ratio                            float64
	On                               bool
	Wait                             time.Duration
	Tags, Pairs, Images              []string
}

func (r *request) params() param.Set {
	return param.Set{
		param.String(&r.Prompt, "prompt", "what the image must show").Need().AtMost(10).Shorthand("p"),
		param.Text(&r.Text, "long_text", "text"),
		param.Enum(&r.Format, "output_format", "format", "png", "jpeg", "webp"),
		param.OpenEnum(&r.Size, "size", "size", "auto", "1024x1024").AtMost(20),
		param.File(&r.Mask, "mask", "mask"),
		param.Int(&r.N, "n", "how many").Between(1, 10),
		param.Size(&r.Bytes, "bytes", "bytes"),
		param.OptInt(&r.Opt, "opt", "opt").Between(0, 100),
		param.Float(&r.Ratio, "ratio", "ratio").Between(-0.5, 2.25),
		param.Bool(&r.On, "on", "on"),
		param.Duration(&r.Wait, "wait", "wait").Between(1, 3600),
		param.Strings(&r.Tags, "tags", "tags").Between(1, 3).AtMost(5),
		param.Strings(&r.Pairs, "pair", "pairs").Repeat(),
		param.Files(&r.Images, "image", "images"),
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		param string
		in    []string
		want  request
		err   string
	}{
		{"string", "prompt", []string{"a bike"}, request{Prompt: "a bike"}, ""},
		{"last string wins", "prompt", []string{"a", "b"}, request{Prompt: "b"}, ""},
		{"longest string", "prompt", []string{"éééééééééé"}, request{Prompt: "éééééééééé"}, ""},
		{"string too long", "prompt", []string{"éééééééééé!"}, request{}, "prompt must have at most 10 characters, not 11"},
		{"not UTF-8", "long_text", []string{"\xff"}, request{}, "long_text must be valid UTF-8"},
		{"text", "long_text", []string{"a\nb, c"}, request{Text: "a\nb, c"}, ""},
		{"enum", "output_format", []string{"jpeg"}, request{Format: "jpeg"}, ""},
		{"enum unset again", "output_format", []string{"jpeg", ""}, request{}, ""},
		{"not in the enum", "output_format", []string{"gif"}, request{}, "output_format must be png, jpeg or webp"},
		{"enum has case", "output_format", []string{"PNG"}, request{}, "output_format must be png, jpeg or webp"},
		{"open enum", "size", []string{"640x480"}, request{Size: "640x480"}, ""},
		{
			"open enum too long",
			"size",
			[]string{"123456789012345678901"},
			request{},
			"size must have at most 20 characters, not 21",
		},
		{"file of any bytes", "mask", []string{"a,\xff.png"}, request{Mask: "a,\xff.png"}, ""},
		{"int", "n", []string{"10"}, request{N: 10}, ""},
		{"int out of range", "n", []string{"11"}, request{}, "n must be between 1 and 10, not 11"},
		{"int 0 said aloud", "n", []string{"0"}, request{}, "n must be between 1 and 10, not 0"},
		{"not an int", "n", []string{"2.5"}, request{}, "n must be a whole number"},
		{"empty int", "n", []string{""}, request{}, "n must be a whole number"},
		{"huge int", "n", []string{"99999999999999999999"}, request{}, "n must be a whole number"},
		{"failed set keeps the value", "n", []string{"3", "30"}, request{N: 3}, "n must be between 1 and 10, not 30"},
		{"optional int", "opt", []string{"0"}, request{Opt: new(0)}, ""},
		{"optional int unset again", "opt", []string{"5", ""}, request{}, ""},
		{"optional int out of range", "opt", []string{"-1"}, request{}, "opt must be between 0 and 100, not -1"},
		{"float", "ratio", []string{"-0.5"}, request{Ratio: -0.5}, ""},
		{"float out of range", "ratio", []string{"2.26"}, request{}, "ratio must be between -0.5 and 2.25, not 2.26"},
		{"not a number", "ratio", []string{"NaN"}, request{}, "ratio must be a number"},
		{"infinite", "ratio", []string{"Inf"}, request{}, "ratio must be a number"},
		{"too large a float", "ratio", []string{"1e999"}, request{}, "ratio must be a number"},
		{"bool", "on", []string{"true"}, request{On: true}, ""},
		{"bool off", "on", []string{"1", "false"}, request{}, ""},
		{"not a bool", "on", []string{"yes"}, request{}, "on must be true or false"},
		{"duration", "wait", []string{"1h"}, request{Wait: time.Hour}, ""},
		{"duration out of range", "wait", []string{"2h"}, request{}, "wait must be between 1 and 3600 s, not 7200"},
		{
			"duration without unit",
			"wait",
			[]string{"30"},
			request{},
			"wait must be a duration with a unit, such as 90s, 5m or 1h30m",
		},
		{"list", "tags", []string{"a, b ,,c"}, request{Tags: []string{"a", "b", "c"}}, ""},
		{"list adds", "tags", []string{"a,b", "c"}, request{Tags: []string{"a", "b", "c"}}, ""},
		{
			"long list",
			"tags",
			[]string{"a,b", "c,d"},
			request{Tags: []string{"a", "b"}},
			"tags must be between 1 and 3 items, not 4",
		},
		{"empty list", "tags", []string{","}, request{}, "tags must be between 1 and 3 items, not 0"},
		{"long item", "tags", []string{"a,bcdefg"}, request{}, "tags must have at most 5 characters, not 6 (position 2)"},
		{"whole values", "pair", []string{"k=a, b", "l=c"}, request{Pairs: []string{"k=a, b", "l=c"}}, ""},
		{
			"empty whole value",
			"pair",
			[]string{"k=v", " "},
			request{Pairs: []string{"k=v"}},
			"pair must not be empty at position 2",
		},
		{
			"files",
			"image",
			[]string{"a,b.png", "https://h/c?d=e,f"},
			request{Images: []string{"a,b.png", "https://h/c?d=e,f"}},
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var r request
			p := r.params().Lookup(tt.param)
			var err error
			for _, in := range tt.in {
				err = p.Set(in)
			}
			wantFault(t, err, tt.err)
			if diff := cmp.Diff(tt.want, r); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func wantFault(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
		if code := fault.CodeOf(err); code != fault.InvalidArgument {
			t.Errorf("code %q, want %q", code, fault.InvalidArgument)
		}
	}
	if got != want {
		t.Errorf("error %q, want %q", got, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		r    request
		err  string
	}{
		{"only what is needed", request{Prompt: "p"}, ""},
		{
			"all",
			request{
				"p", "t", "png", "9x9", "m", 10, 9, new(100), 2.25, true, time.Hour,
				[]string{"a"},
				[]string{"b"},
				[]string{"c"},
			},
			"",
		},
		{"required", request{}, "prompt is required"},
		{"blank", request{Prompt: " \n"}, "prompt is required"},
		{"word", request{Prompt: "p", Format: "gif"}, "output_format must be png, jpeg or webp"},
		{"blank word", request{Prompt: "p", Format: " "}, "output_format must be png, jpeg or webp"},
		{"optional 0 is a value", request{Prompt: "p", Opt: new(-1)}, "opt must be between 0 and 100, not -1"},
		{"empty item", request{Prompt: "p", Images: []string{"a", ""}}, "image must not be empty at position 2"},
		{
			"several",
			request{Prompt: "longer than that", N: 11, Wait: time.Millisecond},
			"prompt must have at most 10 characters, not 16; n must be between 1 and 10, not 11; " +
				"wait must be between 1 and 3600 s, not 0.001",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFault(t, tt.r.params().Check(), tt.err)
		})
	}
}

func TestCheckFixedDefaults(t *testing.T) {
	t.Parallel()
	r := request{Prompt: "p", N: 1, Wait: time.Minute}
	set := r.params()
	wantFault(t, set.Check(), "")
	r.N, r.Wait = 0, 0 // as a JSON decoder would
	wantFault(t, set.Check(), "n must be between 1 and 10, not 0; wait must be between 1 and 3600 s, not 0")
}

func TestCheckRequiredKinds(t *testing.T) {
	t.Parallel()
	var (
		r   request
		n   = 3
		set = param.Set{
			param.OptInt(&r.Opt, "opt", "").Need(), param.Files(&r.Images, "image", "").Need(),
			param.Int(&r.N, "n", "").Need(), param.Duration(&r.Wait, "wait", "").Need(),
			param.Enum(&r.Format, "format", "", "png").Need(),
		}
	)
	wantFault(t, set.Check(), "opt is required; image is required; n is required; wait is required; format is required")
	r.Opt, r.Images, r.N, r.Wait, r.Format = new(int), []string{"a"}, n, time.Second, "png"
	wantFault(t, set.Check(), "")
}

func TestDefault(t *testing.T) {
	t.Parallel()
	r := request{Prompt: "p", N: 2, Ratio: 0.5, On: true, Wait: time.Minute, Tags: []string{"a"}, Opt: new(7)}
	got := map[string]any{}
	for _, p := range r.params() {
		if v, ok := p.Default(); ok {
			got[p.Name] = v
		}
	}
	want := map[string]any{
		"prompt": "p", "n": 2, "ratio": 0.5, "on": true, "wait": time.Minute, "tags": []string{"a"}, "opt": 7,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	set := r.params()
	if err := set.Lookup("tags").Set("b"); err != nil {
		t.Fatal(err)
	}
	if v, _ := set.Lookup("tags").Default(); cmp.Diff([]string{"a"}, v) != "" || cmp.Diff([]string{"b"}, r.Tags) != "" {
		t.Errorf("default %v, value %v: want the first Set to replace the default", v, r.Tags)
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	var r request
	set := r.params()
	got := map[string][]string{}
	for _, p := range set {
		got[p.Name] = []string{p.Flag(), p.Type(), p.Short}
	}
	want := map[string][]string{
		"prompt": {"prompt", "string", "p"}, "long_text": {"long-text", "text", ""},
		"output_format": {"output-format", "string", ""}, "size": {"size", "string", ""}, "mask": {"mask", "file", ""},
		"n": {"n", "int", ""}, "opt": {"opt", "int", ""}, "ratio": {"ratio", "float", ""}, "on": {"on", "bool", ""},
		"wait": {"wait", "duration", ""}, "tags": {"tags", "strings", ""}, "pair": {"pair", "strings", ""},
		"image": {"image", "file", ""}, "bytes": {"bytes", "size", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !set.Lookup("opt").Optional() || set.Lookup("n").Optional() {
		t.Error("only opt tells 0 from nothing")
	}
	if set.Lookup("nothing") != nil {
		t.Error("Lookup found a parameter that is not there")
	}
}

func TestMistakesInTheListPanic(t *testing.T) {
	t.Parallel()
	var s string
	for name, build := range map[string]func(){
		"range of a string": func() { param.String(&s, "s", "").Between(1, 2) },
		"range of an enum":  func() { param.Enum(&s, "s", "", "a").Between(1, 2) },
		"empty range":       func() { param.Int(new(int), "n", "").Between(2, 1) },
		"repeated string":   func() { param.File(&s, "s", "").Repeat() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			build()
		}()
	}
}

// pflag is how the command line uses the list.
func TestFlagSet(t *testing.T) {
	t.Parallel()
	r := request{N: 1}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, p := range r.params() {
		f := flags.VarPF(p, p.Flag(), p.Short, p.Usage)
		if p.Kind == param.KindBool {
			f.NoOptDefVal = "true"
		}
	}
	usage := flags.FlagUsages()
	if want := "      --n int                  how many (default 1)\n"; !contains(usage, want) {
		t.Errorf("usage lacks %q:\n%s", want, usage)
	}
	err := flags.Parse([]string{
		"-p", "bike", "--on", "--output-format=webp", "--image", "a", "--image", "b,c", "--n", "4",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := request{Prompt: "bike", On: true, Format: "webp", Images: []string{"a", "b,c"}, N: 4}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	wantFault(t, unwrapped(flags.Parse([]string{"--output-format", "gif"})), "output_format must be png, jpeg or webp")
}
