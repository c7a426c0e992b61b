package engine

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"time"

	"mediagen/internal/fault"
	"mediagen/internal/imaging"
	"mediagen/internal/sniff"
)

// Inspection is what the headers of one file say. Paths are absolute; "-" is stdin.
type Inspection struct {
	Source     string        `json:"source"`
	Kind       string        `json:"kind,omitempty"`   // "image" or "video"; "" when it could not be read
	Format     string        `json:"format,omitempty"` // png jpeg webp gif avif heic bmp tiff mp4 mov webm mkv
	MediaType  string        `json:"media_type,omitempty"`
	Bytes      int64         `json:"bytes,omitempty"`
	Width      int           `json:"width,omitempty"`  // pixels as shown; 0 when not known
	Height     int           `json:"height,omitempty"` // pixels as shown; 0 when not known
	Frames     int64         `json:"frames,omitempty"` // 0 when not known
	C2PA       bool          `json:"c2pa"`             // content credentials are there; nobody checked them
	SourceType string        `json:"digital_source_type,omitempty"`
	Image      *ImageDetails `json:"image,omitempty"`
	Video      *VideoDetails `json:"video,omitempty"`
	Sidecar    *SidecarFacts `json:"sidecar,omitempty"`
	Error      *ItemError    `json:"error"`
}

// ImageDetails are what only pictures have.
type ImageDetails struct {
	Orientation int    `json:"orientation"`              // EXIF, 1 to 8
	Profile     string `json:"colour_profile,omitempty"` // its name
	Alpha       bool   `json:"alpha"`
}

// VideoDetails are what only videos have. Zero and empty mean not known.
type VideoDetails struct {
	Brand      string  `json:"brand,omitempty"`
	DurationS  float64 `json:"duration_s,omitempty"`
	FPS        float64 `json:"fps,omitempty"`
	Rotation   int     `json:"rotation"` // degrees clockwise
	VideoCodec string  `json:"video_codec,omitempty"`
	AudioCodec string  `json:"audio_codec,omitempty"`
	FastStart  bool    `json:"fast_start"`
	Fragmented bool    `json:"fragmented"`
	Whole      bool    `json:"whole"`
	Missing    int64   `json:"missing_bytes,omitempty"` // 0 when whole or not known
}

// SidecarFacts are from the file NAME.EXT.json that --sidecar wrote beside a picture.
type SidecarFacts struct {
	Path     string      `json:"path"`
	Prompt   string      `json:"prompt,omitempty"`
	Provider string      `json:"provider,omitempty"`
	Model    string      `json:"model,omitempty"`
	Cost     SidecarCost `json:"cost"`
	Made     time.Time   `json:"made,omitzero"`
}

// SidecarCost is money as a sidecar has it: the amount is a decimal number of dollars, nil when unknown.
type SidecarCost struct {
	Amount   *json.Number `json:"amount"`
	Currency string       `json:"currency"`
	Basis    string       `json:"basis"`
}

var opInspect = operation{"inspect", "images inspect", ""} //nolint:gochecknoglobals // constant

// InspectMedia reads the headers of pictures and videos, and of nothing else: no pixel is decoded. There is one row a
// file, in their order; the error is partial when some could be read, the file's own when there is one, else that of
// the worst kind.
func (e *Engine) InspectMedia(ctx context.Context, refs []string) ([]Inspection, error) {
	if err := checkFiles(refs, "file"); err != nil {
		return nil, told(opInspect, err)
	}
	rows := make([]Inspection, 0, len(refs))
	var errs []error
	for _, ref := range refs {
		row := Inspection{Source: ref}
		err := ctx.Err()
		if err != nil {
			err = cutShort(ctx, err)
		} else {
			err = e.inspect(ref, &row)
		}
		if err != nil {
			row.Error = itemError(err)
			errs = append(errs, err)
		}
		rows = append(rows, row)
	}
	if err := severalFailed(errs, len(refs), "read"); err != nil {
		return rows, told(opInspect, err)
	}
	return rows, nil
}

