package workspace

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

func TestNames(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"model": "models/veo-3.1", "slug": "a-cat", "odd": "..a:b/../c?.", "none": ""}
	tests := []struct {
		name    string
		file    string
		tmpl    string
		count   int
		ext     string
		byteExt string
		partial int
		want    []string
	}{
		{"default", "", "", 1, "png", "", -1, []string{specName + ".png"}},
		{"default, two", "", "", 2, "jpeg", "", -1, []string{specName + "_1.jpeg", specName + "_2.jpeg"}},
		{"default, other bytes", "", "", 1, "png", "webp", -1, []string{specName + ".webp"}},
		{"preview", "", "", 1, "png", "png", 2, []string{specName + ".partial-2.png"}},
		{"preview of two", "", "", 2, "png", "", 1, []string{specName + "_1.partial-1.png", specName + "_2.partial-1.png"}},
		{"file", "hero.png", "", 1, "png", "", -1, []string{"hero.png"}},
		{"file, spelling stays", "hero.JPG", "", 1, "jpeg", "jpeg", -1, []string{"hero.JPG"}},
		{"file, other bytes", "hero.jpg", "", 1, "jpeg", "png", -1, []string{"hero.png"}},
		{"file, two", "hero.png", "", 2, "png", "", -1, []string{"hero_1.png", "hero_2.png"}},
		{"file, no extension", "hero", "", 1, "png", "", -1, []string{"hero.png"}},
		{"file, no media extension", "v1.2", "", 1, "png", "", -1, []string{"v1.2.png"}},
		{"file, braces are text", "{x}.png", "", 1, "png", "", -1, []string{"{x}.png"}},
		{"file, unknown planned type", "a.bin", "", 1, "bin", "", -1, []string{"a.bin"}},
		{"file, preview", "hero.jpg", "", 1, "jpeg", "jpeg", 1, []string{"hero.partial-1.jpg"}},
		{"dot file", ".png", "", 1, "png", "", -1, []string{".png.png"}},
		{
			"template", "", "{date}-{slug}-{index}.{ext}", 2, "png", "", -1,
			[]string{"2027-01-15-a-cat-1.png", "2027-01-15-a-cat-2.png"},
		},
		{"template without index", "", "{slug}.{ext}", 2, "png", "webp", -1, []string{"a-cat_1.webp", "a-cat_2.webp"}},
		{"template without extension", "", "v1.{index}", 1, "png", "", -1, []string{"v1.1.png"}},
		{"template with a spelling", "", "{slug}.jpg", 1, "jpeg", "jpeg", -1, []string{"a-cat.jpg"}},
		{"template, literal of another type", "", "{slug}.jpg", 1, "png", "", -1, []string{"a-cat.png"}},
		{
			"template with directories", "", "{date}/{model}/{unix}_{time}.{ext}", 1, "png", "", -1,
			[]string{"2027-01-15/models_veo-3.1/1800000000_080000.png"},
		},
		{"extension in the middle", "", "{ext}/{slug}", 1, "png", "webp", -1, []string{"png/a-cat.webp"}},
		{
			"harmless values", "", "{odd}-{none}-{id}.{ext}", 1, "png", "", -1,
			[]string{"a_b_.._c_--b3b1f6c2-0f3e-4c57-9a43-1b8a0c3d2e4f.png"},
		},
		{"stray brace", "", "a}b.{ext}", 1, "png", "", -1, []string{"a}b.png"}},
	}
	for _, tt := range tests {
		s := spec()
		s.Template, s.Count, s.Ext, s.Vars = tt.tmpl, tt.count, tt.ext, vars
		n, err := newNamer(s, tt.file, testNow())
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for i := range tt.count {
			got = append(got, n.name(i, tt.partial, tt.byteExt))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestNamesRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		edit func(s *OutputSpec)
		file string
		says string
	}{
		{
			"unknown placeholder", func(s *OutputSpec) { s.Template = "{sulg}.{ext}" }, "",
			`"{sulg}"; known are {date} {ext} {id} {index} {model} {slug} {time} {tool} {unix}`,
		},
		{"open brace", func(s *OutputSpec) { s.Template = "a{slug" }, "", "without a }"},
		{"absolute", func(s *OutputSpec) { s.Template = "/tmp/{slug}" }, "", "relative path"},
		{"parent", func(s *OutputSpec) { s.Template = "../{slug}" }, "", "relative path"},
		{"inner parent", func(s *OutputSpec) { s.Template = "a/../{slug}" }, "", "relative path"},
		{"double slash", func(s *OutputSpec) { s.Template = "a//{slug}" }, "", "relative path"},
		{"ends in a slash", func(s *OutputSpec) { s.Template = "a/" }, "", "relative path"},
		{"nothing", func(s *OutputSpec) { s.Template = "{slug}"; s.Vars["slug"] = "" }, "", "relative path"},
		{"too long", func(s *OutputSpec) { s.Template = strings.Repeat("x", 250) }, "", "shorten"},
		{"directory too long", func(s *OutputSpec) { s.Template = strings.Repeat("x", 256) + "/a" }, "", "shorten"},
		{"template and file", func(s *OutputSpec) { s.Template = "{slug}" }, "a.png", "needs a directory"},
		{"no extension", func(s *OutputSpec) { s.Ext = "" }, "", "without a dot"},
		{"dotted extension", func(s *OutputSpec) { s.Ext = ".png" }, "", "without a dot"},
		{"path as extension", func(s *OutputSpec) { s.Ext = "png/../x" }, "", "without a dot"},
		{"no id", func(s *OutputSpec) { s.ID = "" }, "", "tool and an id"},
		{"no tool", func(s *OutputSpec) { s.Tool = "" }, "", "tool and an id"},
	}
	for _, tt := range tests {
		s := spec()
		s.Vars = map[string]string{"model": "m", "slug": "s"}
		tt.edit(&s)
		_, err := newNamer(s, tt.file, testNow())
		if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want invalid_argument with %q", tt.name, err, tt.says)
		}
	}
}

