package emulator

import (
	"image"
	"io"
	"net/http"
	"unicode/utf8"

	"mediagen/internal/emulator/drawing"
)

// openAIImageRoutes serve the create and edit routes under the bases of OpenAI, of clients that append no version, and
// of Azure's two surfaces.
func openAIImageRoutes() []route {
	var routes []route
	for _, base := range []string{"", "/v1", "/openai/v1", "/openai/deployments/{deployment}"} {
		routes = append(routes,
			route{pattern: "POST " + base + "/images/generations", api: true, create: true, handle: createImages},
			route{pattern: "POST " + base + "/images/edits", api: true, create: true, handle: editImages},
		)
	}
	return routes
}

// imageJob is a validated create or edit.
type imageJob struct {
	params imageParams
	upload *upload // nil for a create
}

// event names the SSE events of the job: image_generation.completed, image_edit.partial_image.
func (j *imageJob) event(suffix string) string {
	if j.upload != nil {
		return "image_edit." + suffix
	}
	return "image_generation." + suffix
}

func (j *imageJob) inputs() []input {
	if j.upload == nil {
		return nil
	}
	return j.upload.images
}

func createImages(x *exchange) {
	f, err := readJSONFields(x.r)
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(x.w, x.r.Body, maxJSONBody)) // so that the client reads the answer
	x.answer(f, nil, err)
}

func editImages(x *exchange) {
	up, err := x.readUpload()
	x.entry.Parts = up.parts
	x.answer(up.fields, &up, err)
}

// answer takes the faults that the body's end or the prompt asks for, then says what is wrong with the request, then
// draws. A fault goes before a complaint: it stands for a server that never looked.
func (x *exchange) answer(f fields, up *upload, readErr *apiError) {
	prompt, faultErr := x.readPromptFault(f["prompt"].text)
	x.note(f, prompt)
	x.takeFault(func(d faultDef) bool { return !d.early })
	if x.plan.headerPause > 0 && !wait(x.r.Context(), x.plan.headerPause) {
		return
	}
	if x.plan.instead != nil {
		x.plan.instead(x)
		return
	}
	job, err := x.validate(f, prompt, up)
	for _, e := range []*apiError{readErr, faultErr, err} {
		if e != nil {
			x.fail(e)
			return
		}
	}
	x.entry.N, x.entry.Stream = job.params.N, job.params.Stream
	x.reply(job)
}

// note writes down what the log may know.
func (x *exchange) note(f fields, prompt string) {
	x.entry.Model = clip(f["model"].text, 100)
	if prompt != "" {
		x.entry.Prompt = &promptMark{Chars: utf8.RuneCountInString(prompt), SHA256: digest(prompt)}
	}
}

func (x *exchange) validate(f fields, prompt string, up *upload) (*imageJob, *apiError) {
	p, err := readImageParams(f, prompt, up != nil)
	if deployment := x.r.PathValue("deployment"); deployment != "" {
		if x.r.URL.Query().Get("api-version") == "" {
			return nil, newAPIError(http.StatusNotFound, "", "404", "", "resource not found: api-version is missing")
		}
		if p.Model == "" {
			p.Model = deployment
		}
	}
	switch {
	case err != nil:
		return nil, err
	case p.Model == "":
		return nil, badRequest("model", "missing_required_parameter", "missing required parameter: 'model'")
	case up == nil:
		return &imageJob{params: p}, nil
	}
	if err := up.checkInputs(p); err != nil {
		return nil, err
	}
	return &imageJob{params: p, upload: up}, nil
}

// draw makes the final picture at an index.
func (x *exchange) draw(j *imageJob, index int) (drawing.File, error) {
	s := j.sketch(index)
	switch format := x.format(j); format {
	case "svg":
		return x.finish(drawing.Vector(s), nil)
	case "gif":
		return x.finish(x.s.painter.Animate(s, j.params.Frames, j.params.FrameMS))
	default:
		img, err := x.s.painter.Paint(s)
		if err != nil {
			return drawing.File{}, err
		}
		return x.encode(j, img)
	}
}

// encode writes pixels in the format of the job. The best compression value, 100, is quality 90 of the encoder: what
// lies above costs time and bytes and shows nothing.
func (x *exchange) encode(j *imageJob, img image.Image) (drawing.File, error) {
	return x.finish(drawing.Encode(x.r.Context(), img, x.format(j), 1+j.params.Compression*89/100, j.params.Prompt))
}

// finish pads a picture if a fault asks for it.
func (x *exchange) finish(pic drawing.File, err error) (drawing.File, error) {
	if x.plan.padMB > 0 {
		pic.PadTo(int64(x.plan.padMB) * 1_000_000)
	}
	return pic, err
}

// format returns the format that is sent: the one that was asked for, unless a fault says otherwise.
func (x *exchange) format(j *imageJob) string {
	switch {
	case !x.plan.otherType:
		return j.params.Format
	case j.params.Format == "png":
		return "jpeg"
	default:
		return "png"
	}
}

// sketch says what picture index of the job shows.
func (j *imageJob) sketch(index int) drawing.Sketch {
	p := j.params
	s := drawing.Sketch{
		Width: p.Width, Height: p.Height, Prompt: p.Prompt, Model: p.Model, Index: index, Count: p.N,
		Transparent: p.Background == "transparent",
	}
	for _, in := range j.inputs() {
		photo := in.photo
		if photo == nil {
			photo = drawing.Tile(in.uprightW, in.uprightH)
		}
		s.Photos = append(s.Photos, photo)
	}
	if up := j.upload; up != nil && up.mask != nil {
		s.Mask = up.mask.photo
	}
	if up := j.upload; up != nil && up.markup != nil {
		s.Markup = up.markup.photo
	}
	return s
}
