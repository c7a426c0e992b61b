package workspace

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"mediagen/internal/fault"
)

// entryParts is an entry of MEDIA_GEN_DIRS: a directory, and a pattern for the names below it.
type entryParts struct {
	base    string // absolute and clean
	pattern string // escaped for doublestar; "" = everything below base
}

// parseEntry reads one entry. An entry without a star is a directory: itself and everything below. With stars, "*" is
// any run within one name and "**" any number of names. An entry whose last name is literal, or that ends in a slash,
// names directories: they and everything below. One whose last name has a star names exactly what it matches.
func parseEntry(entry, workDir string) (entryParts, error) {
	if err := checkEntry(entry); err != nil {
		return entryParts{}, err
	}
	slashed := filepath.ToSlash(entry)
	literal, _, starred := strings.Cut(slashed, "*")
	if !starred {
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(workDir, entry)
		}
		return entryParts{base: filepath.Clean(entry)}, nil
	}
	cut := strings.LastIndexByte(literal, '/') + 1
	base := filepath.FromSlash(slashed[:cut])
	if !filepath.IsAbs(base) {
		return entryParts{}, fault.New(fault.PolicyInvalid, "what comes before the first * must be an absolute path")
	}
	pattern, err := compile(slashed[cut:])
	return entryParts{base: filepath.Clean(base), pattern: pattern}, err
}

func checkEntry(entry string) error {
	if len(entry) > maxEntryBytes {
		return fault.New(fault.PolicyInvalid, "it has %d bytes, at most %d are allowed", len(entry), maxEntryBytes)
	}
	if entry == "~" || strings.HasPrefix(entry, "~/") {
		return fault.New(fault.PolicyInvalid, "~ is not expanded here; write the whole path")
	}
	if err := checkText(entry); err != nil {
		return fault.Caused(fault.PolicyInvalid, err, "it contains a character that no path may have")
	}
	return nil
}

// compile turns the part of an entry that follows its literal base into a doublestar pattern. The library gives meaning
// to more characters than entries have, so all but the stars are escaped.
func compile(rest string) (string, error) {
	below := strings.HasSuffix(rest, "/")
	var out []string
	doubles := 0
	for seg := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
		switch {
		case seg == "" || seg == ".":
			continue
		case seg == "..":
			return "", fault.New(fault.PolicyInvalid, ".. cannot follow a wildcard")
		case seg == "**":
			doubles++
		case strings.Contains(seg, "**"):
			return "", fault.New(fault.PolicyInvalid, "** must stand alone between slashes; use * within a name")
		}
		out = append(out, escape(seg))
	}
	if doubles > maxDoubleStars {
		return "", fault.New(fault.PolicyInvalid, "it has %d times **, at most %d are allowed", doubles, maxDoubleStars)
	}
	if last := out[len(out)-1]; last != "**" && (below || !strings.Contains(last, "*")) {
		out = append(out, "**")
	}
	pattern := norm.NFC.String(strings.Join(out, "/"))
	if !doublestar.ValidatePattern(pattern) {
		return "", fault.New(fault.PolicyInvalid, "it cannot be read as a pattern of names, * and **")
	}
	return pattern, nil
}

func escape(seg string) string {
	var b strings.Builder
	for _, r := range seg {
		if strings.ContainsRune(`?[]{}\^!,`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// matches reports whether the clean relative name rel is open below r. Unicode forms of one name count as one.
func (r *root) matches(rel string) bool {
	if r.pattern == "" {
		return true
	}
	ok, err := doublestar.Match(r.pattern, norm.NFC.String(path.Clean(rel)))
	return err == nil && ok
}
