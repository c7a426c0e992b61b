package sniff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func TestAgree(t *testing.T) {
	t.Parallel()
	const docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	tests := []struct {
		declared, found string
		want            string
		code            fault.Code
	}{
		// Every alias of security.md §6.
		{declared: "image/jpg", found: "image/jpeg", want: "image/jpeg"},
		{declared: "image/pjpeg", found: "image/jpeg", want: "image/jpeg"},
		{declared: "image/x-png", found: "image/png", want: "image/png"},
		{declared: "image/heif", found: "image/heic", want: "image/heic"},
		{declared: "image/x-ms-bmp", found: "image/bmp", want: "image/bmp"},
		{declared: "image/vnd.microsoft.icon", found: "image/x-icon", want: "image/x-icon"},
		{declared: "audio/x-wav", found: "audio/wav", want: "audio/wav"},
		{declared: "audio/vnd.wave", found: "audio/wav", want: "audio/wav"},
		{declared: "audio/mpeg3", found: "audio/mpeg", want: "audio/mpeg"},
		{declared: "audio/x-mpeg", found: "audio/mpeg", want: "audio/mpeg"},
		{declared: "audio/x-m4a", found: "audio/mp4", want: "audio/mp4"},
		{declared: "audio/m4a", found: "audio/mp4", want: "audio/mp4"},
		{declared: "audio/aacp", found: "audio/aac", want: "audio/aac"},
		{declared: "audio/opus", found: "audio/ogg", want: "audio/ogg"},
		{declared: "application/ogg", found: "audio/ogg", want: "audio/ogg"},
		{declared: "application/ogg", found: "video/ogg", want: "video/ogg"},
		{declared: "application/ogg", found: "image/png", code: fault.MIMEMismatch},
		{declared: "audio/x-aiff", found: "audio/aiff", want: "audio/aiff"},
		{declared: "audio/webm", found: "video/webm", want: "audio/webm"},
		{declared: "video/x-m4v", found: "video/mp4", want: "video/mp4"},
		{declared: "application/mp4", found: "video/mp4", want: "video/mp4"},
		{declared: "video/x-quicktime", found: "video/quicktime", want: "video/quicktime"},
		{declared: "video/matroska", found: "video/x-matroska", want: "video/x-matroska"},
		{declared: "video/avi", found: "video/x-msvideo", want: "video/x-msvideo"},
		{declared: "application/x-zip-compressed", found: "application/zip", want: "application/zip"},
		{declared: "application/gzip", found: "application/x-gzip", want: "application/x-gzip"},
		{declared: "text/xml", found: "application/xml", want: "application/xml"},
		{declared: docx, found: "application/zip", want: docx},
		{declared: "application/zip", found: docx, want: docx},
		{declared: "application/msword", found: "application/x-ole-storage", want: "application/msword"},

		// Text: the declaration knows more than the bytes, except that HTML stays HTML.
		{declared: "text/markdown", found: "text/plain", want: "text/markdown"},
		{declared: "text/plain", found: "text/csv", want: "text/plain"},
		{declared: "text/plain; charset=utf-8", found: "text/html", want: "text/html"},
		{declared: "text/html", found: "text/plain", want: "text/html"},
		{declared: "application/json", found: "text/plain", want: "application/json"},
		{declared: "text/x-python", found: "text/plain", want: "text/plain"},
		{declared: "text/plain", found: "image/png", code: fault.MIMEMismatch},

		// No claim.
		{declared: "", found: "image/png", want: "image/png"},
		{declared: "  ", found: "image/png", want: "image/png"},
		{declared: "application/octet-stream", found: "video/mp4", want: "video/mp4"},
		{declared: "binary/octet-stream", found: "image/webp", want: "image/webp"},
		{declared: "", found: "", want: "application/octet-stream"},

		// Lies and unknown bytes.
		{declared: "image/png", found: "image/webp", code: fault.MIMEMismatch},
		{declared: "image/png", found: "text/html", code: fault.MIMEMismatch},
		{declared: "image/png", found: "image/svg+xml", code: fault.MIMEMismatch},
		{declared: "image/svg+xml", found: "image/png", code: fault.MIMEMismatch},
		{declared: "video/mp4", found: "video/quicktime", code: fault.MIMEMismatch},
		{declared: "audio/mp4", found: "video/mp4", code: fault.MIMEMismatch},
		{declared: "video/mp4", found: "", code: fault.MIMEMismatch},
		{declared: "image/jxl", found: "", code: fault.MIMEMismatch},
		{declared: "audio/midi", found: "", code: fault.MIMEMismatch},
		{declared: "image/jxl", found: "image/png", code: fault.MIMEMismatch},
		{declared: "application/pdf", found: "", code: fault.MIMEMismatch},
		{declared: "application/vnd.sqlite3", found: "", want: "application/octet-stream"},

		// No media types, and bytes that are never accepted.
		{declared: "image", found: "image/png", code: fault.MIMEDenied},
		{declared: "image/", found: "image/png", code: fault.MIMEDenied},
		{declared: "image/png\nx", found: "image/png", code: fault.MIMEDenied},
		{declared: "image/<png>", found: "image/png", code: fault.MIMEDenied},
		{declared: "image/png; a=" + strings.Repeat("b", 2000), found: "image/png", code: fault.MIMEDenied},
		{declared: "image/png; =", found: "image/png", want: "image/png"},
		{declared: "video/mp4", found: "application/vnd.apple.mpegurl", code: fault.MIMEDenied},
		{declared: "", found: "application/x-elf", code: fault.MIMEDenied},
	}
	for _, tt := range tests {
		t.Run(tt.declared+" over "+tt.found, func(t *testing.T) {
			t.Parallel()
			var found sniff.Type
			if tt.found != "" {
				var ok bool
				if found, ok = sniff.ByMIME(tt.found); !ok {
					t.Fatalf("%s is not in the table", tt.found)
				}
			}
			got, err := sniff.Agree(tt.declared, found)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Agree (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.code, fault.CodeOf(err)); diff != "" {
				t.Errorf("code (-want +got):\n%s\n%v", diff, err)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\r\n<>") {
				t.Errorf("the message echoes the declaration: %q", err)
			}
		})
	}
}

