package engine

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// spaceAPicture is the free space, in bytes, that a picture should find before it is paid for: a 4K PNG with reserve.
const spaceAPicture = 32 << 20

// format settles the output format: the flag, the ending of the file named with -o, the setting, else the provider's.
func (e *Engine) format(d *draft) error {
	if err := e.destFormat(d); err != nil {
		return err
	}
	formats := d.model.Formats
	switch {
	case d.call.OutputFormat != "":
	case d.convert == "":
		d.call.OutputFormat = e.cfg.Defaults.OutputFormat
	case d.known && len(formats) > 0 && !slices.Contains(formats, d.convert):
		return d.canConvert() // what the model makes by itself
	default:
		d.call.OutputFormat = d.convert
	}
	if d.call.OutputFormat == "" || !d.known || d.model.Permissive {
		return nil
	}
	if t, ok := sniff.ByExt(d.call.OutputFormat); ok {
		d.call.OutputFormat = t.Ext // jpg is jpeg
	}
	if len(formats) > 0 {
		return nil
	}
	// The vendor decides on the format of this model: nothing is sent, and what comes is converted.
	d.convert, d.call.OutputFormat = d.call.OutputFormat, ""
	return d.canConvert()
}

// destFormat takes the format from the ending of a file named with -o.
func (e *Engine) destFormat(d *draft) error {
	ext := e.destExt(d.out)
	if ext == "" {
		return nil
	}
	t, ok := sniff.ByExt(ext)
	if !ok || t.Kind != sniff.KindImage && t.Ext != "svg" {
		return fault.New(fault.InvalidArgument, "-o ends in .%s, which is no picture format; use .png, .jpg or .webp", ext)
	}
	if want, ok := sniff.ByExt(d.call.OutputFormat); ok && want.MIME != t.MIME {
		return fault.New(fault.InvalidArgument, "-o ends in .%s, but the output format is %s; make both the same", ext,
			d.call.OutputFormat)
	}
	d.convert = t.Ext
	return nil
}

// canConvert refuses a conversion that this build cannot make, before anything is paid.
func (d *draft) canConvert() error {
	if slices.Contains(imaging.Describe().Write, d.convert) {
		return nil
	}
	instead := d.model.Formats
	if len(instead) == 0 {
		instead = imaging.Describe().Write
	}
	return fault.New(fault.UnsupportedOperation, "neither model %s nor this build can write %s; use %s",
		field(d.model.ID), d.convert, strings.Join(instead, ", "))
}

// destExt returns the extension of a file named with -o, without dot; "" for a directory.
func (e *Engine) destExt(out Output) string {
	if out.Dest == "" || out.Stream || out.Template != "" || strings.HasSuffix(filepath.ToSlash(out.Dest), "/") {
		return ""
	}
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(out.Dest)), ".")
	if ext == "" {
		return ""
	}
	f, err := e.cfg.Workspace.Open(out.Dest, 0)
	if err == nil {
		_ = f.Close() // only its kind was asked for
	}
	if fault.CodeOf(err) == fault.NotRegular { // a directory with a dot in its name; anything else is refused later
		return ""
	}
	return ext
}

// ext is the planned extension; the bytes decide in the end.
func (d *draft) ext() string {
	switch {
	case d.convert != "":
		return d.convert
	case d.call.OutputFormat != "":
		return d.call.OutputFormat
	}
	return "png" // what providers send when not asked
}

// output describes where the pictures go.
func (d *draft) output(id string) workspace.OutputSpec {
	return workspace.OutputSpec{
		Dest: d.out.Dest, Template: d.out.Template, Tool: d.tool, ID: id, Count: d.call.N, Ext: d.ext(),
		Overwrite: d.out.Overwrite, NeedBytes: int64(d.call.N) * spaceAPicture,
		Vars: map[string]string{
			"model": d.call.Model, "provider": d.provider.Name(), "size": d.call.Size, "quality": d.call.Quality,
			"slug": slug(d.call.Prompt),
		},
	}
}

// target plans the files. What can fail for want of rights, space or a free name fails here, before anything is paid.
func (e *Engine) target(d *draft) (*workspace.Target, error) {
	spec := d.output(newID())
	if d.out.Stream {
		return e.cfg.Workspace.PlanSpool(spec)
	}
	return e.cfg.Workspace.Plan(spec)
}

// preview names the files of a dry run. It looks where target would look, and makes nothing.
func (e *Engine) preview(d *draft) ([]string, error) {
	if d.out.Stream {
		return []string{stdoutPath}, nil
	}
	t, err := e.cfg.Workspace.Preview(d.output(newID()))
	if err != nil {
		return nil, err
	}
	return t.Paths(), t.Close()
}

// slug makes a short file-name part of a prompt: its first words, lower case, joined by dashes.
func slug(prompt string) string {
	const words, runes = 6, 40
	var parts []string
	for _, w := range strings.FieldsFunc(strings.ToLower(prompt), notWord) {
		if parts = append(parts, w); len(parts) == words {
			break
		}
	}
	r := []rune(strings.Join(parts, "-"))
	text := strings.Trim(string(r[:min(len(r), runes)]), "-")
	if text == "" {
		return "picture"
	}
	return text
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// newID returns the id of one call's files: a random UUID, as the contract has it.
func newID() string { return uuid.NewString() }
