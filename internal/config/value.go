package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mediagen/internal/param"
	"mediagen/internal/redact"
)

// raw is the text of a setting before its kind is known: one scalar, or the entries of a YAML sequence.
type raw struct {
	text  string
	items []string
	list  bool
}

// scalar is a raw of one text.
func scalar(text string) raw { return raw{text: strings.TrimSpace(text)} }

// unset reports whether r counts as not given: blank, or a list without entries.
func (s Setting) unset(r raw) bool {
	if r.list || s.isList() {
		return len(r.entries()) == 0
	}
	return blank(r.text)
}

// entries returns the entries of a list. A scalar is split at commas and nowhere else.
func (r raw) entries() []string {
	items := r.items
	if !r.list {
		items = strings.Split(r.text, ",")
	}
	var out []string
	for _, item := range items {
		if item = strings.TrimSpace(item); !blank(item) {
			out = append(out, item)
		}
	}
	return out
}

// blank reports whether text is empty or a placeholder that nobody filled in: <your-...-here> of a sample file, or the
// ${...} and {{...}} that some MCP hosts pass on as they stand.
func blank(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" ||
		strings.HasPrefix(text, "<your-") && strings.HasSuffix(text, "-here>") ||
		strings.HasPrefix(text, "${") && strings.HasSuffix(text, "}") ||
		strings.HasPrefix(text, "{{") && strings.HasSuffix(text, "}}")
}

// parse turns r into the Go type of the setting's kind. Its errors continue a sentence that begins with the value, say
// what would be right, and never repeat the value.
func (s Setting) parse(r raw, src Source) (any, error) {
	if s.isList() {
		return s.parseList(r.entries(), src)
	}
	if r.list {
		return nil, errors.New("is a list; give one value")
	}
	switch s.Kind {
	case KindBool:
		return parseBool(r.text)
	case KindBytes, KindMoney:
		return s.parseAmount(r.text)
	case KindDuration:
		return parseDuration(r.text)
	case KindEnum:
		return s.word(r.text)
	case KindURL:
		return parseURL(r.text)
	case KindProxy:
		return parseProxy(r.text)
	case KindPath:
		return parsePath(r.text, src)
	case KindSecret:
		return parseSecret(r.text)
	}
	return plain(r.text)
}

func (s Setting) isList() bool {
	switch s.Kind {
	case KindList, KindEnums, KindPaths, KindURLs, KindHosts, KindCIDRs, KindPorts:
		return true
	}
	return false
}

func (s Setting) parseList(entries []string, src Source) (any, error) {
	if s.Kind == KindPorts {
		return each(entries, parsePort)
	}
	one := plain
	switch s.Kind {
	case KindEnums:
		one = s.word
	case KindPaths:
		one = func(text string) (string, error) { return plain(src.home(text)) }
	case KindURLs:
		one = parseURL
	case KindHosts:
		one = parseHost
	case KindCIDRs:
		one = parseCIDR
	}
	return each(entries, one)
}

// each parses every entry; the error names the position of the first bad one.
func each[T any](entries []string, parse func(string) (T, error)) ([]T, error) {
	out := make([]T, 0, len(entries))
	for i, entry := range entries {
		v, err := parse(entry)
		if err != nil {
			return nil, fmt.Errorf("has an entry %d that %w", i+1, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func plain(text string) (string, error) {
	if strings.IndexFunc(text, unicode.IsControl) >= 0 {
		return "", errors.New("contains a control character; remove it")
	}
	return text, nil
}

// ParseBool is the one reader of switches: 1 true yes on, 0 false no off, in any case.
func ParseBool(text string) (bool, error) { return parseBool(text) }

func parseBool(text string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, errors.New("is not a switch; write 1, true, yes or on, or 0, false, no or off")
}

func (s Setting) parseAmount(text string) (int64, error) {
	read, write := param.ParseSize, param.FormatSize
	if s.Kind == KindMoney {
		if strings.EqualFold(text, "none") {
			return 0, nil
		}
		read, write = ParseMoney, FormatMoney
	}
	n, err := read(text)
	if err != nil {
		return 0, fmt.Errorf("is %w", err)
	}
	if n < s.Min && s.Kind == KindMoney {
		return 0, errors.New("is no amount to cap at; give one above 0, or none for no cap")
	}
	if n < s.Min {
		return 0, fmt.Errorf("is too small; the smallest value is %s", write(s.Min))
	}
	return n, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errors.New("is not a duration; write it like 90s, 15m or 1h30m")
	}
	if d < 0 {
		return 0, errors.New("is negative; write a duration of 0 or more, like 90s")
	}
	return d, nil
}

func (s Setting) word(text string) (string, error) {
	lower := strings.ToLower(text)
	if !slices.Contains(s.Words, lower) {
		return "", fmt.Errorf("is not one of %s", strings.Join(s.Words, ", "))
	}
	return lower, nil
}

func parseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", errors.New("is not a URL; write it like https://api.example.com/v1")
	}
	if u.User != nil {
		return "", errors.New("carries a user or password; give the key in its own setting")
	}
	if u.Fragment != "" {
		return "", errors.New("carries a fragment; leave out # and what follows")
	}
	return text, nil
}

func parseProxy(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
		return "", errors.New("is not a proxy; write it like http://proxy.example.com:3128")
	}
	return text, nil
}

func parsePath(text string, src Source) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", errors.New("contains a NUL character; remove it")
	}
	return src.absolute(text), nil
}

// parseSecret refuses what cannot be sent in a header. It never says which character it was.
func parseSecret(text string) (redact.Secret, error) {
	bad := func(r rune) bool { return r <= ' ' || r >= unicode.MaxASCII }
	if strings.IndexFunc(text, bad) >= 0 {
		return redact.Secret{}, errors.New("contains white space or a character that no key has; give it as it was issued")
	}
	return redact.NewSecret(text), nil
}

// parseHost takes a host or host:port as fetch matches them; IPv6 literals need brackets only with a port.
func parseHost(text string) (string, error) {
	wrong := errors.New("is not a host; write it like media.example.com or 10.0.0.5:8080, without scheme and path")
	if strings.ContainsAny(text, "/\\?#@ \t%") {
		return "", wrong
	}
	if _, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return text, nil
	}
	host, port, found := strings.Cut(text, ":")
	if strings.HasPrefix(text, "[") {
		addr, rest, ok := strings.Cut(text[1:], "]:")
		if _, err := netip.ParseAddr(addr); err != nil || !ok {
			return "", wrong
		}
		host, port, found = addr, rest, true
	}
	if host == "" {
		return "", wrong
	}
	if !found {
		return strings.ToLower(text), nil
	}
	if _, err := parsePort(port); err != nil {
		return "", wrong
	}
	return strings.ToLower(text), nil
}

// parseCIDR fails closed: a range whose address has bits outside its mask may mean two things.
func parseCIDR(text string) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()).String(), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return "", errors.New("is not an address range; write it like 10.1.0.0/16 or fd00::/8")
	}
	if prefix != prefix.Masked() {
		return "", fmt.Errorf("has bits outside its mask; write %s", prefix.Masked())
	}
	return prefix.String(), nil
}

func parsePort(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, errors.New("is not a port; write a number from 1 to 65535")
	}
	return int(n), nil
}
