package sniff

import (
	"reflect"
	"time"

	"mediagen/internal/fault"
)

// Bounds are the limits on media, each by the door it belongs to. Sizes are in bytes. A zero Bounds refuses everything;
// start from DefaultBounds and Lower it.
type Bounds struct {
	// Media that an MCP caller hands to a provider by URL or base64.
	ItemBytes     int64         // one item
	RequestBytes  int64         // all items of a request together
	Items         int           // items in a request
	AudioDuration time.Duration // one audio item
	FetchTimeout  time.Duration // one fetch of such an item

	// Downloads that are saved to disk.
	SaveImage, SaveAudio, SaveDocument, SaveVideo int64
	TotalTime                                     time.Duration // one download from start to end
	Idle                                          time.Duration // without a byte

	// Replies of a provider, which are paid for and come whatever their size: far above what any model makes.
	ReplyImage int64 // one picture
	Reply      int64 // all of it

	// Pictures, checked from the header before anything is decoded.
	FramePixels int64 // one frame
	TotalPixels int64 // all frames of an animation together
	Side        int   // width or height, in pixels
	Frames      int   // frames of an animation

	// ShellImage bounds a picture that a shell user or a path below a root names: the models' own limit.
	ShellImage int64
}

// DefaultBounds returns the documented bounds. This is the only place where these numbers stand.
func DefaultBounds() Bounds {
	return Bounds{
		ItemBytes:     10_000_000,
		RequestBytes:  32 << 20,
		Items:         32,
		AudioDuration: 300_000 * time.Millisecond,
		FetchTimeout:  30 * time.Second,
		SaveImage:     64 << 20,
		SaveAudio:     256 << 20,
		SaveDocument:  256 << 20,
		SaveVideo:     4 << 30,
		TotalTime:     15 * time.Minute,
		Idle:          30 * time.Second,
		ReplyImage:    256 << 20,
		Reply:         2 << 30,
		FramePixels:   100_000_000,
		TotalPixels:   256_000_000,
		Side:          16_384,
		Frames:        500,
		ShellImage:    50_000_000,
	}
}

// Lower returns b with the fields that o sets. A zero field of o keeps b's value; a field above b's, or a negative one,
// is invalid_argument: a call may lower a bound, never raise it.
func (b Bounds) Lower(o Bounds) (Bounds, error) {
	to, from := reflect.ValueOf(&b).Elem(), reflect.ValueOf(o)
	for i := range to.NumField() {
		want, ceiling := from.Field(i).Int(), to.Field(i).Int()
		if want == 0 {
			continue
		}
		if want < 0 || want > ceiling {
			return Bounds{}, fault.New(fault.InvalidArgument, "bound %s must lie between 1 and %v, got %v",
				to.Type().Field(i).Name, to.Field(i).Interface(), from.Field(i).Interface())
		}
		to.Field(i).SetInt(want)
	}
	return b, nil
}

// CheckItems returns too_many_items when a request has more than b.Items media items. Call it before any I/O.
func (b Bounds) CheckItems(n int) error {
	if n > b.Items {
		return fault.New(fault.TooManyItems, "%d media items in one request, at most %d are allowed", n, b.Items)
	}
	return nil
}

// CheckSizes returns item_too_large or request_too_large when one of a request's items, or all of them together, hold
// more bytes than b.ItemBytes and b.RequestBytes allow.
func (b Bounds) CheckSizes(sizes ...int64) error {
	left := b.RequestBytes
	for _, n := range sizes {
		if err := checkItem(n, b.ItemBytes); err != nil {
			return err
		}
		if n > left {
			return fault.New(fault.RequestTooLarge, "the media of one request exceed %d bytes together", b.RequestBytes)
		}
		left -= n
	}
	return nil
}

func checkItem(n, limit int64) error {
	if n > limit {
		return fault.New(fault.ItemTooLarge, "item of %d bytes, at most %d are allowed", n, limit)
	}
	return nil
}
