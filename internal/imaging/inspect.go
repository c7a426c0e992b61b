package imaging

import (
	"io"
	"strings"

	"mediagen/internal/sniff"
)

// Check returns what Convert would say about s before it looks at a picture: invalid_argument, or nil.
func (s Spec) Check() error { return s.check() }

// Profile returns the name of the colour profile that a picture of size bytes embeds, from its description or else from
// its colour space; "" when there is none, or none that can be read. It reads the headers, at most maxProfile bytes of
// a file that keeps its profile there, and reports no error: Probe does.
func Profile(r io.ReaderAt, size int64, b sniff.Bounds) string {
	s := source{r, size}
	h, err := probe(s, b)
	if err != nil {
		return ""
	}
	var p []byte
	switch h.Format {
	case "tiff":
		p = tiffProfile(s)
	case "avif", "heic":
		if h.profile.r != nil && h.profile.size <= maxProfile {
			p, _ = h.profile.read(0, int(h.profile.size)) // an error leaves it empty
		}
	default:
		head, err := s.read(0, int(min(size, maxProfile)))
		if err != nil {
			return ""
		}
		p = iccProfile(head, h)
	}
	if len(p) < 132 { // header and number of tags (ICC.1 §7.1)
		return ""
	}
	if name := iccText(iccTags(p)["desc"]); name != "" {
		return name
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(p[16:20]), "")) + " profile"
}
