package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
)

// Source is an input that has been opened, bounded and recognised. Its bytes can be read more than once.
type Source struct {
	Name   string // file name for the provider
	Type   sniff.Type
	Size   int64 // bytes
	SHA256 string
	inline bool // its bytes came inside of the request
	at     io.ReaderAt
	closer io.Closer
}

// Close releases the file behind the source.
func (s *Source) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// Reader returns the source's bytes from the start.
func (s *Source) Reader() io.Reader { return io.NewSectionReader(s.at, 0, s.Size) }

// Input returns the source as a provider takes it.
func (s *Source) Input() Input {
	return Input{Name: s.Name, MIME: s.Type.MIME, Size: s.Size, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(&inputReader{r: s.Reader(), left: s.Size}), nil
	}}
}

// inputReader marks read failures, so that a provider can tell them from a broken connection. A file that became
// shorter since it was measured is one.
type inputReader struct {
	r    io.Reader
	left int64
}

func (r *inputReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && r.left > 0:
		return n, fmt.Errorf("%w: it became shorter", ErrInput)
	case err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return n, err
}

// base64Prefix marks a source as base64 text without guessing.
const base64Prefix = "base64:"

// minBareBase64 is the shortest text, in characters, that is tried as base64 without a prefix. Shorter text is a path.
const minBareBase64 = 512

// openSource opens one source: -, a data URL, base64 text, a file:// URL or a path. index names it when it has no name.
func (e *Engine) openSource(ref string, index int) (*Source, error) {
	switch {
	case strings.TrimSpace(ref) == "":
		return nil, fault.New(fault.InvalidArgument, "a source must not be empty")
	case ref == "-":
		return e.stdinSource(index)
	case sniff.IsDataURL(ref):
		d, err := sniff.ParseDataURL(ref, e.inlineLimit())
		if err != nil {
			return nil, err
		}
		return bytesSource(d.Data, d.MIME, index)
	case strings.HasPrefix(ref, base64Prefix):
		data, err := sniff.DecodeBase64(strings.TrimPrefix(ref, base64Prefix), e.inlineLimit())
		if err != nil {
			return nil, err
		}
		return bytesSource(data, "", index)
	case hasURLScheme(ref):
		return nil, fault.New(fault.UnsupportedOperation, "a URL cannot be a source yet; download the file and give its path")
	}
	src, err := e.fileSource(ref)
	if err != nil && looksBase64(ref) {
		return e.bareBase64(ref, index)
	}
	return src, err
}

// hasURLScheme reports whether ref is a URL other than file:.
func hasURLScheme(ref string) bool {
	scheme, _, ok := strings.Cut(ref, "://")
	return ok && !strings.EqualFold(scheme, "file") && !strings.ContainsAny(scheme, `/\ `)
}

// inlineLimit bounds media that comes inside of a request, in bytes.
func (e *Engine) inlineLimit() int64 {
	if e.cfg.Shell {
		return e.cfg.Bounds.ShellImage
	}
	return e.cfg.Bounds.ItemBytes
}

// looksBase64 reports whether ref can be base64 text without a prefix. Letters and slashes also make paths, so an
// existing file wins.
func looksBase64(ref string) bool {
	return len(ref) >= minBareBase64 && !strings.ContainsFunc(ref, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("+/=-_ \r\n\t", r)
	})
}

// bareBase64 reads long text that names no file. Nothing of it is repeated in an error.
func (e *Engine) bareBase64(ref string, index int) (*Source, error) {
	data, err := sniff.DecodeBase64(ref, e.inlineLimit())
	if err != nil {
		return nil, named("the source", err).WithHint("it names no file, and as base64 text it cannot be read")
	}
	src, err := bytesSource(data, "", index)
	if err != nil {
		return nil, err
	}
	if src.Type.Kind != sniff.KindImage {
		return nil, fault.New(fault.MIMEMismatch, "the source names no file, and as base64 text it holds no picture")
	}
	return src, nil
}

func (e *Engine) stdinSource(index int) (*Source, error) {
	data, err := e.readStdin(e.inlineLimit())
	if err != nil {
		return nil, err
	}
	return bytesSource(data, "", index)
}

// readStdin reads a whole item of at most limit bytes.
func (e *Engine) readStdin(limit int64) ([]byte, error) {
	if e.cfg.Stdin == nil {
		return nil, fault.New(fault.InvalidArgument, "stdin is not a source here; give a path")
	}
	data, err := io.ReadAll(io.LimitReader(e.cfg.Stdin, limit+1))
	if err != nil {
		return nil, fault.Caused(fault.IOFailed, err, "stdin cannot be read")
	}
	if int64(len(data)) > limit {
		return nil, fault.New(fault.ItemTooLarge, "stdin holds more than %d bytes, the limit for one picture", limit)
	}
	if len(data) == 0 {
		return nil, fault.New(fault.InvalidArgument, "stdin is empty")
	}
	return data, nil
}

func bytesSource(data []byte, declared string, index int) (*Source, error) {
	t := sniff.Detect(data[:min(len(data), sniff.HeadBytes)])
	if declared != "" {
		if _, err := sniff.Agree(declared, t); err != nil {
			return nil, err
		}
	}
	sum := sha256.Sum256(data)
	name := fmt.Sprintf("input_%d.%s", index+1, extOr(t, "bin"))
	return &Source{
		Name: name, Type: t, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), inline: true,
		at: bytes.NewReader(data),
	}, nil
}

func (e *Engine) fileSource(ref string) (*Source, error) {
	f, err := e.cfg.Workspace.Open(ref, e.cfg.Bounds.ShellImage)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: uploadName(f.Name), Size: f.Size, at: f, closer: f}
	if err := s.recognise(); err != nil {
		_ = s.Close() // read only; the first error is the one to tell
		return nil, err
	}
	return s, nil
}

// recognise sniffs and hashes the file through the handle that will be sent.
func (s *Source) recognise() error {
	t, err := sniff.DetectReader(s.at)
	if err != nil {
		return fault.Caused(fault.IOFailed, err, "%s cannot be read", s.Name)
	}
	s.Type = t
	h := sha256.New()
	n, err := io.Copy(h, s.Reader())
	if err != nil {
		return fault.Caused(fault.IOFailed, err, "%s cannot be read", s.Name)
	}
	if n != s.Size {
		return fault.New(fault.IOFailed, "%s changed while it was read", s.Name)
	}
	s.SHA256 = hex.EncodeToString(h.Sum(nil))
	return nil
}

// maxUploadName bounds a name in a multipart header, in runes. Its end is kept, which has the extension.
const maxUploadName = 100

// uploadName is a file's own name, made safe for a multipart header.
func uploadName(path string) string {
	name := strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' || r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, filepath.Base(path))
	if r := []rune(name); len(r) > maxUploadName {
		name = string(r[len(r)-maxUploadName:])
	}
	return name
}

// probe reads a source's header within the bounds, and makes sure that the file was not cut short.
func (e *Engine) probe(s *Source) (imaging.Info, error) {
	info, err := imaging.Probe(s.at, s.Size, e.cfg.Bounds)
	if err != nil {
		return imaging.Info{}, err
	}
	return info, imaging.Whole(s.at, s.Size, info)
}

func extOr(t sniff.Type, other string) string {
	if t.Ext == "" {
		return other
	}
	return t.Ext
}
