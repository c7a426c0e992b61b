package sniff

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"

	"mediagen/internal/fault"
)

// Detect names the type of the bytes that head begins with.
func Detect(head []byte) Type {
	mime, _, _ := strings.Cut(http.DetectContentType(head), ";")
	t, _ := ByMIME(mime)
	return t
}

// Agree compares a declared media type with the one found.
func Agree(declared string, found Type) (string, error) {
	if declared != "" && declared != found.MIME {
		return "", fault.New(fault.MIMEMismatch, "declared type differs from the bytes, which are %s", found.MIME)
	}
	return found.MIME, nil
}

// ByExt finds a type by extension.
func ByExt(ext string) (Type, bool) {
	for _, t := range []Type{{"image/png", "png", KindImage}, {"image/jpeg", "jpeg", KindImage}} {
		if t.Ext == ext {
			return t, true
		}
	}
	return Type{}, false
}

// ByMIME finds a type by media type.
func ByMIME(mime string) (Type, bool) {
	for _, t := range []Type{{"image/png", "png", KindImage}, {"image/jpeg", "jpeg", KindImage}} {
		if t.MIME == mime {
			return t, true
		}
	}
	return Type{}, false
}

// DecodeBase64 decodes strict base64 of at most max bytes.
func DecodeBase64(s string, max int64) ([]byte, error) {
	if int64(len(s)/4*3) > max {
		return nil, fault.New(fault.ItemTooLarge, "base64 item is over the limit of %d bytes", max)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, fault.New(fault.InvalidBase64, "not standard base64")
	}
	return b, nil
}

// NewBase64Reader returns a reader of the decoded bytes of r.
func NewBase64Reader(r io.Reader, stripNewlines bool) io.Reader {
	return base64.NewDecoder(base64.StdEncoding.Strict(), r)
}

// DataURL is a decoded data URL.
type DataURL struct {
	MIME string
	Data []byte
}

// IsDataURL reports whether s begins like a data URL.
func IsDataURL(s string) bool { return len(s) >= 5 && strings.EqualFold(s[:5], "data:") }

// ParseDataURL decodes a data URL of at most max bytes.
func ParseDataURL(s string, max int64) (DataURL, error) {
	head, body, ok := strings.Cut(s, ",")
	if !ok {
		return DataURL{}, fault.New(fault.InvalidURL, "data url has no comma")
	}
	b, err := DecodeBase64(body, max)
	return DataURL{MIME: strings.TrimSuffix(head[5:], ";base64"), Data: b}, err
}

// Bounds are the limits on media.
type Bounds struct {
	ItemBytes, RequestBytes                       int64
	Items                                         int
	AudioDuration, FetchTimeout                   time.Duration
	SaveImage, SaveAudio, SaveDocument, SaveVideo int64
	FramePixels, TotalPixels                      int64
	Side                                          int
	Frames                                        int
	ShellImage                                    int64
	TotalTime, Idle                               time.Duration
}

// DefaultBounds returns the documented bounds.
func DefaultBounds() Bounds {
	return Bounds{
		ItemBytes: 10_000_000, RequestBytes: 32 << 20, Items: 32,
		AudioDuration: 300_000 * time.Millisecond, FetchTimeout: 30 * time.Second,
		SaveImage: 64 << 20, SaveAudio: 256 << 20, SaveDocument: 256 << 20, SaveVideo: 4 << 30,
		FramePixels: 100_000_000, TotalPixels: 256_000_000, Side: 16384, Frames: 500,
		ShellImage: 50_000_000, TotalTime: 15 * time.Minute, Idle: 30 * time.Second,
	}
}

// Lower returns b lowered by the set fields of o.
func (b Bounds) Lower(o Bounds) (Bounds, error) {
	if o.ItemBytes > b.ItemBytes {
		return b, fault.New(fault.InvalidArgument, "item bytes may be lowered, not raised")
	}
	return b, nil
}
