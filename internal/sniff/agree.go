package sniff

import (
	"strings"

	"mediagen/internal/fault"
)

// Agree compares a declared media type with the type that Detect found and returns the canonical media type to use.
//
// An empty or application/octet-stream declaration is no claim: the found type is returned, or application/octet-stream
// when the bytes are unknown. A known alias agrees with its type, a plain ZIP or OLE file with the office format it was
// declared as, one text type with another (the more dangerous text/html wins). Everything else must be equal.
//
// It returns mime_denied for a declaration that is no media type and for bytes that are never accepted (playlists,
// programs), and mime_mismatch when the declaration contradicts the bytes or when the bytes of a type that Detect knows
// are unrecognisable. A type that Detect does not know, over bytes that it does not know either, gives
// application/octet-stream: serve it as an attachment only.
func Agree(declared string, found Type) (string, error) {
	if e, ok := lookup(found.MIME); ok && e.denied {
		return "", fault.New(fault.MIMEDenied, "the bytes are %s: playlists and programs are never accepted", found.MIME)
	}
	claim := ""
	if strings.Trim(declared, " \t") != "" {
		var ok bool
		if claim, ok = parseMIME(declared); !ok {
			return "", fault.New(fault.MIMEDenied, `the declared media type is not of the form "type/subtype"`)
		}
	}
	if claim == "" || claim == mimeOctets || claim == "binary/octet-stream" {
		return orOctets(found), nil
	}
	return agree(claim, found)
}

func agree(claim string, found Type) (string, error) {
	want, known := lookup(claim)
	if !known {
		return agreeUnlisted(claim, found)
	}
	if want.MIME == found.MIME {
		return found.MIME, nil
	}
	if m, ok := equivalent(want, found); ok {
		return m, nil
	}
	if found == (Type{}) {
		return "", fault.New(fault.MIMEMismatch, "declared as %s, but the bytes are of no known type", want.MIME)
	}
	return "", fault.New(fault.MIMEMismatch, "declared as %s, but the bytes are %s", want.MIME, found.MIME)
}

// agreeUnlisted judges a claim that the table does not hold. The claim is not repeated in the message: it is foreign.
func agreeUnlisted(claim string, found Type) (string, error) {
	major, _, _ := strings.Cut(claim, "/")
	switch {
	case claim == "application/ogg" && (found.MIME == "audio/ogg" || found.MIME == "video/ogg"):
		return found.MIME, nil
	case major == "text" && found.Kind == KindText:
		return found.MIME, nil
	case found == (Type{}) && major != "image" && major != "audio" && major != "video":
		return mimeOctets, nil
	case found == (Type{}):
		return "", fault.New(fault.MIMEMismatch, "declared as %s, but the bytes are of no known type", mediaWord(major))
	}
	return "", fault.New(fault.MIMEMismatch, "the declared media type contradicts the bytes, which are %s", found.MIME)
}

func mediaWord(major string) string {
	if major == "image" {
		return "an image"
	}
	return major
}

// equivalent holds the pairs where bytes cannot tell what a declaration can.
func equivalent(want entry, found Type) (string, bool) {
	got, _ := lookup(found.MIME)
	switch {
	case want.MIME == "audio/webm" && found.MIME == mimeWebM:
		return want.MIME, true
	case want.zip && found.MIME == mimeZip, want.ole && found.MIME == mimeOLE:
		return want.MIME, true
	case want.MIME == mimeZip && got.zip:
		return found.MIME, true
	case want.Kind == KindText && found.MIME == mimeHTML:
		return mimeHTML, true
	case want.Kind == KindText && found.Kind == KindText:
		return want.MIME, true
	}
	return "", false
}

func orOctets(t Type) string {
	if t.MIME == "" {
		return mimeOctets
	}
	return t.MIME
}
