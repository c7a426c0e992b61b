package sniff

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/gabriel-vasile/mimetype"
)

// Detect names the type of an item from its first bytes; only the first HeadBytes count. The zero Type means unknown.
//
// Images, video and audio are named only by the strict rules of this package, which look further than a magic number:
// a PNG needs its IHDR, an MP4 a known brand, an MP3 two frames in a row. For documents and text the mimetype library
// is asked, and its answer counts where it names a type of this package's table. HTML and other text is KindText, SVG
// is KindDocument. The types that Agree always refuses (playlists, programs) have KindUnknown and a MIME.
func Detect(head []byte) Type {
	head = head[:min(len(head), HeadBytes)]
	if mime := detectMedia(head); mime != "" {
		return typeOf(mime)
	}
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return typeOf("application/pdf")
	}
	return detectOther(head)
}

func typeOf(mime string) Type {
	e, _ := lookup(mime)
	return e.Type
}

// detectOther takes the library's opinion on documents and text. A media type among its answers is not believed: the
// strict rules have said no. Neither is a PDF that does not start at offset 0.
func detectOther(head []byte) Type {
	if len(head) == 0 {
		return Type{}
	}
	asked := head
	text := false
	if len(head) == HeadBytes {
		asked = wholeLines(head)
	}
	for m := mimetype.Detect(asked); m != nil; m = m.Parent() {
		e, ok := lookup(bareMIME(m.String()))
		if !ok {
			continue
		}
		if e.denied {
			return e.Type
		}
		if e.MIME == mimePlain {
			text = true
			break
		}
		if (e.Kind == KindDocument || e.Kind == KindText) && e.MIME != "application/pdf" {
			return e.Type
		}
	}
	switch {
	case !text:
		return Type{}
	case isPlaylist(head):
		return typeOf(mimeM3U)
	case len(head) == HeadBytes && startsJSON(head):
		return typeOf(mimeJSON)
	}
	return typeOf(mimePlain)
}

// wholeLines cuts a head that ends in the middle of an item after its last line break: the library would otherwise take
// the broken line for a fault in the CSV or XML.
func wholeLines(head []byte) []byte {
	if i := bytes.LastIndexByte(head, '\n'); i > len(head)/2 {
		return head[:i+1]
	}
	return head
}

// isPlaylist catches a playlist that the library does not see, behind a byte order mark or blank lines.
func isPlaylist(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(bytes.ToUpper(head[:min(len(head), 7)]), []byte("#EXTM3U"))
}

// startsJSON reports whether head is the valid beginning of a JSON object or array that goes on after it.
func startsJSON(head []byte) bool {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(trimmed))
	for {
		if _, err := d.Token(); err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// bareMIME drops the parameters of a well-formed media type.
func bareMIME(m string) string {
	bare, _, _ := bytes.Cut([]byte(m), []byte(";"))
	return string(bare)
}
