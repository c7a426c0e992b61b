package redact

import "net/url"

// unreadableURL stands for a URL that does not parse, which may hold anything.
const unreadableURL = "[unreadable url]"

// URL returns scheme, host, port and path of raw, or only the path of a relative one: no user, query or fragment, which
// carry keys and signatures. It returns "[unreadable url]" for what does not parse or has no path to speak of, such as
// a data URL. Long base64 in the path is cut.
func URL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return unreadableURL
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	text := plain.String()
	path := len(text) - len(plain.EscapedPath())
	return text[:path] + Base64(text[path:], 0)
}
