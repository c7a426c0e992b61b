// Package sniff decides what bytes really are, holds the bounds on media by door, and reads data URLs and strict
// base64.
//
// It does not decode pictures, open files or fetch anything, and it never trusts a file name or a declared media type:
// those are claims that Agree compares with what Detect found.
package sniff

import (
	"errors"
	"io"

	"mediagen/internal/fault"
)

// Kind groups media types by how the tools treat them.
type Kind string

// The kinds. KindUnknown is the zero value: bytes that no rule knows.
const (
	KindUnknown  Kind = ""
	KindImage    Kind = "image"
	KindVideo    Kind = "video"
	KindAudio    Kind = "audio"
	KindDocument Kind = "document"
	KindText     Kind = "text"
)

// Type is a media type as the tools name it. Ext has no dot and is the word that file names carry ("jpeg", not "jpg").
type Type struct {
	MIME string
	Ext  string
	Kind Kind
}

// HeadBytes is how much of the start of an item Detect looks at.
const HeadBytes = 3072

// DetectReader detects from the first HeadBytes of r. Bytes that no rule knows give the zero Type and no error.
func DetectReader(r io.ReaderAt) (Type, error) {
	head := make([]byte, HeadBytes)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return Type{}, fault.Caused(fault.IOFailed, err, "cannot read the first bytes of the item")
	}
	return Detect(head[:n]), nil
}
