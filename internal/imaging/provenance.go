package imaging

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// Provenance is what a file says about where it comes from. Nothing of it is verified.
type Provenance struct {
	C2PA       bool   // it carries a C2PA manifest store
	SourceType string // IPTC digital source type, such as trainedAlgorithmicMedia; "" = none
}

// FindProvenance looks for a C2PA manifest store and for the IPTC digital source type in a file of size bytes: png,
// jpeg, webp, avif, heic, mp4 and mov. Other files, such as gif, tiff and bmp, have none as far as it can tell.
// The source type is taken from the XMP packet of a png, jpeg or webp, else from the C2PA store, where the last one
// counts: the active manifest stands behind those of its ingredients (C2PA Technical Specification 2.1, §11.1.4).
//
// It reads headers and at most 4 MiB each of metadata, in constant memory. What follows damage is not looked at; a
// damaged file is no error. It returns io_failed when r fails.
func FindProvenance(r io.ReaderAt, size int64) (Provenance, error) {
	f, err := findProvenance(source{r, size})
	return f.Provenance, err
}

// finding is a Provenance with what embedding needs to know besides.
type finding struct {
	Provenance
	hasXMP  bool
	xmp     termScanner
	store   termScanner
	storeID [2]byte // the number of the JUMBF box of a jpeg that is the C2PA store
}

func findProvenance(s source) (finding, error) {
	f := finding{store: termScanner{cbor: true}}
	if s.size < 12 {
		return f, nil
	}
	t, err := sniff.DetectReader(io.NewSectionReader(s.r, 0, s.size))
	if err != nil {
		return f, err
	}
	switch t.Ext {
	case "png":
		err = walkPNG(s, func(kind string, off, n int64) (bool, error) { return f.visitPNG(kind, s.part(off, n)) })
	case "jpeg":
		err = walkJPEG(s, func(marker byte, off, n int64) (bool, error) {
			return false, f.visitJPEG(marker, s.part(off, n))
		})
	case "webp":
		err = walkRIFF(s, func(kind string, off, n int64) (bool, error) { return false, f.visitRIFF(kind, s.part(off, n)) })
	default:
		if head, e := s.read(4, 4); e == nil && string(head) == "ftyp" {
			err = walkTop(s, f.visitISO)
		}
	}
	if fault.CodeOf(err) == fault.IOFailed {
		return finding{}, fault.Caused(fault.IOFailed, err, "the file cannot be read")
	}
	if f.SourceType = f.xmp.end(); f.SourceType == "" {
		f.SourceType = f.store.end()
	}
	return f, nil
}

// visitPNG finds the caBX chunk (C2PA Technical Specification 2.1, appendix A.3.2) and the XMP packet, before and
// behind the pixels.
func (f *finding) visitPNG(kind string, body source) (stop bool, err error) {
	switch kind {
	case "caBX":
		f.C2PA = true
		return false, f.store.feed(body)
	case "iTXt":
		return false, f.visitText(body)
	}
	return kind == "IEND", nil
}

// xmpKeyword begins the iTXt chunk that holds XMP (XMP specification part 3, §1.1.5).
const xmpKeyword = "XML:com.adobe.xmp\x00"

// visitText reads an iTXt chunk: keyword, compression flag and method, language, translated keyword, text (PNG
// specification, third edition, §11.3.3.4).
func (f *finding) visitText(body source) error {
	if f.hasXMP { // there may be one only, and unpacking thousands would take long
		return nil
	}
	b, err := body.read(0, int(min(body.size, 512)))
	if err != nil {
		return err
	}
	rest, ok := bytes.CutPrefix(b, []byte(xmpKeyword))
	if !ok || len(rest) < 2 {
		return nil
	}
	f.hasXMP = true
	packed := rest[0] == 1
	rest = rest[2:]
	for range 2 {
		if _, rest, ok = bytes.Cut(rest, []byte{0}); !ok {
			return nil
		}
	}
	text := body.part(int64(len(b)-len(rest)), body.size)
	if !packed {
		return f.xmp.feed(text)
	}
	z, err := zlib.NewReader(&partReader{source: text})
	if err == nil {
		_, err = io.Copy(&f.xmp, io.LimitReader(z, maxMetadata))
	}
	if fault.CodeOf(err) != fault.IOFailed { // a text that cannot be unpacked says nothing
		err = nil
	}
	return err
}

// markerAPP11 carries JUMBF boxes (ITU-T T.81 table B.1, ISO/IEC 19566-5 §D.2).
const markerAPP11 = 0xeb

// xmpSignature begins the APP1 segment that holds XMP (XMP specification part 3, §1.1.3).
const xmpSignature = "http://ns.adobe.com/xap/1.0/\x00"

func (f *finding) visitJPEG(marker byte, body source) error {
	switch marker {
	case markerAPP1:
		b, err := body.read(0, int(min(body.size, int64(len(xmpSignature)))))
		if err != nil || string(b) != xmpSignature {
			return err
		}
		f.hasXMP = true
		return f.xmp.feed(body.part(int64(len(b)), body.size))
	case markerAPP11:
		return f.visitJUMBF(body)
	}
	return nil
}

// visitJUMBF reads one piece of a JUMBF box (C2PA Technical Specification 2.1, appendix A.3.1): "JP", the number of the
// box, the number of the piece, then the box's header, repeated in every piece, and its next bytes.
func (f *finding) visitJUMBF(body source) error {
	b, err := body.read(0, int(min(body.size, 48)))
	if err != nil || len(b) < 24 || string(b[:2]) != "JP" || string(b[12:16]) != "jumb" {
		return err
	}
	head := 16
	if binary.BigEndian.Uint32(b[8:]) == 1 { // a 64-bit size follows
		head = 24
	}
	id := [2]byte(b[2:4])
	if isStore(b[head:]) && !f.C2PA {
		f.C2PA, f.storeID = true, id
	}
	if !f.C2PA || f.storeID != id {
		return nil
	}
	return f.store.feed(body.part(int64(head), body.size))
}

// isStore reports whether the body of a JUMBF superbox is described as a C2PA manifest store (C2PA Technical
// Specification 2.1, §11.1.4.2).
func isStore(b []byte) bool {
	const kind = "c2pa\x00\x11\x00\x10\x80\x00\x00\xaa\x00\x38\x9b\x71"
	return len(b) >= 24 && string(b[4:8]) == "jumd" && string(b[8:24]) == kind
}

// visitRIFF finds the C2PA chunk (C2PA Technical Specification 2.1, appendix A.3, RIFF) and the XMP chunk (RFC 9649
// §2.7.1.5).
func (f *finding) visitRIFF(kind string, body source) error {
	switch kind {
	case "C2PA":
		f.C2PA = true
		return f.store.feed(body)
	case "XMP ":
		f.hasXMP = true
		return f.xmp.feed(body)
	}
	return nil
}

// visitISO finds the uuid box (C2PA Technical Specification 2.1, appendix A.5.1) and, as it costs nothing, a bare JUMBF
// box.
func (f *finding) visitISO(a atom) error {
	const id = "\xd8\xfe\xc3\xd6\x1b\x0e\x48\x3c\x92\x97\x58\x28\x87\x7e\xc4\x81"
	if a.kind != "uuid" && a.kind != "jumb" {
		return nil
	}
	b, err := a.body.read(0, int(min(a.body.size, 24)))
	if err != nil || a.kind == "uuid" && !bytes.HasPrefix(b, []byte(id)) || a.kind == "jumb" && !isStore(b) {
		return err
	}
	f.C2PA = true
	return f.store.feed(a.body)
}