func TestByExt(t *testing.T) {
	t.Parallel()
	tests := map[string]sniff.Type{
		"png":   {MIME: "image/png", Ext: "png", Kind: sniff.KindImage},
		".JPG":  {MIME: "image/jpeg", Ext: "jpeg", Kind: sniff.KindImage},
		"jpeg":  {MIME: "image/jpeg", Ext: "jpeg", Kind: sniff.KindImage},
		"svg":   {MIME: "image/svg+xml", Ext: "svg", Kind: sniff.KindDocument},
		"m4v":   {MIME: "video/mp4", Ext: "mp4", Kind: sniff.KindVideo},
		"mov":   {MIME: "video/quicktime", Ext: "mov", Kind: sniff.KindVideo},
		"m4a":   {MIME: "audio/mp4", Ext: "m4a", Kind: sniff.KindAudio},
		"opus":  {MIME: "audio/ogg", Ext: "ogg", Kind: sniff.KindAudio},
		"md":    {MIME: "text/markdown", Ext: "md", Kind: sniff.KindText},
		"rtf":   {MIME: "application/rtf", Ext: "rtf", Kind: sniff.KindDocument},
		"":      {},
		"nope":  {},
		"a.png": {},
	}
	for ext, want := range tests {
		got, ok := sniff.ByExt(ext)
		if diff := cmp.Diff(want, got); diff != "" || ok != (want != sniff.Type{}) {
			t.Errorf("ByExt(%q) ok=%v (-want +got):\n%s", ext, ok, diff)
		}
	}
}

func TestByMIME(t *testing.T) {
	t.Parallel()
	got, ok := sniff.ByMIME("IMAGE/JPG; q=1")
	want := sniff.Type{MIME: "image/jpeg", Ext: "jpeg", Kind: sniff.KindImage}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("ByMIME ok=%v (-want +got):\n%s", ok, diff)
	}
	for _, bad := range []string{"", "png", "image/jxl", "image/png\r\nX: y"} {
		if got, ok := sniff.ByMIME(bad); ok {
			t.Errorf("ByMIME(%q) = %v, want none", bad, got)
		}
	}
}
