package workspace

import (
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mediagen/internal/fault"
)

// The lengths that every platform takes.
const (
	maxSegment = 255
	maxPath    = 4096
)

// quote shows a path that a caller gave, without control characters and not longer than a line.
func quote(p string) string {
	const most = 160
	if len(p) > most {
		p = cutRunes(p, most) + "..."
	}
	return strconv.Quote(p)
}

// cutRunes shortens s to at most n bytes without splitting a rune.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// checkText holds for every path, also under the person's own authority.
func checkText(p string) error {
	if p == "" {
		return fault.New(fault.PathInvalid, "the path is empty")
	}
	if strings.ContainsRune(p, 0) {
		return fault.New(fault.PathInvalid, "%s contains a NUL character", quote(p))
	}
	if strings.ContainsFunc(p, unicode.IsControl) {
		return fault.New(fault.PathDenied, "%s contains a control character", quote(p))
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		return fault.New(fault.PathDenied, "%s: ~ is not expanded here; write the whole path", quote(p))
	}
	return nil
}

// checkNames holds under roots, the same on every platform, so that what one machine accepts all machines accept.
func checkNames(p string) error {
	if err := checkText(p); err != nil {
		return err
	}
	if !utf8.ValidString(p) {
		return fault.New(fault.PathInvalid, "%s is not valid UTF-8", quote(p))
	}
	if len(p) > maxPath {
		return fault.New(fault.PathInvalid, "the path has %d bytes, at most %d are allowed", len(p), maxPath)
	}
	vol := filepath.VolumeName(p)
	rest := filepath.ToSlash(p[len(vol):]) // changes nothing but on Windows, where the system's own separator is fine
	switch {
	case strings.HasPrefix(filepath.ToSlash(p), "//"):
		return fault.New(fault.PathDenied, "%s names a network share or device; give a local path", quote(p))
	case vol != "" && !strings.HasPrefix(rest, "/"):
		return fault.New(fault.PathDenied, "%s depends on a drive's current directory; give an absolute path", quote(p))
	case strings.HasPrefix(rest, "~"):
		return fault.New(fault.PathDenied, "%s: ~ is not expanded here; write the whole path", quote(p))
	}
	for seg := range strings.SplitSeq(rest, "/") {
		if err := checkSegment(seg); err != nil {
			return err
		}
	}
	return nil
}

// checkSegment checks one name of a path; the names "", "." and ".." are left to cleaning.
func checkSegment(seg string) error {
	switch {
	case seg == "" || seg == "." || seg == "..":
		return nil
	case len(seg) > maxSegment:
		return fault.New(fault.PathInvalid, "a name in the path has %d bytes, at most %d are allowed", len(seg), maxSegment)
	case strings.ContainsAny(seg, `\:`):
		return fault.New(fault.PathDenied, `%s: backslash and colon are refused in names; use / as separator`, quote(seg))
	case strings.ContainsFunc(seg, invisible):
		return fault.New(fault.PathDenied, "%s contains an invisible formatting character", quote(seg))
	case seg[len(seg)-1] == '.' || seg[len(seg)-1] == ' ':
		return fault.New(fault.PathDenied, "%s ends in a dot or a space, which Windows drops", quote(seg))
	case reserved(seg):
		return fault.New(fault.PathDenied, "%s is a device name on Windows; use another name", quote(seg))
	case shortAlias(seg):
		return fault.New(fault.PathDenied, "%s looks like a short alias of another name; use the long name", quote(seg))
	}
	return nil
}

// invisible characters can make one name look like another: bidirectional overrides, zero widths, line separators.
func invisible(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }

// reserved reports the names that Windows gives to devices, with or without an extension, superscript digits included.
func reserved(seg string) bool {
	stem, _, _ := strings.Cut(seg, ".")
	stem = strings.ToLower(strings.TrimRight(stem, " "))
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	digit, ok := strings.CutPrefix(stem, "com")
	if !ok {
		digit, ok = strings.CutPrefix(stem, "lpt")
	}
	return ok && utf8.RuneCountInString(digit) == 1 && strings.Contains("123456789¹²³", digit)
}

// shortAlias reports 8.3 names such as MEDIA~1.PNG.
func shortAlias(seg string) bool {
	stem, ext, _ := strings.Cut(seg, ".")
	tilde := strings.LastIndexByte(stem, '~')
	if tilde < 1 || len(stem) > 8 || len(ext) > 3 || tilde == len(stem)-1 {
		return false
	}
	return strings.Trim(stem[tilde+1:], "0123456789") == ""
}

// checkHidden refuses what a media tool has no business with below a root: hidden files and directories (.env, .git,
// .ssh) and the usual names of keys and credentials. Names that begin with two dots are ordinary names.
func checkHidden(rel string) error {
	for seg := range strings.SplitSeq(rel, "/") {
		if len(seg) > 1 && seg[0] == '.' && seg[1] != '.' {
			return fault.New(fault.PathDenied, "%s is hidden; files and directories with a leading dot are refused",
				quote(seg))
		}
	}
	if base := path.Base(rel); secretName(base) {
		return fault.New(fault.PathDenied, "%s is a usual name of a key or credential file, which is refused", quote(base))
	}
	return nil
}

func secretName(base string) bool {
	base = strings.ToLower(base)
	switch base {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "authorized_keys", "credentials", "credentials.json",
		"secrets.yaml", "secrets.yml", "secrets.json", "secrets.env", "service-account.json":
		return true
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".env":
		return true
	}
	return false
}

// isFileURL reports a file: URL in any case of the scheme.
func isFileURL(s string) bool { return len(s) > 5 && strings.EqualFold(s[:5], "file:") }

// fromFileURL returns the path of a file: URL (RFC 8089). Escapes are decoded once; what has two readings is refused.
func fromFileURL(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") {
		return "", fault.New(fault.PathInvalid, "the file URL cannot be read; it looks like file:///dir/name")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#") {
		return "", fault.New(fault.PathInvalid, "a file URL has no user, query or fragment; escape ? as %%3F and # as %%23")
	}
	if u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return "", fault.New(fault.PathDenied, "the file URL names another host; only local files can be read")
	}
	escaped := strings.ToLower(u.EscapedPath())
	for _, twice := range []string{"%2f", "%5c", "%00"} {
		if strings.Contains(escaped, twice) {
			return "", fault.New(fault.PathInvalid, "the file URL escapes a separator or a NUL, which has two readings")
		}
	}
	if strings.HasPrefix(u.Path, "//") {
		return "", fault.New(fault.PathDenied, "the file URL names a network share; only local files can be read")
	}
	p := u.Path
	if drive := p[1:]; filepath.VolumeName(drive) != "" { // file:///C:/x on Windows
		p = drive
	}
	return filepath.FromSlash(p), nil
}
