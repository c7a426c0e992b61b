package engine

import (
	"io"
	"path/filepath"
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
func (e *Engine) openInputs(r *EditImages) (*editInputs, error) {
	if err := checkRefs(r); err != nil {
		return nil, err
	}
	in := &editInputs{}
	if err := e.fillInputs(in, r); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func (e *Engine) fillInputs(in *editInputs, r *EditImages) error {
	var first imaging.Info
	for i, ref := range r.Images {
		s, info, err := e.openPicture(ref, i)
		if err != nil {
			return err
		}
		if i == 0 {
			first = info
		}
		in.images = append(in.images, s)
		if err := e.checkInline(in); err != nil {
			return err
		}
	}
	var err error
	if r.Mask != "" {
		if in.mask, err = e.openMask(r, first); err != nil {
			return err
		}
		if in.mask.Size > maskBytes {
			in.warnings = append(in.warnings, "the mask is larger than 4 MB; some servers refuse that")
		}
	}
	if r.Markup != "" {
		if in.markup, err = e.openOverlay(r.Markup, "markup", len(r.Images)+1, first); err != nil {
			return err
		}
	}
	return e.checkInline(in)
}

// checkInline holds what came inside of an MCP request against its bounds. Files below a root have the models' own.
func (e *Engine) checkInline(in *editInputs) error {
	if e.cfg.Shell {
		return nil
	}
	var sizes []int64
	for _, s := range in.all() {
		if s.inline {
			sizes = append(sizes, s.Size)
		}
	}
	return e.cfg.Bounds.CheckSizes(sizes...)
}

// checkRefs refuses "-" in two places, for the second would be empty, and an option that has nothing to work on.
func checkRefs(r *EditImages) error {
	n := 0
	for _, ref := range append(slices.Clone(r.Images), r.Mask, r.Markup) {
		if ref == "-" {
			n++
		}
	}
	switch {
	case n > 1:
		return fault.New(fault.InvalidArgument, "- (stdin) can stand for one source only")
	case r.MaskWhiteIsEdit && r.Mask == "":
		return fault.New(fault.InvalidArgument, "mask_white_is_edit needs a mask; give one or leave it out")
	}
	return nil
}

// openPicture opens a picture to edit and reads its header.
func (e *Engine) openPicture(ref string, index int) (*Source, imaging.Info, error) {
	s, err := e.openSource(ref, index)
	if err != nil {
		return nil, imaging.Info{}, err
	}
	var info imaging.Info
	if err = checkPicture(s); err == nil {
		info, err = e.probe(s)
	}
	if err != nil {
		_ = s.Close() // opened for reading only
		return nil, info, named(s.Name, err)
	}
	return s, info, nil
}

func checkPicture(s *Source) error {
	if slices.Contains(editTypes, s.Type.MIME) {
		return nil
	}
	return fault.New(fault.MIMEMismatch, "the file is %s by its bytes; image models take png, jpeg and webp",
		mimeOr(s.Type))
}

// named puts a source's name before a fault's message.
func named(name string, err error) *fault.Error {
	f := AsError(err)
	return fault.Caused(f.Code, err, "%s: %s", name, f.Message).WithHint("%s", f.Hint)
}

// openMask opens the mask and runs the pre-flight: a wrong mask costs a paid call to learn from the provider.
func (e *Engine) openMask(r *EditImages, first imaging.Info) (*Source, error) {
	if !r.MaskWhiteIsEdit {
		return e.openOverlay(r.Mask, "mask", len(r.Images), first)
	}
	painted, err := e.openSource(r.Mask, len(r.Images))
	if err != nil {
		return nil, err
	}
	defer func() { _ = painted.Close() }() // opened for reading only
	s, err := e.whiteMask(painted)
	if err != nil {
		return nil, named(painted.Name, err)
	}
	if err := e.checkOverlay(s, "mask", first); err != nil {
		return nil, err
	}
	return s, nil
}

// whiteMask converts a mask that marks in white what may change.
func (e *Engine) whiteMask(painted *Source) (*Source, error) {
	data, err := io.ReadAll(painted.Reader())
	if err != nil {
		return nil, fault.Caused(fault.IOFailed, err, "the mask cannot be read")
	}
	png, err := imaging.MaskFromWhite(data, e.cfg.Bounds)
	if err != nil {
		return nil, err
	}
	s, err := bytesSource(png, "", 0)
	if err != nil {
		return nil, err
	}
	s.Name = strings.TrimSuffix(painted.Name, filepath.Ext(painted.Name)) + ".png"
	s.inline = painted.inline
	return s, nil
}

// openOverlay opens a mask or markup and checks it.
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
		return whiteHint(fault.New(fault.InvalidImage, "%s %s is %s; it must be a png with an alpha channel", what, s.Name,
			mimeOr(s.Type)), what)
	}
	info, err := imaging.InspectMask(s.at, s.Size, e.cfg.Bounds)
	if err != nil {
		return named(s.Name, err)
	}
	fw, fh := first.Upright()
	switch w, h := info.Upright(); {
	case w != fw || h != fh:
		return fault.New(fault.InvalidImage, "%s %s is %dx%d, but the first picture is %dx%d%s; both must match",
			what, s.Name, w, h, fw, fh, turned(first))
	case !info.Alpha:
		return whiteHint(fault.New(fault.InvalidImage, "%s %s has no alpha channel, so nothing could change",
			what, s.Name), what)
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

func mimeOr(t sniff.Type) string { return orString(t.MIME, "of an unknown type") }
