package sniff_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func TestDefaultBounds(t *testing.T) {
	t.Parallel()
	want := sniff.Bounds{ // design.md §5 and, for frames, security.md §6
		ItemBytes: 10_000_000, RequestBytes: 33_554_432, Items: 32,
		AudioDuration: 5 * time.Minute, FetchTimeout: 30 * time.Second,
		SaveImage: 67_108_864, SaveAudio: 268_435_456, SaveDocument: 268_435_456, SaveVideo: 4_294_967_296,
		TotalTime: 15 * time.Minute, Idle: 30 * time.Second,
		ReplyImage: 268_435_456, Reply: 2_147_483_648, // ours: a reply is paid for, so they only end what never ends
		FramePixels: 100_000_000, TotalPixels: 256_000_000, Side: 16_384, Frames: 500,
		ShellImage: 50_000_000,
	}
	if diff := cmp.Diff(want, sniff.DefaultBounds()); diff != "" {
		t.Errorf("DefaultBounds (-want +got):\n%s", diff)
	}
}

func TestLower(t *testing.T) {
	t.Parallel()
	b := sniff.DefaultBounds()
	want := b
	want.ItemBytes, want.Side, want.Idle = 1000, 512, time.Second
	got, err := b.Lower(sniff.Bounds{ItemBytes: 1000, Side: 512, Idle: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Lower (-want +got):\n%s", diff)
	}
	if same, err := b.Lower(b); err != nil || same != b {
		t.Errorf("Lower to the same bounds: %v", err)
	}
	for name, o := range map[string]sniff.Bounds{
		"raised size":     {SaveVideo: b.SaveVideo + 1},
		"raised duration": {FetchTimeout: b.FetchTimeout + 1},
		"raised count":    {Items: b.Items + 1},
		"negative":        {Frames: -1},
	} {
		if _, err := b.Lower(o); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s: %v, want invalid_argument", name, err)
		}
	}
}

func TestCheckItemsAndSizes(t *testing.T) {
	t.Parallel()
	b := sniff.DefaultBounds()
	tests := []struct {
		name string
		err  error
		want fault.Code
	}{
		{"32 items", b.CheckItems(32), ""},
		{"33 items", b.CheckItems(33), fault.TooManyItems},
		{"item at the bound", b.CheckSizes(10_000_000), ""},
		{"item over the bound", b.CheckSizes(10_000_001), fault.ItemTooLarge},
		{"request at the bound", b.CheckSizes(8_388_608, 8_388_608, 8_388_608, 8_388_608), ""},
		{"request over the bound", b.CheckSizes(8_388_608, 8_388_608, 8_388_608, 8_388_608, 1), fault.RequestTooLarge},
		{"no items", b.CheckSizes(), ""},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, fault.CodeOf(tt.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