// TestDefaultNameIsSanitised follows the contract: a run of other characters becomes one underscore.
func TestDefaultNameIsSanitised(t *testing.T) {
	t.Parallel()
	s := spec()
	s.Tool, s.ID = "google videos//generate", "models/veo-3.1-generate-001/operations/abc"
	n, err := newNamer(s, "", testNow())
	if err != nil {
		t.Fatal(err)
	}
	want := "output_1800000000_media-gen__google_videos_generate_models_veo-3.1-generate-001_operations_abc.png"
	if got := n.name(0, -1, ""); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSlugIsCut: a long slug gives way so that every name fits and what tells outputs apart stays.
func TestSlugIsCut(t *testing.T) {
	t.Parallel()
	for _, slug := range []string{strings.Repeat("x", 400), strings.Repeat("猫", 200), "é" + strings.Repeat("é-", 150)} {
		for _, tmpl := range []string{"{date}-{slug}-{index}.{ext}", "{slug}/{slug}_{id}.{ext}"} {
			s := spec()
			s.Template, s.Vars, s.Count = tmpl, map[string]string{"slug": slug}, 12
			n, err := newNamer(s, "", testNow())
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for i := range 12 {
				for _, partial := range []int{-1, 99} {
					name := n.name(i, partial, "jpeg")
					if seen[name] || !utf8.ValidString(name) {
						t.Errorf("%q comes twice or is no UTF-8", name)
					}
					seen[name] = true
					for seg := range strings.SplitSeq(name, "/") {
						if len(seg) > maxSegment || len(seg) < 100 {
							t.Errorf("a name of %d bytes: %q", len(seg), seg)
						}
					}
				}
			}
		}
	}
}

// TestLongFileIsCut: a name of the longest length that gets a number or another extension still fits.
func TestLongFileIsCut(t *testing.T) {
	t.Parallel()
	s := spec()
	n, err := newNamer(s, strings.Repeat("é", 125)+".png", testNow())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{n.name(0, -1, "webp"), n.name(7, -1, "png"), n.name(0, 3, "png")} {
		if len(name) > maxSegment || !utf8.ValidString(name) || strings.Contains(name, "/") {
			t.Errorf("%q has %d bytes", name, len(name))
		}
	}
}
