package engine

import (
	"context"
	"io"
	"time"
)

// ImageProvider makes and edits pictures at one endpoint. An implementation sends at most one request that the server
// can have taken: it resends only after a refused connection, 429 or 503 (design.md §8). It validates nothing that the
// catalog knows; the engine has done that.
type ImageProvider interface {
	// Name is what flags, journal and results print: "openai", "azure", "emulator".
	Name() string
	// Endpoint is the base URL without user, query or fragment.
	Endpoint() string
	// Native reports whether the endpoint is the vendor's own host, where the catalog's dates bind.
	Native() bool
	// GenerateImages sends one create request and streams each picture into sink.
	GenerateImages(ctx context.Context, call ImageCall, sink ImageSink) (ImageReply, error)
	// EditImages sends one edit request, inputs streamed, and streams each picture into sink.
	EditImages(ctx context.Context, call ImageCall, sink ImageSink) (ImageReply, error)
}

// ImageCall is a resolved and validated request, in the provider's terms. Zero values are not sent.
type ImageCall struct {
	Model             string
	Prompt            string
	N                 int
	Size              string
	Quality           string
	Background        string
	Moderation        string
	OutputFormat      string
	OutputCompression *int // 0..100
	Complexity        string
	InputFidelity     string
	Partials          int  // 0..3; above 0 the reply is streamed
	Stream            bool // asks for a streamed reply; implied by Partials
	FrameCount        int  // GIF only
	FrameDurationMS   int  // GIF only, milliseconds
	SVGModel          string
	SVGEffort         string
	SafetyIdentifier  string
	User              string
	ResponseFormat    string // "b64_json" for compatible servers; GPT image models refuse the parameter
	Images            []Input
	Mask              *Input
	Markup            *Input
	Extra             map[string]any // --param: passed through as given; strings, numbers, bools, JSON values
}

// Input is a picture to send: its sniffed media type, a file name for the multipart part, and its bytes, which can be
// read more than once.
type Input struct {
	Name string // "a.png"
	MIME string // "image/png"
	Size int64  // bytes
	Open func() (io.ReadCloser, error)
}

// Slot names where a picture of a reply belongs.
type Slot struct {
	Index   int // 0-based position in the reply
	Partial int // 0 for the final picture; 1.. for the k-th partial
}

// PictureWriter takes the decoded bytes of one picture. Exactly one of Commit and Abort ends it.
type PictureWriter interface {
	io.Writer
	// Commit ends a complete picture and saves it.
	Commit() error
	// Abort drops an incomplete picture.
	Abort()
}

// ImageSink receives what a provider call yields while it runs. Calls come from one goroutine at a time.
type ImageSink interface {
	// Picture opens the place for one picture. A failed local write never fails the call: the writer spools.
	Picture(slot Slot) (PictureWriter, error)
	// Link records where a picture lies that was made but not read: at another origin, or unreachable just now.
	Link(index int, rawURL string)
	// Retrying tells that the server provably did not take the request and that it is sent again after a pause.
	Retrying(attempt int, pause time.Duration, cause error)
	// Warn adds a warning to the result.
	Warn(message string)
}

// ImageReply is what the provider said beside the pictures.
type ImageReply struct {
	RequestID    string
	Created      time.Time
	Size         string // resolved by the provider, "1024x1024"; empty when it did not say
	Quality      string
	Background   string
	OutputFormat string
	Pictures     int // final pictures committed
	Usage        Usage
}

// Usage is what the provider reported. Counts are tokens; Reported is false when it sent none.
type Usage struct {
	Reported          bool  `json:"-"`
	InputTokens       int64 `json:"input_tokens,omitempty"`
	InputTextTokens   int64 `json:"input_text_tokens,omitempty"`
	InputImageTokens  int64 `json:"input_image_tokens,omitempty"`
	CachedTextTokens  int64 `json:"cached_text_tokens,omitempty"`
	CachedImageTokens int64 `json:"cached_image_tokens,omitempty"`
	OutputTokens      int64 `json:"output_tokens,omitempty"`
	OutputTextTokens  int64 `json:"output_text_tokens,omitempty"`
	OutputImageTokens int64 `json:"output_image_tokens,omitempty"`
	TotalTokens       int64 `json:"total_tokens,omitempty"`
}
