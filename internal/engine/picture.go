package engine

import (
	"context"
	"fmt"
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
	"mediagen/internal/workspace"
)

// picture is one picture on its way to disk. Whatever happens to it here, the reply is read on, so that its siblings
// still arrive: what went wrong is reported when the call is settled.
type picture struct {
	temp   *workspace.Temp
	s      *session
	slot   Slot
	total  int64
	broken error // why the bytes are gone
}

// Write adds bytes.
func (p *picture) Write(b []byte) (int, error) {
	p.total += int64(len(b))
	if limit := p.s.e.cfg.Bounds.ReplyImage; p.broken == nil && limit > 0 && p.total > limit {
		p.broken = fault.New(fault.ItemTooLarge, "it has more than %d bytes, which no model makes", limit)
		p.Abort() // its room is needed by the others
	}
	if p.broken == nil {
		_, p.broken = p.temp.Write(b)
	}
	send(p.s.progress, Event{
		Kind: EventReceived, Index: p.slot.Index, Total: p.s.total(p.slot.Index), Bytes: p.total,
	})
	return len(b), nil
}

// Abort drops an incomplete picture.
func (p *picture) Abort() {
	if err := p.temp.Abort(); err != nil {
		p.s.Warn("a temporary file could not be removed: " + AsError(err).Message)
	}
}

// Commit recognises, converts if the name asks for it, and publishes the picture.
func (p *picture) Commit() error {
	if p.broken != nil {
		p.lose(p.broken)
		return nil //nolint:nilerr // told when the call is settled
	}
	t := p.convert(sniff.Detect(p.temp.Head()))
	a := Asset{Index: p.slot.Index, Partial: p.slot.Partial, MediaType: orString(t.MIME, "application/octet-stream")}
	a.Width, a.Height = p.measure(t)
	a.NoPicture = !p.isPicture(t)
	saved, err := p.temp.Commit(extOr(t, "bin"))
	switch {
	case err != nil && !saved.Spooled:
		p.lose(err)
		return nil
	case err != nil && p.slot.Partial > 0:
		p.s.Warn(fmt.Sprintf("%s was saved in the spool: %s", p.name(), AsError(err).Message))
	case err != nil && p.s.spoolErr == nil:
		p.s.spoolErr = err
	}
	a.Path, a.Bytes, a.SHA256, a.Spooled = saved.Path, saved.Bytes, saved.SHA256, saved.Spooled
	if a.NoPicture && a.Partial == 0 && p.s.stray == nil {
		p.s.stray = p.s.errorf(KindUnknownOutcome, "not_a_picture",
			"%s is %s by its bytes, which is no picture; what came is kept at %s and may be billed", p.name(),
			orString(t.MIME, "of an unknown type"), a.Path).Bill(BilledMaybe)
	}
	p.s.add(a, t)
	return nil
}

// isPicture reports whether the bytes are what was paid for: a page, a program or a drawing that nobody asked for is
// kept, and never passes for a picture.
func (p *picture) isPicture(t sniff.Type) bool {
	return t.Kind == sniff.KindImage || t.Ext == "svg" && p.s.d.call.OutputFormat == "svg"
}

// lose gives up on a picture that no place could take.
func (p *picture) lose(cause error) {
	p.Abort()
	if p.slot.Partial > 0 {
		p.s.Warn(fmt.Sprintf("%s could not be saved: %s", p.name(), AsError(cause).Message))
		return
	}
	if p.s.lost == nil {
		p.s.lost = cause
	}
}

// name is the picture in messages.
func (p *picture) name() string {
	if p.slot.Partial > 0 {
		return fmt.Sprintf("partial %d of picture %d", p.slot.Partial, p.slot.Index+1)
	}
	return fmt.Sprintf("picture %d", p.slot.Index+1)
}

// measure returns the size in pixels, or zeros: a picture that was paid for is saved whatever its header says, and a
// drawing has none.
func (p *picture) measure(t sniff.Type) (w, h int) {
	if t.Kind != sniff.KindImage {
		return 0, 0
	}
	r, size := p.temp.File()
	info, err := imaging.Probe(r, size, p.s.e.cfg.Bounds)
	if err != nil {
		p.s.Warn(fmt.Sprintf("%s cannot be read as an image: %s", p.name(), AsError(err).Message))
		return 0, 0
	}
	return info.Upright()
}

// convert re-encodes the picture when -o names another format than the provider sent. One that cannot be converted is
// saved as it came.
func (p *picture) convert(t sniff.Type) sniff.Type {
	want := p.s.d.convert
	if want == "" || want == t.Ext || p.slot.Partial > 0 {
		p.mismatch(t)
		return t
	}
	if err := p.reencode(want); err != nil {
		p.s.Warn(fmt.Sprintf("%s came as %s and could not be converted to %s: %s", p.name(), extOr(t, "unknown data"), want,
			AsError(err).Message))
		return t
	}
	to, _ := sniff.ByExt(want)
	return to
}

// reencode needs the whole picture in memory, so it is bounded as a saved picture is.
func (p *picture) reencode(format string) error {
	r, size := p.temp.File()
	if limit := p.s.e.cfg.Bounds.SaveImage; size > limit {
		return fault.New(fault.ItemTooLarge, "it has %d bytes, at most %d are converted", size, limit)
	}
	src := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), src); err != nil {
		return fault.Caused(fault.IOFailed, err, "it cannot be read back")
	}
	out, _, err := imaging.Encode(context.Background(), src, imaging.EncodeOptions{Format: format})
	if err != nil {
		return err
	}
	return p.temp.Replace(out)
}

// mismatch warns when the bytes are not what was asked for.
func (p *picture) mismatch(t sniff.Type) {
	asked, ok := sniff.ByExt(p.s.d.call.OutputFormat)
	if !ok || asked.MIME == t.MIME || p.slot.Partial > 0 {
		return
	}
	p.s.Warn(fmt.Sprintf("%s was asked for as %s and came as %s; the extension follows the bytes", p.name(), asked.Ext,
		extOr(t, "unknown data")))
}
