package emulator_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"mediagen/internal/emulator"
)

// streamed is what a stream of create events came to.
type streamed struct {
	Partials []int64
	Done     int
	Output   int64
	Input    int64
}

func consume(t *testing.T, s *ssestream.Stream[openai.ImageGenStreamEventUnion]) (streamed, error) {
	t.Helper()
	defer func() { _ = s.Close() }()
	var got streamed
	for s.Next() {
		switch e := s.Current().AsAny().(type) {
		case openai.ImageGenPartialImageEvent:
			got.Partials = append(got.Partials, e.PartialImageIndex)
			unbase64(t, e.B64JSON)
		case openai.ImageGenCompletedEvent:
			got.Done++
			got.Output += e.Usage.OutputTokens
			got.Input += e.Usage.InputTokens
			unbase64(t, e.B64JSON)
		}
	}
	return got, s.Err()
}

func withFault(spec string) option.RequestOption {
	return option.WithHeader(emulator.FaultHeader, spec)
}

func streamParams(n, partials int64) openai.ImageGenerateParams {
	return openai.ImageGenerateParams{
		Prompt: "a fox", Model: "test-model", Size: "64x64", N: openai.Int(n), PartialImages: openai.Int(partials),
		Quality: "low",
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	origin := checked(t)
	tests := []struct {
		name        string
		n, partials int64
		want        streamed
	}{
		{"completed only", 1, 0, streamed{nil, 1, 1, 8}},
		{"two partials", 1, 2, streamed{[]int64{0, 1}, 1, 201, 8}},
		{"three pictures", 3, 1, streamed{[]int64{0, 0, 0}, 3, 303, 8}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			svc := sdk(origin)
			got, err := consume(t, svc.GenerateStreaming(t.Context(), streamParams(tt.n, tt.partials)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStreamFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		spec    string
		want    streamed
		wantErr bool
	}{
		{"cut-stream", streamed{Partials: []int64{0, 1}}, false},
		{"cut-stream:reset", streamed{Partials: []int64{0, 1}}, true},
		{"json-for-stream", streamed{}, false},
		{"empty", streamed{}, false},
		{"fewer", streamed{}, false},
		{"escaped-slashes", streamed{[]int64{0, 1}, 1, 201, 8}, false},
		{"slow:20ms", streamed{[]int64{0, 1}, 1, 201, 8}, false},
		{"stream-error", streamed{Partials: []int64{0, 1}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.spec, func(t *testing.T) {
			t.Parallel()
			origin, _ := start(t, emulator.Options{})
			svc := sdk(origin)
			got, err := consume(t, svc.GenerateStreaming(t.Context(), streamParams(1, 2), withFault(tt.spec)))
			if (err != nil) != tt.wantErr {
				t.Errorf("error = %v, want one: %v", err, tt.wantErr)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if tt.spec != "stream-error" {
				return
			}
			e, ok := errors.AsType[*ssestream.StreamError](err)
			if !ok || !strings.Contains(string(e.Event.Data), `"code":"server_error"`) {
				t.Errorf("error = %#v, want a stream error that carries the error object", err)
			}
		})
	}
}

func TestErrorBeforeStream(t *testing.T) {
	t.Parallel()
	origin, _ := start(t, emulator.Options{})
	svc := sdk(origin)
	_, err := consume(t, svc.GenerateStreaming(t.Context(), streamParams(1, 0), withFault("moderation")))
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != 400 || e.Code != "moderation_blocked" {
		t.Errorf("error = %v, want an API error with code moderation_blocked", err)
	}
}

func TestEditStream(t *testing.T) {
	t.Parallel()
	svc := sdk(checked(t))
	picture := bytes.NewReader(pngOf(t, 32, 32, false))
	s := svc.EditStreaming(t.Context(), openai.ImageEditParams{
		Prompt: "wider", Model: "test-model", Size: "64x64", PartialImages: openai.Int(1),
		Image: openai.ImageEditParamsImageUnion{OfFile: openai.File(picture, "a.png", "image/png")},
	})
	defer func() { _ = s.Close() }()
	var got []string
	for s.Next() {
		got = append(got, s.Current().Type)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	if diff := cmp.Diff([]string{"image_edit.partial_image", "image_edit.completed"}, got); diff != "" {
		t.Error(diff)
	}
}
