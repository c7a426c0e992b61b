//go:build cgo && !novips

package imaging

/*
#cgo pkg-config: vips
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

typedef struct {
	void *data; // g_malloc'ed, bands interleaved, 8 bits each
	int width, height, bands;
} Pixels;

static void drop_log(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer user) {}

// start_vips takes the settings that bimg does not: loaders that libvips itself calls untrusted are off, one thread a
// picture, no cache of operations, no warnings on stderr.
static void start_vips(void) {
	vips_block_untrusted_set(TRUE);
	vips_concurrency_set(1);
	vips_cache_set_max(0);
	vips_cache_set_max_mem(0);
	g_log_set_handler("VIPS", G_LOG_LEVEL_MASK, drop_log, NULL);
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

static int decode_into(VipsObject *base, const void *buf, size_t len, int orientation, int max_side,
	gint64 max_pixels, Pixels *out) {
	VipsImage **t = (VipsImage **) vips_object_local_array(base, 9);
	t[0] = vips_image_new_from_buffer(buf, len, "", "access", VIPS_ACCESS_SEQUENTIAL,
		"fail_on", VIPS_FAIL_ON_TRUNCATED, NULL);
	if (!t[0])
		return -1;
	if (t[0]->Xsize > max_side || t[0]->Ysize > max_side || (gint64) t[0]->Xsize * t[0]->Ysize > max_pixels)
		return -2; // libvips reads another size than our header probe: do not decode
	if (to_srgb(t[0], t + 1))
		return -1;
	VipsImage *upright = t[4];
	if (orientation > 1) {
		if (!(t[5] = vips_image_copy_memory(t[4])) || vips_copy(t[5], &t[6], NULL))
			return -1;
		vips_image_set_int(t[6], VIPS_META_ORIENTATION, orientation);
		if (vips_autorot(t[6], &t[7], NULL))
			return -1;
		upright = t[7];
	}
	size_t size;
	out->width = upright->Xsize;
	out->height = upright->Ysize;
	out->bands = upright->Bands;
	out->data = vips_image_write_to_memory(upright, &size);
	return out->data ? 0 : -1;
}

// decode_pixels does everything that reads buf before it returns, because buf is Go memory. On failure, message holds
// the beginning of libvips' words.
static int decode_pixels(const void *buf, size_t len, int orientation, int max_side, gint64 max_pixels, Pixels *out,
	char *message, size_t message_size) {
	VipsImage *base = vips_image_new();
	int result = decode_into(VIPS_OBJECT(base), buf, len, orientation, max_side, max_pixels, out);
	if (result)
		g_strlcpy(message, vips_error_buffer(), message_size);
	vips_error_clear();
	g_object_unref(base);
	vips_thread_shutdown();
	return result;
}
*/
import "C"

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"

	"mediagen/internal/sniff"
)

// start configures libvips before the first picture. bimg's package init has already loaded the library; nothing else
// runs for a command that uses no pixels.
//
//nolint:gochecknoglobals // libvips is one library a process and must be set up once
var start = sync.OnceFunc(func() { C.start_vips() })

// decodeVips decodes src into a new TIFF: strictly, so that a truncated file is an error. orientation is 1 when libvips
// has turned the picture itself.
func decodeVips(src []byte, format string, orientation int, b sniff.Bounds) (*pixels, error) {
	start()
	runtime.LockOSThread() // libvips keeps buffers for each thread until vips_thread_shutdown
	defer runtime.UnlockOSThread()
	var out C.Pixels
	var message [256]C.char
	result := C.decode_pixels(unsafe.Pointer(unsafe.SliceData(src)), C.size_t(len(src)), C.int(orientation),
		C.int(b.Side), C.gint64(b.FramePixels), &out, &message[0], C.size_t(len(message)))
	switch {
	case result == -2:
		return nil, damaged(format, errors.New("libvips and the header probe disagree about the size"))
	case result != 0:
		return nil, damaged(format, errors.New(C.GoString(&message[0])))
	}
	defer C.g_free(C.gpointer(out.data))
	px := &pixels{w: int(out.width), h: int(out.height), bands: int(out.bands)}
	if px.bands != 3 && px.bands != 4 {
		return nil, damaged(format, errors.New("libvips gives neither RGB nor RGBA"))
	}
	px.tiff, px.pix = tiffFile(px.w, px.h, px.bands)
	copy(px.pix, unsafe.Slice((*byte)(out.data), len(px.pix)))
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
