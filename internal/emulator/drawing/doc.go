// Package drawing makes the emulator's pictures: a scene that follows from the prompt alone, a card with the prompt and
// the word EMULATED, the inputs of an edit as photographs, and files in five formats that carry the whole prompt as
// metadata.
//
// It knows no HTTP and no provider, reads no files and uses no fonts but the two that are embedded: characters which
// those lack are drawn as boxed code points.
package drawing
