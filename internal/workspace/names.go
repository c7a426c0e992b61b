package workspace

import (
	"cmp"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// suffixRoom is kept free at the end of a made name for "_12", ".partial-12" and another extension than planned.
const suffixRoom = 40

// defaultName is the reference server's, whose scripts look for it.
const defaultName = "output_{unix}_media-gen__{tool}_{id}"

// namer makes the names of one call's outputs, slash-separated and relative to its directory.
type namer struct {
	file  string            // stem of a file that the person named, else empty
	parts []part            // stem of a template
	ext   string            // planned extension, without dot
	spelt string            // extension as the person spelt it; stays when it means the same type
	vars  map[string]string // safe values of all placeholders but index
	many  bool              // more than one output is planned
}

// part is a piece of a template: text, or the placeholder key.
type part struct{ text, key string }

// newNamer reads the naming part of s. file is the last name of a destination that is a file, else empty.
func newNamer(s OutputSpec, file string, now time.Time) (namer, error) {
	n := namer{ext: s.Ext, many: s.Count > 1}
	if n.ext == "" || strings.Trim(n.ext, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return n, fault.New(fault.InvalidArgument,
			"the output extension %s must be lower-case letters and digits without a dot", quote(n.ext))
	}
	if file != "" {
		if s.Template != "" {
			return n, fault.New(fault.InvalidArgument, "a name template needs a directory as the destination, not the file %s",
				quote(file))
		}
		n.file, n.spelt = splitExt(file, s.Ext)
		return n, nil
	}
	if s.Template == "" && (s.Tool == "" || s.ID == "") {
		return n, fault.New(fault.InvalidArgument, "the default output name needs a tool and an id")
	}
	n.vars = templateValues(s, now)
	return n, n.parse(cmp.Or(s.Template, defaultName))
}

// parse reads a template: an extension at its end, or {ext} there, follows the bytes.
func (n *namer) parse(template string) error {
	stem, ok := strings.CutSuffix(template, ".{ext}")
	if !ok {
		stem, n.spelt = splitExt(template, n.ext)
	}
	for rest, more := stem, true; more; {
		var text, key string
		text, rest, more = strings.Cut(rest, "{")
		if more {
			var closed bool
			if key, rest, closed = strings.Cut(rest, "}"); !closed {
				return fault.New(fault.InvalidArgument, "the name template %s has a { without a }", quote(template))
			}
			if _, known := n.vars[key]; !known && key != keyIndex {
				return fault.New(fault.InvalidArgument, "the name template has the unknown placeholder %s; known are %s",
					quote("{"+key+"}"), n.known())
			}
		}
		n.parts = append(n.parts, part{text, key})
	}
	return n.check()
}

// The placeholders that the namer itself treats apart.
const (
	keyIndex = "index"
	keySlug  = "slug"
)

func (n *namer) known() string {
	keys := append(slices.Collect(maps.Keys(n.vars)), keyIndex)
	slices.Sort(keys)
	return "{" + strings.Join(slices.Compact(keys), "} {") + "}"
}

// uses reports whether the template has a placeholder.
func (n *namer) uses(key string) bool {
	return slices.ContainsFunc(n.parts, func(p part) bool { return p.key == key })
}

// templateValues collects what the placeholders stand for. Values are made safe; the template itself is the person's.
func templateValues(s OutputSpec, now time.Time) map[string]string {
	vars := map[string]string{}
	for k, v := range s.Vars {
		vars[k] = safeValue(v)
	}
	maps.Copy(vars, map[string]string{
		"ext": s.Ext, "tool": sanitize(s.Tool), "id": sanitize(s.ID), "unix": strconv.FormatInt(now.Unix(), 10),
		"date": now.Format("2006-01-02"), "time": now.Format("150405"),
	})
	return vars
}

// check says what is wrong with the names that the template makes.
func (n *namer) check() error {
	name := n.render(1)
	if path.Clean(name) != name || name == "." || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fault.New(fault.InvalidArgument, "the name template gives %s; it must give a relative path without . and ..",
			quote(name))
	}
	if overflow(name) > 0 {
		return fault.New(fault.InvalidArgument, "the name template gives a name of more than %d bytes; shorten it",
			maxSegment-suffixRoom)
	}
	return nil
}

