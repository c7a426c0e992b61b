//go:build cgo && !novips

package imaging

/*
#cgo pkg-config: vips
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

// Job is a picture on its way from its file, or from pixels, to the memory of the caller.
typedef struct {
	VipsImage *base;  // holds every step until the job is closed
	VipsImage *image; // the last step, 8 bits a band
	int width, height, bands;
} Job;

// The warnings of this thread since its last job began. Jobs run in the thread that started them.
static __thread char warnings[512];

static void keep_warning(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer user) {
	if (!(level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR)))
		return;
	if (warnings[0])
		g_strlcat(warnings, "; ", sizeof warnings);
	g_strlcat(warnings, message, sizeof warnings);
}

// start_vips takes the settings that bimg does not: loaders that libvips itself calls untrusted are off, one thread a
// picture, no cache of operations, no warnings on stderr, and no picture in a temporary file, which libvips makes above
// 100 MB: the header check allows no more than memory holds.
static void start_vips(void) {
	g_setenv("VIPS_DISC_THRESHOLD", "4g", FALSE);
	vips_block_untrusted_set(TRUE);
	vips_concurrency_set(1);
	vips_cache_set_max(0);
	vips_cache_set_max_mem(0);
	g_log_set_handler("VIPS", G_LOG_LEVEL_MASK, keep_warning, NULL);
}

// to_srgb converts by the embedded profile, if there is a usable one, and to 8-bit sRGB. vips_icc_transform also does
// what vips_thumbnail gets wrong in 8.14: it leaves a picture without a profile alone.
static int to_srgb(VipsImage *in, VipsImage **t) {
	VipsImage *from = in;
	if (vips_image_get_typeof(in, VIPS_META_ICC_NAME)) {
		if (vips_icc_transform(in, &t[0], "srgb", "embedded", TRUE, "intent", VIPS_INTENT_RELATIVE, NULL) == 0)
			from = t[0];
		else
			vips_error_clear(); // a corrupt profile counts as none
	}
	if (vips_colourspace(from, &t[1], VIPS_INTERPRETATION_sRGB, NULL))
		return -1;
	if (t[1]->Bands > 4) // more than one extra channel: only the colours have a meaning here
		return vips_extract_band(t[1], &t[2], 0, "n", 3, NULL) || vips_cast_uchar(t[2], &t[3], NULL);
	return vips_cast_uchar(t[1], &t[3], NULL);
}

// fit_size resizes with straight alpha kept right: colours are weighted by their alpha while they are mixed.
static int fit_size(VipsImage *in, VipsImage **t, int width, int height, VipsImage **out) {
	*out = in;
	if (width <= 0 || (in->Xsize == width && in->Ysize == height))
		return 0;
	if (in->Bands == 4) {
		if (vips_premultiply(in, &t[0], NULL))
			return -1;
		in = t[0];
	}
	if (vips_resize(in, &t[1], (double) width / in->Xsize, "vscale", (double) height / in->Ysize, NULL))
		return -1;
	in = t[1];
	if (in->Bands == 4) {
		if (vips_unpremultiply(in, &t[2], NULL))
			return -1;
		in = t[2];
	}
	if (vips_cast_uchar(in, &t[3], NULL))
		return -1;
	*out = t[3];
	return 0;
}

// begin and finish frame the building of a job.
static VipsImage **begin(Job *job, int steps) {
	warnings[0] = 0;
	job->base = vips_image_new();
	return (VipsImage **) vips_object_local_array(VIPS_OBJECT(job->base), steps);
}

static int finish(Job *job, VipsImage *last) {
	job->image = last;
	job->width = last->Xsize;
	job->height = last->Ysize;
	job->bands = last->Bands;
	return 0;
}

// open_file builds the way from a file to 8-bit sRGB pixels. width and height are those after resizing, 0 for the
// picture's own; shrink is what a JPEG's decoder divides the sides by while it reads. buf must stay where it is until
// the job is closed.
static int open_file(Job *job, const void *buf, size_t len, int shrink, int max_side, gint64 max_pixels, int width,
	int height) {
	VipsImage **t = begin(job, 9);
	t[0] = shrink > 1
		? vips_image_new_from_buffer(buf, len, "", "access", VIPS_ACCESS_SEQUENTIAL,
			"fail_on", VIPS_FAIL_ON_TRUNCATED, "shrink", shrink, NULL)
		: vips_image_new_from_buffer(buf, len, "", "access", VIPS_ACCESS_SEQUENTIAL,
			"fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
	if (!t[0])
		return -1;
	if (t[0]->Xsize > max_side || t[0]->Ysize > max_side || (gint64) t[0]->Xsize * t[0]->Ysize > max_pixels)
		return -2; // libvips reads another size than our header probe: do not decode
	VipsImage *sized;
	if (to_srgb(t[0], t + 1) || fit_size(t[4], t + 5, width, height, &sized))
		return -1;
	return finish(job, sized);
}

// open_pixels builds the way from pixels in memory to another size. pix must stay where it is until the job is closed.
static int open_pixels(Job *job, const void *pix, int width, int height, int bands, int to_width, int to_height) {
	VipsImage **t = begin(job, 6);
	t[0] = vips_image_new_from_memory(pix, (size_t) width * height * bands, width, height, bands, VIPS_FORMAT_UCHAR);
	if (!t[0] || vips_copy(t[0], &t[1], "interpretation", VIPS_INTERPRETATION_sRGB, NULL))
		return -1;
	VipsImage *sized;
	if (fit_size(t[1], t + 2, to_width, to_height, &sized))
		return -1;
	return finish(job, sized);
}

// open_turned builds the way from pixels in memory to those that a viewer shows for an EXIF orientation.
static int open_turned(Job *job, const void *pix, int width, int height, int bands, int orientation) {
	VipsImage **t = begin(job, 3);
	t[0] = vips_image_new_from_memory(pix, (size_t) width * height * bands, width, height, bands, VIPS_FORMAT_UCHAR);
	if (!t[0] || vips_copy(t[0], &t[1], NULL))
		return -1;
	vips_image_set_int(t[1], VIPS_META_ORIENTATION, orientation);
	if (vips_autorot(t[1], &t[2], NULL))
		return -1;
	return finish(job, t[2]);
}

// run_job copies the pixels to out strip by strip, so that they are nowhere twice, until *stop is set. It does so in
// this thread: libvips' own threads lose the error of a file that is cut short in one of ten runs.
static int run_job(Job *job, unsigned char *out, volatile int *stop) {
	VipsRegion *region = vips_region_new(job->image);
	size_t line = VIPS_IMAGE_SIZEOF_LINE(job->image);
	int result = 0;
	for (int y = 0; y < job->height && !result; y += 64) {
		VipsRect strip = {0, y, job->width, VIPS_MIN(64, job->height - y)};
		result = *stop ? -3 : vips_region_prepare(region, &strip);
		for (int i = 0; i < strip.height && !result; i++)
			memcpy(out + (y + i) * line, VIPS_REGION_ADDR(region, 0, y + i), line);
	}
	g_object_unref(region);
	return result;
}

// close_job frees everything and tells the beginning of libvips' words: its errors if the job failed, else its
// warnings. The errors of all threads stand in one buffer, so that a job that went well must not look there.
static void close_job(Job *job, int failed, char *words, size_t size) {
	g_strlcpy(words, failed && vips_error_buffer()[0] ? vips_error_buffer() : warnings, size);
	vips_error_clear();
	g_object_unref(job->base);
	vips_thread_shutdown();
}
*/
import "C"

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// start configures libvips before the first picture. bimg's package init has already loaded the library; nothing else
// runs for a command that uses no pixels.
//
//nolint:gochecknoglobals // libvips is one library a process and must be set up once
var start = sync.OnceFunc(func() { C.start_vips() })

