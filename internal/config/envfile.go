package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/joho/godotenv"
)

// parseEnvFile reads NAME=value lines. Nothing gets into the process environment. The parser's own errors quote the
// line, which may be a key, so that only its number is passed on.
func parseEnvFile(data []byte) (map[string]string, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	vars, err := godotenv.Parse(bytes.NewReader(data))
	if err == nil {
		if _, nameless := vars[""]; !nameless {
			return vars, nil
		}
	}
	const what = "not a NAME=value line; put quotes around a value with quotes or #"
	if line := badLine(data); line > 0 {
		return nil, fmt.Errorf("line %d: %s", line, what)
	}
	return nil, fmt.Errorf("a line is %s", what)
}

// lostReferences names the variables whose value lost a part: the parser replaces $NAME and ${NAME} by the variable of
// the same file, and by nothing when there is none, which silently shortens a key that has a dollar sign in it.
func lostReferences(data []byte, vars map[string]string) []string {
	const stand = "\ue000" // a private character that stands for a dollar sign, so that nothing is replaced
	literal, err := parseEnvFile(bytes.ReplaceAll(data, []byte("$"), []byte(stand)))
	if err != nil {
		return nil
	}
	reference := regexp.MustCompile(stand + `\{?([A-Z0-9_]+)`)
	var lost []string
	for name, text := range literal {
		if blank(strings.ReplaceAll(text, stand, "$")) || strings.ReplaceAll(text, stand, "$") == vars[name] {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			if _, ok := vars[m[1]]; !ok {
				lost = append(lost, name)
				break
			}
		}
	}
	return lost
}

// maxBadLine bounds the search for the line of an error, which reads the file once a line.
const maxBadLine = 2000

// badLine finds the line after the longest part of the file that can be read. It goes backwards, for a value in quotes
// may span lines and looks wrong until its last one. It gives up with 0 on a file with too many lines.
func badLine(data []byte) int {
	end, count := len(data), bytes.Count(data, []byte("\n"))
	if count > maxBadLine {
		return 0
	}
	for n := count; n > 0; n-- {
		end = bytes.LastIndexByte(data[:end], '\n')
		vars, err := godotenv.UnmarshalBytes(data[:end])
		if _, nameless := vars[""]; err == nil && !nameless {
			return n + 1
		}
	}
	return 1
}
