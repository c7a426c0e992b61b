package redact

import "strings"

// The names whose values are credentials. A name matches when it is one of these or ends in one behind "-", "_" or ".":
// x-goog-api-key, OPENAI_API_KEY.
//
//nolint:gochecknoglobals // tables
var (
	headerNames = []string{"authorization", "api-key", "cookie", "security-token", "auth-token"}
	fieldNames  = []string{
		"api_key", "apikey", "access_token", "refresh_token", "id_token", "client_secret", "private_key",
		"secret_access_key", "password",
	}
	queryNames = []string{"key", "sig", "signature", "token"}
	// queryFamilies are the prefixes of signed URLs of Amazon and Google storage.
	queryFamilies = []string{"x-amz-", "x-goog-"}
)

// namedValue finds the value of a header, field or query key. The name ends before text[sep], the value begins at or
// behind text[after].
func namedValue(text string, sep, after int) span {
	name, before := nameBefore(text, sep)
	switch {
	case name == "":
		return span{}
	case endsIn(name, headerNames):
		return headerValue(text, skip(text, after, " \t"))
	case text[sep] == '=' && inQuery(before) && isQueryName(name):
		return span{after, queryEnd(text, after, false)}
	case endsIn(name, fieldNames):
		return fieldValue(text, sep, skip(text, after, " \t"))
	default:
		return span{}
	}
}

// escapedQuery finds the value of a query key inside a URL that is itself a query value: key%3Dvalue.
func escapedQuery(text string, i int) span {
	const equals = "%3d"
	if len(text)-i < len(equals) || !strings.EqualFold(text[i:i+len(equals)], equals) {
		return span{}
	}
	name, before := nameBefore(text, i)
	known := isQueryName(name) || endsIn(name, fieldNames)
	if !known || !inQuery(before) {
		return span{}
	}
	from := i + len(equals)
	return span{from, queryEnd(text, from, true)}
}

// nameBefore returns the name that ends at text[i], quotes skipped, and the character before it: '&' also for its
// escapes.
func nameBefore(text string, i int) (name string, before byte) {
	floor := max(0, i-maxName)
	end := i
	for end > floor && strings.IndexByte(`"'\`, text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > floor && inName[text[start-1]] {
		start--
	}
	name = text[start:end]
	if start > 0 {
		before = text[start-1]
	}
	return unglue(name, before)
}

// unglue takes the end of an escape off a name: \u0026key, %26key and %3Fkey are query keys, \nCookie begins a line.
func unglue(name string, before byte) (string, byte) {
	if before == '\\' && name != "" && strings.IndexByte("nrt", name[0]) >= 0 {
		return name[1:], '\n'
	}
	for _, escape := range []struct {
		lead   byte
		digits string
	}{{'\\', "u0026"}, {'%', "26"}, {'%', "3f"}} {
		n := len(escape.digits)
		if before == escape.lead && len(name) >= n && strings.EqualFold(name[:n], escape.digits) {
			return name[n:], '&'
		}
	}
	return name, before
}

func inQuery(before byte) bool { return before != 0 && strings.IndexByte("?&;#", before) >= 0 }

func isQueryName(name string) bool {
	for _, family := range queryFamilies {
		if len(name) > len(family) && strings.EqualFold(name[:len(family)], family) {
			return true
		}
	}
	for _, known := range queryNames {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// endsIn reports whether name is one of the words or ends in one as a part of its own.
func endsIn(name string, words []string) bool {
	for _, w := range words {
		cut := len(name) - len(w)
		// The last letter rules most names out at once; 0x20 makes it lower case.
		if cut < 0 || name[len(name)-1]|0x20 != w[len(w)-1] || !strings.EqualFold(name[cut:], w) {
			continue
		}
		if cut == 0 || name[cut-1] == '-' || name[cut-1] == '_' {
			return true
		}
	}
	return false
}

// queryEnd returns the end of a query value, which an ampersand ends, or its escape when the URL is itself a value.
func queryEnd(text string, from int, nested bool) int {
	for i := from; i < len(text); i++ {
		c := text[i]
		if c == '&' || c == '#' || endsWord(c) || (nested && strings.HasPrefix(text[i:], "%26")) {
			return i
		}
	}
	return len(text)
}

// fieldValue finds the value of a credential field. Behind a colon only a quoted value counts: "api_key: must be set"
// is a message.
func fieldValue(text string, sep, from int) span {
	if open := quoteAt(text, from); open > 0 {
		return quoted(text, from, open, false)
	}
	if text[sep] == ':' {
		return span{}
	}
	return span{from, queryEnd(text, from, false)}
}

// headerValue finds the value of a header in the forms in which Go, JSON and wire dumps write it.
func headerValue(text string, from int) span {
	from += prefixLength(text[from:], "[]string{")
	if strings.HasPrefix(text[from:], mark) {
		return span{from, lineEnd(text, from, false)}
	}
	list := prefixLength(text[from:], "[")
	from += list
	switch open := quoteAt(text, from); {
	case open > 0:
		return quoted(text, from, open, list > 0)
	case list > 0 && strings.HasPrefix(text[from:], mark):
		return span{from, from + len(mark)}
	default:
		return span{from, lineEnd(text, from, list > 0)}
	}
}

func prefixLength(text, prefix string) int {
	if strings.HasPrefix(text, prefix) {
		return len(prefix)
	}
	return 0
}

// quoteAt returns the length of the opening quote at text[i]: 1, 2 for an escaped one, 0 for none.
func quoteAt(text string, i int) int {
	switch {
	case i < len(text) && (text[i] == '"' || text[i] == '\''):
		return 1
	case strings.HasPrefix(text[i:], `\"`):
		return 2
	default:
		return 0
	}
}

// quoted returns what stands between the opening quote at text[from] and its closing one, or the end of text. In a list
// the values "a","b" go as one.
func quoted(text string, from, open int, list bool) span {
	quote := text[from : from+open]
	separator := quote + "," + quote
	from += open
	for i := from; i < len(text); i++ {
		switch {
		case list && strings.HasPrefix(text[i:], separator):
			i += len(separator) - 1
		case strings.HasPrefix(text[i:], quote):
			return span{from, i}
		case text[i] == '\\' && open == 1:
			i++
		}
	}
	return span{from, len(text)}
}

// lineEnd returns the end of an unquoted header value: the end of the line, written out or escaped, the quote that
// closes a string around it, or the bracket that closes a list, as fmt prints a header map.
func lineEnd(text string, from int, list bool) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '\n', '\r':
			return i
		case ']':
			if list {
				return i
			}
		case '\\':
			if i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 'r') {
				return i
			}
			i++
		case '"':
			if i+1 == len(text) || strings.IndexByte(",}]:) \t\r\n", text[i+1]) >= 0 {
				return i
			}
		}
	}
	return len(text)
}
