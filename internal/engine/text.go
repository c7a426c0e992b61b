package engine

import (
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/workspace"
)

// maxText bounds a prompt file, in bytes. No model takes a prompt that long.
const maxText = 1 << 20

// ReadText reads a small text file, such as a prompt, under the same policy as every other file.
func (e *Engine) ReadText(path string) (string, error) {
	f, err := e.cfg.Workspace.Open(path, maxText)
	if err != nil {
		return "", AsError(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return "", AsError(fault.Caused(fault.IOFailed, err, "%s cannot be read", f.Name))
	}
	if len(data) > maxText {
		return "", AsError(fault.New(fault.ItemTooLarge, "%s holds more than %d bytes", f.Name, maxText))
	}
	return string(data), nil
}

// Verdict is the answer of the policy to one path or URL.
type Verdict struct {
	Target string `json:"target"`
	Access string `json:"access"` // "read" or "write"
	Allow  bool   `json:"allow"`
	Path   string `json:"path,omitempty"`
	Rule   string `json:"rule"` // the rule that decided
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// TestPath asks the policy about a path; nothing is opened for writing and nothing is made.
func (e *Engine) TestPath(path string, write bool) Verdict {
	access, word := workspace.Read, "read"
	if write {
		access, word = workspace.Write, "write"
	}
	if hasURLScheme(path) {
		return Verdict{
			Target: path, Access: word, Rule: "URLs are not open yet", Code: string(fault.UnsupportedOperation),
			Reason: "URL policies come with fetching; only paths can be tested",
		}
	}
	d := e.cfg.Workspace.Check(path, access)
	v := Verdict{Target: path, Access: word, Allow: d.Allow, Path: d.Path, Rule: d.Rule}
	if d.Err != nil {
		err := AsError(d.Err)
		v.Code, v.Reason = string(err.Code), err.Message
	}
	return v
}
