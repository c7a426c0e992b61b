package sniff

import (
	"strings"

	"mediagen/internal/fault"
)

// DataURL is a decoded data URL. MIME is the declared type, lower case and without parameters, or "" when the URL
// declares none or application/octet-stream; it is a claim, to be compared with Detect(Data) through Agree.
type DataURL struct {
	MIME string
	Data []byte
}

// IsDataURL reports whether s begins with the data scheme.
func IsDataURL(s string) bool { return len(s) >= 5 && strings.EqualFold(s[:5], "data:") }

// ParseDataURL decodes a base64 data URL (RFC 2397) of at most limit bytes. Only images, audio, video and PDF travel in
// data URLs here: any other declared type is mime_denied. It also returns invalid_url when s is not a base64 data URL,
// and the errors of DecodeBase64. No error repeats any of s.
func ParseDataURL(s string, limit int64) (DataURL, error) {
	if !IsDataURL(s) {
		return DataURL{}, fault.New(fault.InvalidURL, `not a data URL: it must begin with "data:"`)
	}
	head, body, ok := strings.Cut(s[len("data:"):], ",")
	if !ok {
		return DataURL{}, fault.New(fault.InvalidURL, "the data URL has no comma before its data")
	}
	at := len(head) - len(";base64")
	if at < 0 || !strings.EqualFold(head[at:], ";base64") {
		return DataURL{}, fault.New(fault.InvalidURL, `the data URL must say ";base64" before its comma`)
	}
	mime, err := dataURLType(head[:at])
	if err != nil {
		return DataURL{}, err
	}
	data, err := DecodeBase64(body, limit)
	if err != nil {
		return DataURL{}, err
	}
	return DataURL{MIME: mime, Data: data}, nil
}

func dataURLType(declared string) (string, error) {
	if declared == "" {
		return "", nil
	}
	claim, ok := parseMIME(declared)
	if ok && claim == mimeOctets {
		return "", nil
	}
	major, _, _ := strings.Cut(claim, "/")
	if e, known := lookup(claim); known && e.denied {
		ok = false
	}
	if ok && (major == "image" || major == "audio" || major == "video" || claim == "application/pdf") {
		return claim, nil
	}
	return "", fault.New(fault.MIMEDenied, "a data URL must declare an image, audio, video or PDF type")
}
