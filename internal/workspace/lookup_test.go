package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

const (
	uuidA = "b3b1f6c2-0f3e-4c57-9a43-1b8a0c3d2e4f"
	uuidB = "11111111-2222-4333-8444-555555555555"
	job   = "mbq3k2ab7xyz"
)

// pictures fills a directory with names as this program, the reference server and people make them.
func pictures(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{
		"output_1800000000_media-gen__openai-images-generate_" + uuidA + "_1.png",
		"output_1800000000_media-gen__openai-images-generate_" + uuidA + "_2.webp",
		"output_1800000000_media-gen__openai-images-generate_" + uuidA + "_10.PNG",
		"output_1800000000_media-gen__openai-images-generate_" + uuidA + "_1.partial-1.png",
		"output_1800000000_media-gen__openai-images-generate_" + uuidA + "_1.png.json",
		"output_1800000000_media-gen__fetch-images_" + uuidB + ".jpeg",
		"output_1800000001_media-gen__openai-videos-create_video_abc123_video.mp4",
		"output_1800000001_media-gen__openai-videos-create_video_abc123_thumbnail.webp",
		"output_1800000001_media-gen__openai-videos-create_video_abc1234.mp4",
		"output_1800000002_media-gen__google-videos-generate_models_veo-3.1-generate-001_operations_abc_1.mp4",
		"output_1800000003_media-gen__images_generate_" + uuidB + ".png",
		"output_1800000004_media-gen__openai-images-generate_" + job + ".png",
		"2027-01-15_cat_" + uuidA + ".png",
		"cat_" + job + "_3.png",
		"catmbq3k2ab7xyz.png",
		"x_" + job + "q.png",
		"notes.txt",
		tempPrefix + "_" + uuidA + ".png",
	} {
		write(t, filepath.Join(dir, name), name)
	}
	write(t, filepath.Join(dir, "sub", "x_"+uuidA+".png"), "below")
	mkdir(t, filepath.Join(dir, "dir_"+uuidA+".png"))
	symlink(t, "notes.txt", filepath.Join(dir, "link_"+uuidA+".png"))
}

func TestFindByID(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	pictures(t, s.media)
	w := open(t, s.config())
	images := []string{"png", ".jpg", "jpeg", "webp"}
	const o, gen = "output_1800000000_media-gen__", "openai-images-generate_"
	tests := []struct {
		name string
		ids  []string
		exts []string
		want []string
	}{
		{"uuid, numbers in order", []string{uuidA}, images, []string{
			"2027-01-15_cat_" + uuidA + ".png",
			o + gen + uuidA + "_1.png", o + gen + uuidA + "_2.webp", o + gen + uuidA + "_10.PNG",
		}},
		{"order of the ids, once each", []string{uuidB, uuidA, uuidB}, []string{"jpeg", "webp"}, []string{
			o + "fetch-images_" + uuidB + ".jpeg", o + gen + uuidA + "_2.webp",
		}},
		{"a tool with an underscore", []string{uuidB}, []string{"png"}, []string{
			"output_1800000003_media-gen__images_generate_" + uuidB + ".png",
		}},
		{"job", []string{job}, nil, []string{
			"cat_" + job + "_3.png", "output_1800000004_media-gen__" + gen + job + ".png",
		}},
		{"provider's video", []string{"video_abc123"}, nil, []string{
			"output_1800000001_media-gen__openai-videos-create_video_abc123_thumbnail.webp",
			"output_1800000001_media-gen__openai-videos-create_video_abc123_video.mp4",
		}},
		{"operation name", []string{"models/veo-3.1-generate-001/operations/abc"}, []string{"mp4"}, []string{
			"output_1800000002_media-gen__google-videos-generate_models_veo-3.1-generate-001_operations_abc_1.mp4",
		}},
		{"operation as in the file name", []string{"models_veo-3.1-generate-001_operations_abc"}, nil, []string{
			"output_1800000002_media-gen__google-videos-generate_models_veo-3.1-generate-001_operations_abc_1.mp4",
		}},
		{"all files of an id", []string{uuidA}, []string{"json"}, []string{
			o + gen + uuidA + "_1.png.json",
		}},
		{"not a prefix of an id", []string{uuidA[:8], "video_abc12", "video"}, nil, nil},
		{"not the end of an id", []string{"abc123", "abc", "operations_abc"}, nil, nil},
		{"not a word of every name", []string{"media-gen", "output", "1", "1_png", "openai-images-generate"}, nil, nil},
		{"unknown", []string{"99999999-2222-4333-8444-555555555555"}, nil, nil},
		{"no ids", nil, nil, nil},
	}
	for _, tt := range tests {
		got, err := w.FindByID(tt.ids, tt.exts)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var want []string
		for _, name := range tt.want {
			want = append(want, s.in(name))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, id := range []string{"", "*", "a*", "../x", "_", "a b", "a\nb", strings.Repeat("a", 256)} {
		_, err := w.FindByID([]string{uuidA, id}, nil)
		wantCode(t, err, fault.InvalidArgument)
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	ages := map[string]int{
		"a.png": 3, "b.PNG": 1, "c.webp": 2, "d.mp4": 0, "same2.png": 5, "same1.png": 5,
		"p.partial-1.png": 0, tempPrefix + "x.png": 0, "sub/e.png": 0,
	}
	for name, hours := range ages {
		write(t, filepath.Join(s.work, filepath.FromSlash(name)), name)
		when := testNow().Add(-time.Duration(hours) * time.Hour)
		if err := os.Chtimes(filepath.Join(s.work, filepath.FromSlash(name)), when, when); err != nil {
			t.Fatal(err)
		}
	}
	symlink(t, "a.png", filepath.Join(s.work, "link.png"))
	w := open(t, s.shell()) // a person's lookups search the working directory
	tests := []struct {
		n    int
		exts []string
		want []string
	}{
		{1, nil, []string{"d.mp4"}},
		{3, []string{"png", "webp"}, []string{"b.PNG", "c.webp", "a.png"}},
		{99, []string{".PNG"}, []string{"b.PNG", "a.png", "same1.png", "same2.png"}},
		{1, []string{"gif"}, nil},
	}
	for _, tt := range tests {
		got, err := w.Latest(tt.n, tt.exts)
		var want []string
		for _, name := range tt.want {
			want = append(want, filepath.Join(s.work, name))
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Latest(%d, %v): %v (-want +got):\n%s", tt.n, tt.exts, err, diff)
		}
	}
	for _, n := range []int{0, -1} {
		_, err := w.Latest(n, nil)
		wantCode(t, err, fault.InvalidArgument)
	}
}

// TestSavedIsFound: what Plan names, FindByID finds, for each kind of id.
func TestSavedIsFound(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	w := open(t, s.config())
	for _, id := range []string{uuidA, job, "video_68d7512d", "v1_ChdXaGF0", "models/veo-3.1/operations/x-1"} {
		for _, count := range []int{1, 2} {
			p := spec()
			p.ID, p.Count = id, count
			target := plan(t, w, p)
			var want []string
			for i := range count {
				saved, err := create(t, target, i).Commit("jpeg")
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, saved.Path)
			}
			got, err := w.FindByID([]string{id}, []string{"jpeg"})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", id, err, diff)
			}
			for _, path := range want {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
