package engine

import (
	"io"
	"slices"
	"strings"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
)

// editTypes are the picture types that image models take as inputs (provider-facts §1.2).
var editTypes = []string{"image/png", "image/jpeg", "image/webp"} //nolint:gochecknoglobals // constant table

// maskBytes is the size in bytes above which OpenAI's reference does not promise to take a mask; the guide allows more.
const maskBytes = 4_000_000

// editInputs are the opened inputs of an edit.
type editInputs struct {
	images       []*Source
	mask, markup *Source
	warnings     []string
}

func (in *editInputs) all() []*Source {
	all := slices.Clone(in.images)
	for _, s := range []*Source{in.mask, in.markup} {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

func (in *editInputs) close() {
	for _, s := range in.all() {
		_ = s.Close() // opened for reading only
	}
}

// openInputs opens and checks what an edit sends, before anything is paid.
func (e *Engine) openInputs(r *EditImages) (_ *editInputs, err error) {
	in := &editInputs{}
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	if err := oneStdin(r); err != nil {
		return nil, err
	}
	for i, ref := range r.Images {
		s, err := e.openPicture(ref, i)
		if err != nil {
			return nil, err
		}
		in.images = append(in.images, s)
	}
	if !e.cfg.Shell {
		if err := e.cfg.Bounds.CheckSizes(sizes(in.images)...); err != nil {
			return nil, err
		}
	}
	first, err := e.probe(in.images[0])
	if err != nil {
		return nil, named(in.images[0], err)
	}
	if r.Mask != "" {
		in.mask, err = e.openMask(r, first, in)
		if err != nil {
			return nil, err
		}
	}
	if r.Markup != "" {
		in.markup, err = e.openOverlay(r.Markup, "markup", len(r.Images)+1, first)
	}
	return in, err
}

// oneStdin refuses "-" in two places: the second would be empty.
func oneStdin(r *EditImages) error {
	n := 0
	for _, ref := range append(slices.Clone(r.Images), r.Mask, r.Markup) {
		if ref == "-" {
			n++
		}
	}
	if n > 1 {
		return fault.New(fault.InvalidArgument, "- (stdin) can stand for one source only")
	}
	return nil
}

func sizes(sources []*Source) []int64 {
	out := make([]int64, len(sources))
	for i, s := range sources {
		out[i] = s.Size
	}
	return out
}

func (e *Engine) openPicture(ref string, index int) (*Source, error) {
	s, err := e.openSource(ref, index)
	if err != nil {
		return nil, err
	}
	err = checkPicture(s)
	if err == nil {
		_, err = e.probe(s)
	}
	if err != nil {
		_ = s.Close() // opened for reading only
		return nil, named(s, err)
	}
	return s, nil
}

func checkPicture(s *Source) error {
	if slices.Contains(editTypes, s.Type.MIME) {
		return nil
	}
	is := s.Type.MIME
	if is == "" {
		is = "of an unknown type"
	}
	return fault.New(fault.MIMEMismatch, "the file is %s by its bytes; image models take png, jpeg and webp", is)
}

// named puts the source's name before a fault's message.
func named(s *Source, err error) error {
	f := AsError(err)
	return fault.Caused(f.Code, err, "%s: %s", s.Name, f.Message).WithHint("%s", f.Hint)
}

// openMask opens the mask and runs the pre-flight: a wrong mask costs a paid call to learn from the provider.
func (e *Engine) openMask(r *EditImages, first imaging.Info, in *editInputs) (*Source, error) {
	s, err := e.openSource(r.Mask, len(r.Images))
	if err != nil {
		return nil, err
	}
	if r.MaskWhiteIsEdit {
		converted, err := e.whiteMask(s)
		_ = s.Close() // opened for reading only
		if err != nil {
			return nil, named(s, err)
		}
		s = converted
	}
	if err := e.checkOverlay(s, "mask", first); err != nil {
		_ = s.Close() // opened for reading only
		return nil, err
	}
	if s.Size > maskBytes {
		in.warnings = append(in.warnings, "the mask is larger than 4 MB; some servers refuse that")
	}
	return s, nil
}

func (e *Engine) whiteMask(s *Source) (*Source, error) {
	data, err := io.ReadAll(s.Reader())
	if err != nil {
		return nil, fault.Caused(fault.IOFailed, err, "the mask cannot be read")
	}
	png, err := imaging.MaskFromWhite(data, e.cfg.Bounds)
	if err != nil {
		return nil, err
	}
	converted, err := bytesSource(png, "", 0)
	if err != nil {
		return nil, err
	}
	converted.Name = strings.TrimSuffix(s.Name, "."+s.Type.Ext) + ".png"
	return converted, nil
}

func (e *Engine) openOverlay(ref, what string, index int, first imaging.Info) (*Source, error) {
	s, err := e.openSource(ref, index)
	if err != nil {
		return nil, err
	}
	if err := e.checkOverlay(s, what, first); err != nil {
		_ = s.Close() // opened for reading only
		return nil, err
	}
	return s, nil
}

// checkOverlay checks a mask or markup: PNG, alpha, the first picture's upright size, and a transparent pixel.
func (e *Engine) checkOverlay(s *Source, what string, first imaging.Info) error {
	if s.Type.MIME != "image/png" {
		return fault.New(fault.InvalidImage, "%s %s is %s; it must be a png with an alpha channel", what, s.Name,
			mimeOr(s.Type))
	}
	info, err := imaging.InspectMask(s.at, s.Size, e.cfg.Bounds)
	if err != nil {
		return named(s, err)
	}
	fw, fh := first.Upright()
	switch w, h := info.Upright(); {
	case w != fw || h != fh:
		return fault.New(fault.InvalidImage, "%s %s is %dx%d, but the first picture is %dx%d%s; both must match",
			what, s.Name, w, h, fw, fh, turned(first))
	case !info.Alpha:
		return whiteHint(fault.New(fault.InvalidImage, "%s %s has no alpha channel, so nothing could change", what, s.Name), what)
	case info.Transparent == 0:
		return whiteHint(fault.New(fault.InvalidImage, "%s %s has no fully transparent pixel, so nothing could change",
			what, s.Name), what)
	}
	return nil
}

func whiteHint(f *fault.Error, what string) error {
	if what != "mask" {
		return f
	}
	return f.WithHint("if white marks what may change, add --mask-white-is-edit")
}

func turned(i imaging.Info) string {
	if i.Orientation <= 1 {
		return ""
	}
	return " after its orientation tag"
}

func mimeOr(t sniff.Type) string {
	if t.MIME == "" {
		return "of an unknown type"
	}
	return t.MIME
}
