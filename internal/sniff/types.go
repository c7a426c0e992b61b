package sniff

import (
	"errors"
	"mime"
	"slices"
	"strings"
)

// entry is one known media type with the names that claims use for it.
type entry struct {
	Type
	exts    []string // further extensions
	aliases []string // declared types that mean the same
	zip     bool     // a ZIP file inside, so that a plain ZIP is no contradiction
	ole     bool     // an OLE2 compound file inside, likewise
	denied  bool     // never accepted from outside: players and shells act on it
}

// Names that more than one rule needs.
const (
	mimeOctets = "application/octet-stream"
	mimeZip    = "application/zip"
	mimeOLE    = "application/x-ole-storage"
	mimeHTML   = "text/html"
	mimePlain  = "text/plain"
	mimeJSON   = "application/json"
	mimeXML    = "application/xml"
	mimeSVG    = "image/svg+xml"
	mimeM3U    = "application/vnd.apple.mpegurl"
	mimeWebM   = "video/webm"
	openXML    = "application/vnd.openxmlformats-officedocument."
)

// known lists every type that Detect can name or that a claim may carry. SVG is a document because it can hold scripts;
// playlists and programs are listed so that they can be named in a refusal.
//
//nolint:gochecknoglobals // a table that nothing writes to
var known = []entry{
	{Type: Type{"image/png", "png", KindImage}, aliases: []string{"image/x-png", "image/apng", "image/vnd.mozilla.apng"}},
	{
		Type: Type{"image/jpeg", "jpeg", KindImage},
		exts: []string{"jpg", "jpe", "jfif"}, aliases: []string{"image/jpg", "image/pjpeg"},
	},
	{Type: Type{"image/webp", "webp", KindImage}},
	{Type: Type{"image/gif", "gif", KindImage}},
	{Type: Type{"image/avif", "avif", KindImage}, exts: []string{"avifs"}, aliases: []string{"image/avif-sequence"}},
	{
		Type: Type{"image/heic", "heic", KindImage}, exts: []string{"heif", "hif", "heics"},
		aliases: []string{"image/heif", "image/heic-sequence", "image/heif-sequence"},
	},
	{
		Type: Type{"image/bmp", "bmp", KindImage},
		exts: []string{"dib"}, aliases: []string{"image/x-ms-bmp", "image/x-bmp"},
	},
	{Type: Type{"image/tiff", "tiff", KindImage}, exts: []string{"tif"}},
	{Type: Type{"image/x-icon", "ico", KindImage}, aliases: []string{"image/vnd.microsoft.icon"}},
	{Type: Type{mimeSVG, "svg", KindDocument}},

	{
		Type: Type{"video/mp4", "mp4", KindVideo},
		exts: []string{"m4v", "mp4v"}, aliases: []string{"video/x-m4v", "application/mp4"},
	},
	{Type: Type{mimeWebM, "webm", KindVideo}},
	{
		Type: Type{"video/quicktime", "mov", KindVideo},
		exts: []string{"qt"}, aliases: []string{"video/x-quicktime"},
	},
	{Type: Type{"video/x-matroska", "mkv", KindVideo}, aliases: []string{"video/matroska"}},
	{Type: Type{"video/x-msvideo", "avi", KindVideo}, aliases: []string{"video/avi", "video/msvideo"}},
	{Type: Type{"video/ogg", "ogv", KindVideo}},
	{Type: Type{"video/3gpp", "3gp", KindVideo}, aliases: []string{"video/3gp"}},
	{Type: Type{"video/3gpp2", "3g2", KindVideo}, aliases: []string{"video/3g2"}},

	{
		Type:    Type{"audio/mpeg", "mp3", KindAudio},
		aliases: []string{"audio/mp3", "audio/mpeg3", "audio/x-mpeg"},
	},
	{
		Type: Type{"audio/wav", "wav", KindAudio}, exts: []string{"wave"},
		aliases: []string{"audio/x-wav", "audio/wave", "audio/vnd.wave"},
	},
	{Type: Type{"audio/ogg", "ogg", KindAudio}, exts: []string{"oga", "opus"}, aliases: []string{"audio/opus"}},
	{Type: Type{"audio/flac", "flac", KindAudio}, aliases: []string{"audio/x-flac"}},
	{Type: Type{"audio/aac", "aac", KindAudio}, aliases: []string{"audio/x-aac", "audio/aacp"}},
	{
		Type: Type{"audio/mp4", "m4a", KindAudio}, exts: []string{"m4b"},
		aliases: []string{"audio/x-m4a", "audio/m4a", "audio/x-mp4a"},
	},
	{
		Type: Type{"audio/aiff", "aiff", KindAudio},
		exts: []string{"aif", "aifc"}, aliases: []string{"audio/x-aiff"},
	},
	{Type: Type{"audio/webm", "weba", KindAudio}},

	{Type: Type{"application/pdf", "pdf", KindDocument}, aliases: []string{"application/x-pdf"}},
	{
		Type:    Type{mimeZip, "zip", KindDocument},
		aliases: []string{"application/x-zip-compressed", "application/x-zip"}, zip: true,
	},
	{Type: Type{"application/x-gzip", "gz", KindDocument}, exts: []string{"tgz"}, aliases: []string{"application/gzip"}},
	{Type: Type{"application/x-7z-compressed", "7z", KindDocument}},
	{
		Type:    Type{"application/vnd.rar", "rar", KindDocument},
		aliases: []string{"application/x-rar-compressed", "application/x-rar"},
	},
	{Type: Type{"application/x-tar", "tar", KindDocument}},
	{Type: Type{openXML + "wordprocessingml.document", "docx", KindDocument}, zip: true},
	{Type: Type{openXML + "spreadsheetml.sheet", "xlsx", KindDocument}, zip: true},
	{Type: Type{openXML + "presentationml.presentation", "pptx", KindDocument}, zip: true},
	{Type: Type{"application/epub+zip", "epub", KindDocument}, zip: true},
	{Type: Type{mimeOLE, "ole", KindDocument}, ole: true},
	{Type: Type{"application/msword", "doc", KindDocument}, ole: true},
	{Type: Type{"application/vnd.ms-excel", "xls", KindDocument}, ole: true},
	{Type: Type{"application/vnd.ms-powerpoint", "ppt", KindDocument}, ole: true},
	{Type: Type{"application/rtf", "rtf", KindDocument}, aliases: []string{"text/rtf"}},

	{Type: Type{mimePlain, "txt", KindText}, exts: []string{"text", "log"}},
	{Type: Type{"text/markdown", "md", KindText}, exts: []string{"markdown"}, aliases: []string{"text/x-markdown"}},
	{Type: Type{"text/csv", "csv", KindText}},
	{Type: Type{mimeHTML, "html", KindText}, exts: []string{"htm", "xhtml"}, aliases: []string{"application/xhtml+xml"}},
	{Type: Type{mimeJSON, "json", KindText}, aliases: []string{"text/json"}},
	{Type: Type{mimeXML, "xml", KindText}, aliases: []string{"text/xml"}},

	{
		Type: Type{mimeM3U, "m3u8", KindUnknown}, exts: []string{"m3u"}, denied: true,
		aliases: []string{"application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl"},
	},
	{
		Type: Type{"application/vnd.microsoft.portable-executable", "exe", KindUnknown}, exts: []string{"dll"}, denied: true,
		aliases: []string{"application/x-msdownload", "application/x-dosexec"},
	},
	{
		Type: Type{"application/x-elf", "elf", KindUnknown}, denied: true,
		aliases: []string{
			"application/x-executable", "application/x-sharedlib", "application/x-object", "application/x-coredump",
		},
	},
	{Type: Type{"application/x-mach-binary", "macho", KindUnknown}, denied: true},
}

