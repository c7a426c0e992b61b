package config

import (
	"bytes"
	"fmt"

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