// errDisagree is a file whose size libvips and the header probe read differently.
var errDisagree = errors.New("libvips and the header probe disagree about the size")

// job runs what open builds and returns its pixels. in is what libvips reads; it is pinned until the job is closed.
func job(ctx context.Context, in []byte, open func(job *C.Job, in unsafe.Pointer) C.int) (*pixels, error) {
	start()
	runtime.LockOSThread() // libvips keeps buffers for each thread until vips_thread_shutdown
	defer runtime.UnlockOSThread()
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(unsafe.SliceData(in))

	var j C.Job
	result := open(&j, unsafe.Pointer(unsafe.SliceData(in)))
	px, err := collect(ctx, &j, result)
	var words [512]C.char
	failed := C.int(0)
	if err != nil {
		failed = 1
	}
	C.close_job(&j, failed, &words[0], C.size_t(len(words)))
	if err != nil {
		return nil, errors.Join(err, errors.New(C.GoString(&words[0])))
	}
	px.notes = C.GoString(&words[0])
	return px, nil
}

// collect takes the pixels of a job that was opened.
func collect(ctx context.Context, j *C.Job, result C.int) (*pixels, error) {
	switch {
	case result == -2:
		return nil, errDisagree
	case result != 0:
		return nil, errVips
	case j.bands != 3 && j.bands != 4:
		return nil, errors.New("libvips gives neither RGB nor RGBA")
	}
	px := blank(int(j.width), int(j.height), int(j.bands))
	stop := (*C.int)(C.calloc(1, C.sizeof_int))
	defer C.free(unsafe.Pointer(stop))
	told := make(chan struct{})
	release := context.AfterFunc(ctx, func() {
		atomic.StoreInt32((*int32)(unsafe.Pointer(stop)), 1)
		close(told)
	})
	result = C.run_job(j, (*C.uchar)(unsafe.Pointer(unsafe.SliceData(px.pix))), stop)
	if !release() {
		<-told // what it writes to is freed next
		return nil, ctx.Err()
	}
	if result != 0 {
		return nil, errVips
	}
	return px, nil
}

