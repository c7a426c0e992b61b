// Package emulator is a server on the loopback interface that answers as OpenAI's images API does, so that every road
// of mediagen can be walked without a key, a network or a bill: it draws a deterministic picture that carries the
// prompt and the word EMULATED, counts plausible tokens, refuses what OpenAI would refuse, and misbehaves on request.
//
// It does not generate anything, remember prompts, fetch URLs, check keys or listen on any address but loopback. Its
// numbers are shaped like a vendor's and are not a vendor's.
package emulator