func (e *Engine) inspect(ref string, row *Inspection) error {
	if ref == "-" {
		data, err := e.readStdin(e.cfg.Bounds.SaveImage)
		if err != nil {
			return err
		}
		row.Bytes = int64(len(data))
		return row.read("stdin", newBytes(data))
	}
	if hasURLScheme(ref) {
		return fault.New(fault.UnsupportedOperation, "a URL cannot be a source yet; download the file and give its path")
	}
	f, err := e.cfg.Workspace.Open(ref, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	row.Source, row.Bytes = f.Path, f.Size
	if err := row.read(ref, f); err != nil {
		return err
	}
	row.Sidecar = e.sidecarOf(f.Path)
	return nil
}

// read fills the row from the headers.
func (i *Inspection) read(name string, r io.ReaderAt) error {
	t, err := sniff.DetectReader(io.NewSectionReader(r, 0, i.Bytes))
	if err != nil {
		return fault.Caused(fault.IOFailed, err, "%s cannot be read", name)
	}
	if t.Kind == sniff.KindImage {
		err = i.readImage(r)
	} else {
		err = i.readVideo(r, t)
	}
	if err != nil {
		return named(name, err)
	}
	from, err := imaging.FindProvenance(r, i.Bytes)
	if err != nil {
		return named(name, err)
	}
	i.C2PA, i.SourceType = from.C2PA, from.SourceType
	return nil
}

// openBounds are those of reading headers alone, where a large picture costs nothing.
func openBounds() sniff.Bounds {
	return sniff.Bounds{FramePixels: math.MaxInt64, TotalPixels: math.MaxInt64, Side: math.MaxInt32, Frames: 10_000}
}

func (i *Inspection) readImage(r io.ReaderAt) error {
	info, err := imaging.Probe(r, i.Bytes, openBounds())
	if err != nil {
		return err
	}
	i.Kind, i.Format, i.MediaType, i.Frames = "image", info.Format, info.MIME, int64(info.Frames)
	i.Width, i.Height = info.Upright()
	i.Image = &ImageDetails{
		Orientation: info.Orientation, Profile: imaging.Profile(r, i.Bytes, openBounds()), Alpha: info.Alpha,
	}
	return nil
}

func (i *Inspection) readVideo(r io.ReaderAt, t sniff.Type) error {
	v, err := imaging.ProbeVideo(r, i.Bytes)
	if err != nil && fault.CodeOf(err) == fault.MIMEMismatch && t.Kind != sniff.KindVideo {
		return fault.New(fault.UnsupportedOperation, "the bytes are %s; pictures (png, jpeg, webp, gif, avif, heic, bmp, "+
			"tiff) and videos (mp4, mov, webm, mkv) can be inspected", mimeOr(t))
	}
	if err != nil {
		return err
	}
	i.Kind, i.Format, i.MediaType, i.Frames = "video", v.Format, v.MIME, v.Frames
	i.Width, i.Height = v.Width, v.Height
	i.Video = &VideoDetails{
		Brand: v.Brand, DurationS: v.Duration.Seconds(), FPS: v.FPS, Rotation: v.Rotation, VideoCodec: v.VideoCodec,
		AudioCodec: v.AudioCodec, FastStart: v.FastStart, Fragmented: v.Fragmented, Whole: v.Whole, Missing: v.Missing,
	}
	return nil
}

// sidecarOf reads the file beside a picture. One that is missing, denied or no sidecar of ours tells nothing.
func (e *Engine) sidecarOf(path string) *SidecarFacts {
	text, err := e.ReadText(path + ".json")
	if err != nil {
		return nil
	}
	var s struct {
		Schema string      `json:"schema"`
		Job    *JobInfo    `json:"job"`
		Prompt string      `json:"prompt"`
		Cost   SidecarCost `json:"cost"`
		Made   time.Time   `json:"made"`
	}
	if json.Unmarshal([]byte(text), &s) != nil || s.Schema != sidecarSchema {
		return nil
	}
	facts := &SidecarFacts{Path: path + ".json", Prompt: s.Prompt, Cost: s.Cost, Made: s.Made}
	if s.Job != nil {
		facts.Provider, facts.Model = s.Job.Provider, s.Job.Model
	}
	return facts
}

// sidecarSchema names the version of the files that --sidecar writes.
const sidecarSchema = "mediagen-sidecar/1"