// ByExt finds the type that a file extension claims, with or without its dot, in any case. It is a claim, not a fact:
// compare it with Detect through Agree.
func ByExt(ext string) (Type, bool) {
	ext = strings.ToLower(strings.TrimPrefix(ext, "."))
	for _, e := range known {
		if e.Ext == ext || slices.Contains(e.exts, ext) {
			return e.Type, true
		}
	}
	return Type{}, false
}

// ByMIME finds a type by media type or alias; case and parameters do not matter.
func ByMIME(mime string) (Type, bool) {
	declared, ok := parseMIME(mime)
	if !ok {
		return Type{}, false
	}
	e, ok := lookup(declared)
	return e.Type, ok
}

func lookup(mime string) (entry, bool) {
	for _, e := range known {
		if e.MIME == mime || slices.Contains(e.aliases, mime) {
			return e, true
		}
	}
	return entry{}, false
}

// maxMIME is far above the longest registered media type with its parameters.
const maxMIME = 1024

// parseMIME returns the lower-case type/subtype of a declared media type. Broken parameters are forgiven, because they
// are dropped; control characters are not, because a type with a line break is an attack on a header.
func parseMIME(declared string) (string, bool) {
	declared = strings.Trim(declared, " \t")
	if len(declared) > maxMIME || strings.ContainsFunc(declared, isControl) {
		return "", false
	}
	t, _, err := mime.ParseMediaType(declared)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return "", false
	}
	major, minor, ok := strings.Cut(t, "/")
	return t, ok && major != "" && minor != ""
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
