package openai

import (
	"bytes"
	"encoding/json"
)

// replyBody is the part of a reply that is not a picture. Streamed events share its fields.
type replyBody struct {
	Type         string          `json:"type"`
	Object       string          `json:"object"`
	Created      number          `json:"created"`
	CreatedAt    number          `json:"created_at"`
	Background   string          `json:"background"`
	OutputFormat string          `json:"output_format"`
	Quality      string          `json:"quality"`
	Size         string          `json:"size"`
	URL          string          `json:"url"` // of an event
	Data         []item          `json:"data"`
	Usage        *usage          `json:"usage"`
	Error        json.RawMessage `json:"error"`

	refusal *said // what Error says; nil when it is absent or empty
	partial bool  // a partial picture of a stream
}

// item is a picture of the data list without its base64.
type item struct {
	URL string `json:"url"`
}

type usage struct {
	InputTokens        number  `json:"input_tokens"`
	OutputTokens       number  `json:"output_tokens"`
	TotalTokens        number  `json:"total_tokens"`
	InputTokensDetails details `json:"input_tokens_details"`
	OutputTokenDetails details `json:"output_tokens_details"`
}

type details struct {
	TextTokens  number `json:"text_tokens"`
	ImageTokens number `json:"image_tokens"`
	Cached      struct {
		TextTokens  number `json:"text_tokens"`
		ImageTokens number `json:"image_tokens"`
	} `json:"cached_tokens_details"`
}

// number is a count that compatible servers send as 1, 1.0, "1" or null.
type number int64

// UnmarshalJSON never fails: a count that cannot be read is 0, for it must not cost a picture.
func (n *number) UnmarshalJSON(raw []byte) error {
	var f float64
	if json.Unmarshal(bytes.Trim(raw, `"`), &f) == nil && f > 0 && f < 1<<53 {
		*n = number(f)
	}
	return nil
}

// decodeBody reads the skeleton of a reply. Fields of another type than expected count as absent.
func decodeBody(skeleton []byte, event string) (replyBody, error) {
	var b replyBody
	if lenient(skeleton, &b) != nil {
		return b, errSyntax
	}
	if s := saidIn(b.Error); s != (said{}) {
		b.refusal = &s
		return b, nil
	}
	if b.Type == "error" || b.Object == "error" || event == "error" { // the error's fields are the reply's own
		s := saidIn(skeleton)
		b.refusal = &s
	}
	return b, nil
}

// items are the pictures that the reply lists.
func (b replyBody) items() []item {
	if len(b.Data) == 0 && b.URL != "" {
		return []item{{URL: b.URL}}
	}
	return b.Data
}