// name is the name of output index (from 0) with the extension of its bytes; ext "" means the planned one. partial is
// the number of a preview, or -1.
func (n *namer) name(index, partial int, ext string) string {
	ext = cmp.Or(ext, n.ext)
	if n.spelt != "" && sameType(n.spelt, ext) {
		ext = n.spelt
	}
	suffix := "." + ext
	if partial >= 0 {
		suffix = ".partial-" + strconv.Itoa(partial) + suffix
	}
	if (n.many || index > 0) && !n.uses(keyIndex) {
		suffix = "_" + strconv.Itoa(index+1) + suffix
	}
	if n.file == "" {
		return n.render(index+1) + suffix
	}
	if suffix == "."+n.spelt { // the person's own name, which Plan refuses if it is too long
		return n.file + suffix
	}
	return cutRunes(n.file, maxSegment-len(suffix)) + suffix
}

// render fills in the template and shortens the slug until every name in it fits.
func (n *namer) render(number int) string {
	slug := n.vars[keySlug]
	for {
		out := n.fill(strconv.Itoa(number), slug)
		over := overflow(out)
		if over <= 0 || slug == "" || !n.uses(keySlug) {
			return out
		}
		slug = strings.TrimRight(cutRunes(slug, max(0, len(slug)-over)), "-_.")
	}
}

func (n *namer) fill(index, slug string) string {
	var b strings.Builder
	for _, p := range n.parts {
		b.WriteString(p.text)
		switch p.key {
		case keyIndex:
			b.WriteString(index)
		case keySlug:
			b.WriteString(slug)
		default:
			b.WriteString(n.vars[p.key])
		}
	}
	return b.String()
}

// overflow is by how many bytes the longest name in p is too long; room for a suffix is kept at the end.
func overflow(p string) int {
	over := len(path.Base(p)) + suffixRoom - maxSegment
	for seg := range strings.SplitSeq(path.Dir(p), "/") {
		over = max(over, len(seg)-maxSegment)
	}
	return over
}

// splitExt splits an extension off name when it is one that media files have, or the planned one.
func splitExt(name, planned string) (stem, ext string) {
	ext = strings.TrimPrefix(path.Ext(name), ".")
	if ext == "" || len(ext)+1 == len(path.Base(name)) {
		return name, ""
	}
	if _, known := sniff.ByExt(ext); !known && !strings.EqualFold(ext, planned) {
		return name, ""
	}
	return name[:len(name)-len(ext)-1], ext
}

// sameType reports whether two extensions are spellings of one media type, as jpg and jpeg are.
func sameType(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	ta, okA := sniff.ByExt(a)
	tb, okB := sniff.ByExt(b)
	return okA && okB && ta.MIME == tb.MIME
}

// sanitize is the contract's rule for the parts of the default name: a run of other characters becomes one underscore.
func sanitize(s string) string {
	return replaceRuns(s, '_', func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	})
}

// safeValue keeps letters and digits of all scripts, and no character that has a meaning in paths.
func safeValue(s string) string {
	s = replaceRuns(s, '_', func(r rune) bool {
		return unicode.In(r, unicode.L, unicode.M, unicode.N) || strings.ContainsRune("._-+", r)
	})
	return strings.Trim(s, ".")
}

func replaceRuns(s string, with rune, keep func(rune) bool) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		if !keep(r) || r == unicode.ReplacementChar {
			gap = true
			continue
		}
		if gap {
			b.WriteRune(with)
		}
		gap = false
		b.WriteRune(r)
	}
	if gap {
		b.WriteRune(with)
	}
	return b.String()
}