// errVips is joined by libvips' own words.
var errVips = errors.New("libvips failed")

// decodeVips decodes src strictly, so that a truncated file is an error. to is the stored picture's new size, the zero
// extent its own.
func decodeVips(ctx context.Context, src []byte, h header, to extent, b sniff.Bounds) (*pixels, error) {
	px, err := job(ctx, src, func(j *C.Job, in unsafe.Pointer) C.int {
		return C.open_file(j, in, C.size_t(len(src)), C.int(shrinkOnLoad(h, to)), C.int(b.Side), C.gint64(b.FramePixels),
			C.int(to.w), C.int(to.h))
	})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, damaged(h.Format, err)
	}
	return px, nil
}

// shrinkOnLoad is what a JPEG's decoder divides the sides by: it must leave a quarter more than is wanted, so that the
// resize after it has something to work with (imaging.md §9).
func shrinkOnLoad(h header, to extent) int {
	if h.Format != "jpeg" || to.w == 0 {
		return 1
	}
	for _, by := range []int{8, 4, 2} {
		if float64(h.Width) >= 1.25*float64(by*to.w) && float64(h.Height) >= 1.25*float64(by*to.h) {
			return by
		}
	}
	return 1
}

// turned applies an EXIF orientation. It takes pixels that are in memory, for while they were decoded on the way to a
// turn, nothing could stop it.
func (p *pixels) turned(ctx context.Context, orientation int) (*pixels, error) {
	if orientation <= 1 {
		return p, nil
	}
	px, err := job(ctx, p.pix, func(j *C.Job, in unsafe.Pointer) C.int {
		return C.open_turned(j, in, C.int(p.w), C.int(p.h), C.int(p.bands), C.int(orientation))
	})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fault.Caused(fault.UnsupportedOperation, err, "the picture cannot be turned upright")
	}
	px.notes = p.notes
	return px, nil
}

// resize returns the picture at another size.
func (p *pixels) resize(ctx context.Context, w, h int) (*pixels, error) {
	px, err := job(ctx, p.pix, func(j *C.Job, in unsafe.Pointer) C.int {
		return C.open_pixels(j, in, C.int(p.w), C.int(p.h), C.int(p.bands), C.int(w), C.int(h))
	})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fault.Caused(fault.UnsupportedOperation, err, "the picture cannot be resized to %dx%d", w, h)
	}
	return px, nil
}

func vipsVersion() string { return C.GoString(C.vips_version_string()) }

// hasOperation reports whether this libvips has an operation such as "heifload_buffer".
func hasOperation(name string) bool {
	base, nick := C.CString("VipsOperation"), C.CString(name)
	defer C.free(unsafe.Pointer(base))
	defer C.free(unsafe.Pointer(nick))
	return C.vips_type_find(base, nick) != 0
}
