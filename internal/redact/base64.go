package redact

import (
	"strconv"
	"strings"
)

const (
	longRun    = 64 // characters of base64 that may stay
	longWord   = 32 // characters of the longest piece between separators that reads as part of a name
	longHex    = 64 // characters of the longest piece of hex digits that reads as a hash
	changeRare = 3  // a name changes between cases and digits less often than once in this many characters
)

// inBase64 marks the characters of both base64 alphabets of RFC 4648, without the padding.
//
//nolint:gochecknoglobals // a table
var inBase64 = tableOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

func tableOf(chars string) (t [256]bool) {
	for _, c := range []byte(chars) {
		t[c] = true
	}
	return t
}

// Base64 returns text with each base64 run of more than 64 characters cut to keep characters and "...(N chars)", where
// N is the length of the run. File paths and names are left alone, and so is a run that is no longer than keep.
func Base64(text string, keep int) string {
	keep = max(keep, 0)
	return cutRuns(text, func(run string) string {
		if len(run) <= keep {
			return run
		}
		return run[:keep] + "...(" + charCount(run) + ")"
	})
}

func charCount(run string) string { return strconv.Itoa(len(run)) + " chars" }

// cutRuns replaces the long base64 runs of text. It looks at every 65th character and walks back to the one that ends
// the present run, so ordinary text costs it a fraction of its length.
func cutRuns(text string, cut func(run string) string) string {
	e := edits{text: text}
	for i := 0; i+longRun < len(text); {
		if end := lastOutside(text, i, i+longRun); end >= 0 {
			i = end + 1
			continue
		}
		end := i + longRun
		for end < len(text) && runChar(text, end) {
			end++
		}
		if !readsAsName(text[i:end]) {
			for pad := 0; pad < 2 && end < len(text) && text[end] == '='; pad++ {
				end++
			}
			e.replace(i, end, cut(text[i:end]))
		}
		i = end
	}
	return e.result()
}

// lastOutside returns the last position in text[from:to+1] that no base64 run contains, or -1.
func lastOutside(text string, from, to int) int {
	for k := to; k >= from; k-- {
		if !runChar(text, k) {
			return k
		}
	}
	return -1
}

// runChar reports whether text[i] belongs to a base64 run. A backslash does before a slash, for some JSON encoders
// escape it.
func runChar(text string, i int) bool {
	return inBase64[text[i]] || (text[i] == '\\' && i+1 < len(text) && text[i+1] == '/')
}

// readsAsName reports whether a long run is a path or a name made of words rather than encoded data: separators cut it
// into short pieces, and it seldom changes between upper case, lower case and digits. Two of three neighbours in
// encoded data differ; in a path with a camel-cased directory or a random upper-case part fewer than one of three do.
func readsAsName(run string) bool {
	changes := 0
	for piece := range strings.FieldsFuncSeq(run, isSeparator) {
		if strings.Trim(piece, "0123456789abcdef") == "" {
			if len(piece) > longHex {
				return false
			}
			continue
		}
		if len(piece) > longWord {
			return false
		}
		for i := 1; i < len(piece); i++ {
			if class(piece[i]) != class(piece[i-1]) {
				changes++
			}
		}
	}
	return changes*changeRare < len(run)
}

// class tells upper case, lower case and digits apart.
func class(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return 'A'
	case 'a' <= c && c <= 'z':
		return 'a'
	}
	return '0'
}

func isSeparator(r rune) bool { return strings.ContainsRune(`/_-+\`, r) }
