package journal

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"time"

	"mediagen/internal/fault"
)

const (
	// idAlphabet is Crockford's base32 in lower case: no i, l, o or u, so that an id can be read aloud and typed.
	idAlphabet  = "0123456789abcdefghjkmnpqrstvwxyz"
	idLen       = 12 // 60 bits: 40 of time, 20 of chance
	idTimeBits  = 40 // milliseconds, enough until 2059
	idRandBits  = 20
	idPrefixMin = 4
)

// idEpoch is the start of the ids' clock: 2025-01-01 00:00:00 UTC, in Unix milliseconds.
const idEpoch = 1_735_689_600_000

// newID returns an id that sorts by time to the millisecond. Create draws again in the rare case that it is taken.
func newID(now time.Time) string {
	var random [8]byte
	rand.Read(random[:]) // never fails: it ends the program instead
	millis := uint64(max(now.UnixMilli()-idEpoch, 0)) & (1<<idTimeBits - 1)
	bits := millis<<idRandBits | binary.NativeEndian.Uint64(random[:])&(1<<idRandBits-1)
	var id [idLen]byte
	for i := range id {
		shift := 5 * (idLen - 1 - i)
		id[i] = idAlphabet[bits>>shift&31]
	}
	return string(id[:])
}

// cleanID reads an id or prefix as a person types it: upper case is lowered and the letters that ids avoid are taken
// for the digits they resemble.
func cleanID(typed string) string {
	return strings.NewReplacer("o", "0", "i", "1", "l", "1").Replace(strings.ToLower(typed))
}

func isID(s string) bool {
	return len(s) == idLen && strings.Trim(s, idAlphabet) == ""
}

// checkPrefix refuses what cannot be the beginning of an id; typed is what the person wrote, for the message.
func checkPrefix(s, typed string) error {
	if len(s) < idPrefixMin || len(s) > idLen || strings.Trim(s, idAlphabet) != "" {
		return fault.New(fault.InvalidArgument, "%q is no job id: give %d to %d characters of one, as jobs list prints it",
			clip(typed), idPrefixMin, idLen)
	}
	return nil
}

// clip keeps a foreign string short enough for a message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
