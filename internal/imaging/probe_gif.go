package imaging

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"mediagen/internal/fault"
)

// readGIF walks the blocks (GIF89a §§17-27) and counts the images. A file that ends after its first image without a
// trailer is left to the decoder to judge.
func readGIF(s source, h *header, maxFrames int) error {
	r := bufio.NewReader(io.NewSectionReader(s.r, 0, s.size))
	h.Frames = 0
	err := walkGIF(r, h, maxFrames)
	if err != nil && errors.Is(err, io.EOF) {
		if h.Frames == 0 {
			return broken("gif", "it ends before its first image")
		}
		return nil
	}
	if err != nil && fault.CodeOf(err) == "" {
		return fault.Caused(fault.IOFailed, err, "the picture cannot be read")
	}
	if err == nil && h.Frames == 0 {
		return broken("gif", "it has no image")
	}
	return err
}

func walkGIF(r *bufio.Reader, h *header, maxFrames int) error {
	screen := make([]byte, 13)
	if _, err := io.ReadFull(r, screen); err != nil {
		return cutGIF(err)
	}
	h.Width, h.Height = int(binary.LittleEndian.Uint16(screen[6:])), int(binary.LittleEndian.Uint16(screen[8:]))
	if err := skipColours(r, screen[10]); err != nil {
		return err
	}
	for h.Frames <= maxFrames {
		kind, err := r.ReadByte()
		if err != nil {
			return cutGIF(err)
		}
		switch kind {
		case 0x3b: // trailer
			return nil
		case 0x21:
			err = skipExtension(r, h)
		case 0x2c:
			err = skipImage(r, h)
		default:
			return broken("gif", "it has a block of an unknown kind")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skipExtension notes the transparent colour of a graphic control extension.
func skipExtension(r *bufio.Reader, h *header) error {
	label, err := r.ReadByte()
	if err != nil {
		return cutGIF(err)
	}
	if label == 0xf9 {
		if b, err := r.Peek(2); err == nil && b[0] == 4 && b[1]&1 != 0 {
			h.Alpha = true
		}
	}
	return skipSubBlocks(r)
}

func skipImage(r *bufio.Reader, h *header) error {
	b, err := r.Peek(9)
	if err != nil {
		return cutGIF(err)
	}
	flags := b[8]
	if h.Frames == 0 && h.Width == 0 && h.Height == 0 { // some old files leave the screen's size out
		h.Width, h.Height = int(binary.LittleEndian.Uint16(b[4:])), int(binary.LittleEndian.Uint16(b[6:]))
	}
	h.Frames++
	if _, err := r.Discard(9); err != nil {
		return cutGIF(err)
	}
	if err := skipColours(r, flags); err != nil {
		return err
	}
	if _, err := r.Discard(1); err != nil { // LZW code size
		return cutGIF(err)
	}
	return skipSubBlocks(r)
}

// skipColours skips the colour table that flags announce.
func skipColours(r *bufio.Reader, flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	_, err := r.Discard(3 << (flags&7 + 1))
	return cutGIF(err)
}

func skipSubBlocks(r *bufio.Reader) error {
	for {
		n, err := r.ReadByte()
		if err != nil || n == 0 {
			return cutGIF(err)
		}
		if _, err := r.Discard(int(n)); err != nil {
			return cutGIF(err)
		}
	}
}

// cutGIF makes every early end the same.
func cutGIF(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
