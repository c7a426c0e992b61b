package emulator

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
)

// Bounds of a multipart body, in bytes.
const (
	maxMultipart = 1 << 30
	maxTextPart  = 1 << 20
	maxFilePart  = 50_000_000 // what OpenAI documents for one picture
)

// upload is what a multipart body held. Pictures are decoded while they pass; the bytes are not kept.
type upload struct {
	fields fields
	images []input
	mask   *input
	markup *input
	parts  []partMark
}

// readUpload reads the whole body, also after the first thing that is wrong, so that a client that is still sending
// gets to read the answer.
func (x *exchange) readUpload() (upload, *apiError) {
	up := upload{fields: fields{}}
	body := http.MaxBytesReader(x.w, x.r.Body, maxMultipart)
	kind, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		_, _ = io.Copy(io.Discard, body)
		return up, badRequest("", "unsupported_content_type", "this route takes multipart/form-data")
	}
	var first *apiError
	mr := multipart.NewReader(body, params["boundary"])
	for {
		part, err := mr.NextPart()
		if errors.Is(err, io.EOF) {
			return up, first
		}
		if err != nil {
			return up, bodyError(err, "the multipart body cannot be read")
		}
		if e := up.take(part); e != nil && first == nil {
			first = e
		}
	}
}

// take reads one part to its end.
func (u *upload) take(part *multipart.Part) *apiError {
	count := &countingReader{r: part}
	var e *apiError
	switch name := part.FormName(); name {
	case "image", "image[]", "mask", "markup":
		e = u.takeFile(part, strings.TrimSuffix(name, "[]"), count)
	default:
		e = u.takeText(name, count)
	}
	_, err := io.Copy(io.Discard, count)
	u.parts = append(u.parts, partMark{
		Name: clip(part.FormName(), 60), Filename: clip(part.FileName(), 100),
		ContentType: clip(part.Header.Get("Content-Type"), 60), Bytes: count.n,
	})
	if err != nil && e == nil {
		e = bodyError(err, "the multipart body ends within a part")
	}
	return e
}

func (u *upload) takeText(name string, r io.Reader) *apiError {
	text, err := io.ReadAll(io.LimitReader(r, maxTextPart+1))
	if err != nil {
		return bodyError(err, "the multipart body ends within a part")
	}
	if len(text) > maxTextPart {
		return badRequest(clip(name, 60), "string_above_max_length", "form field is over %d bytes", maxTextPart)
	}
	u.fields[name] = field{fieldForm, string(text)}
	return nil
}

// takeFile checks a file part's declared type and size, and decodes it. Anything but the three picture types is
// refused by its declared type alone: that is how OpenAI treats the application/octet-stream of careless clients.
func (u *upload) takeFile(part *multipart.Part, param string, r io.Reader) *apiError {
	declared, _, err := mime.ParseMediaType(part.Header.Get("Content-Type"))
	if err != nil {
		declared = "application/octet-stream"
	}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, declared) {
		return badRequest(param, "unsupported_file_mimetype",
			"invalid file '%s': unsupported mimetype ('%s'), supported are 'image/jpeg', 'image/png' and 'image/webp'",
			param, clip(declared, 60))
	}
	if param == "image" && len(u.images) == maxInputs {
		return badRequest(param, "array_above_max_length", "invalid 'image': expected at most %d files", maxInputs)
	}
	in, e := spoolInput(r, param)
	if e != nil {
		return e
	}
	switch param {
	case "mask":
		u.mask = &in
	case "markup":
		u.markup = &in
	default:
		u.images = append(u.images, in)
	}
	return nil
}

// spoolInput copies a part to a temporary file, so that a picture of 50 MB does not sit in memory, and decodes it.
func spoolInput(r io.Reader, param string) (_ input, e *apiError) {
	f, err := os.CreateTemp("", "mediagen-emulator-*")
	if err != nil {
		return input{}, serverFault("no temporary file for an upload")
	}
	defer func() {
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil && e == nil {
			e = serverFault("temporary file of an upload cannot be removed")
		}
	}()
	n, err := io.Copy(f, io.LimitReader(r, maxFilePart+1))
	switch {
	case err != nil && isBodyError(err):
		return input{}, bodyError(err, "the multipart body ends within a part")
	case err != nil:
		return input{}, serverFault("temporary file of an upload cannot be written")
	case n > maxFilePart:
		return input{}, badRequest(param, "file_too_large", "file '%s' is over %d bytes", param, maxFilePart)
	}
	return decodeInput(f, n, param)
}

// isBodyError tells a fault of the sender from a fault of the disk.
func isBodyError(err error) bool {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return true
	}
	_, disk := errors.AsType[*os.PathError](err)
	return !disk
}

func serverFault(format string, args ...any) *apiError {
	return newAPIError(http.StatusInternalServerError, "server_error", "server_error", "", "emulator: "+format, args...)
}

// countingReader counts what passes.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// checkInputs applies the rules for the pictures of an edit.
func (u *upload) checkInputs(p imageParams) *apiError {
	switch {
	case len(u.images) == 0:
		return badRequest("image", "missing_required_parameter", "missing required parameter: 'image'")
	case u.mask != nil && p.Format == "gif":
		return badRequest("mask", "invalid_value", "mask cannot be combined with output_format gif")
	case u.mask != nil && u.markup != nil:
		return badRequest("markup", "invalid_value", "mask and markup cannot be combined")
	case u.markup != nil && !familyOf(p.Model).markup:
		return badRequest("markup", "unknown_parameter", "unknown parameter: 'markup'")
	}
	if e := u.checkOverlay("mask", u.mask, false); e != nil {
		return e
	}
	return u.checkOverlay("markup", u.markup, true)
}

// checkOverlay refuses a mask or markup that is no PNG with alpha of the first picture's size.
func (u *upload) checkOverlay(param string, in *input, needClear bool) *apiError {
	if in == nil {
		return nil
	}
	first := u.images[0]
	asStored := in.width == first.width && in.height == first.height
	upright := in.width == first.uprightW && in.height == first.uprightH
	switch {
	case in.format != "png":
		return badRequest(param, "invalid_"+param+"_image_format", "invalid %s: expected a PNG", param)
	case !in.alpha:
		return badRequest(param, "invalid_"+param+"_image_format", "invalid %s: the PNG must have an alpha channel", param)
	case !asStored && !upright:
		return badRequest(param, "invalid_image_"+param+"_size",
			"invalid %s: its size %dx%d does not match the image's %dx%d", param, in.width, in.height, first.width, first.height)
	case needClear && !in.clear:
		return badRequest(param, "invalid_value", "invalid %s: it must contain transparent pixels", param)
	}
	return nil
}
