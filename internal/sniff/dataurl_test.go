package sniff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

func TestParseDataURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   string
		want sniff.DataURL
		code fault.Code
	}{
		{"png", "data:image/png;base64,aGk=", sniff.DataURL{MIME: "image/png", Data: []byte("hi")}, ""},
		{"upper case", "DATA:Image/PNG;BASE64,aGk=", sniff.DataURL{MIME: "image/png", Data: []byte("hi")}, ""},
		{"parameters", "data:image/png;name=a;base64,aGk=", sniff.DataURL{MIME: "image/png", Data: []byte("hi")}, ""},
		{"no type", "data:;base64,aGk=", sniff.DataURL{Data: []byte("hi")}, ""},
		{"octets", "data:application/octet-stream;base64,aGk=", sniff.DataURL{Data: []byte("hi")}, ""},
		{"pdf", "data:application/pdf;base64,aGk=", sniff.DataURL{MIME: "application/pdf", Data: []byte("hi")}, ""},
		{"video", "data:video/mp4;base64,", sniff.DataURL{MIME: "video/mp4", Data: []byte{}}, ""},
		{"no scheme", "image/png;base64,aGk=", sniff.DataURL{}, fault.InvalidURL},
		{"no comma", "data:image/png;base64", sniff.DataURL{}, fault.InvalidURL},
		{"not base64", "data:image/svg+xml,%3Csvg/%3E", sniff.DataURL{}, fault.InvalidURL},
		{"script", "data:text/javascript;base64,aGk=", sniff.DataURL{}, fault.MIMEDenied},
		{"playlist", "data:audio/mpegurl;base64,aGk=", sniff.DataURL{}, fault.MIMEDenied},
		{"header injection", "data:image/png\r\nx: y;base64,aGk=", sniff.DataURL{}, fault.MIMEDenied},
		{"url alphabet", "data:image/png;base64,_-8=", sniff.DataURL{}, fault.InvalidBase64},
		{"second comma", "data:image/png;base64,aGk=,aGk=", sniff.DataURL{}, fault.InvalidBase64},
		{"over the limit", "data:image/png;base64," + strings.Repeat("A", 2000), sniff.DataURL{}, fault.ItemTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := sniff.ParseDataURL(tt.in, 1000)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseDataURL (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.code, fault.CodeOf(err)); diff != "" {
				t.Errorf("code (-want +got):\n%s\n%v", diff, err)
			}
		})
	}
}

func TestIsDataURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"data:x": true, "Data:": true, "data": false, "": false, "database:x": false, "/data:x": false,
	} {
		if got := sniff.IsDataURL(in); got != want {
			t.Errorf("IsDataURL(%q) = %v, want %v", in, got, want)
		}
	}
}

func FuzzDataURL(f *testing.F) {
	for _, s := range []string{
		"data:image/png;base64,aGk=", "data:;base64,", "data:text/html;base64,PGI+", "data:,x",
		"data:image/png\r\n;base64,aGk=",
		"data:image/png;base64;base64,aGk=", "DATA:video/mp4;a=b;BASE64,AAAA", "data:audio/x-mpegurl;base64,AAAA",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := sniff.ParseDataURL(s, 1<<20)
		if err != nil {
			if fault.CodeOf(err) == "" {
				t.Fatalf("error without a code: %v", err)
			}
			return
		}
		if !sniff.IsDataURL(s) {
			t.Fatalf("accepted %q, which is no data URL", s)
		}
		if strings.HasPrefix(got.MIME, "text/") || strings.ContainsAny(got.MIME, " \t\r\n;,<>\"") {
			t.Fatalf("declared type %q got through", got.MIME)
		}
		if strings.ContainsAny(s[strings.IndexByte(s, ','):], "\r\n _-") {
			t.Fatalf("loose base64 in %q got through", s)
		}
	})
}
