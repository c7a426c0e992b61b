package openapitest

import (
	"errors"
	"fmt"
	"slices"
)

// newer is everything that the document of 2026-08-21 does not know yet and that openai-go v3.99.0 of 2026-11-12 sends
// or reads. A value is added to the property's list; a schema takes the property's place or adds it.
//
//nolint:gochecknoglobals // table
var newer = []struct {
	schemas  []string
	property string
	values   []any
	schema   map[string]any
}{
	{requests, "output_format", []any{"gif", "svg"}, nil},
	{requests, "quality", []any{"xhigh", "max"}, nil},
	{requests, "complexity", nil, oneOf("low", "medium", "high")},
	{requests, "frame_count", nil, map[string]any{"type": "integer", "minimum": 2, "maximum": 16}},
	{requests, "frame_duration_ms", nil, map[string]any{"type": "integer", "minimum": 1, "maximum": 655350}},
	{requests, "safety_identifier", nil, text},
	{requests, "svg", nil, object(map[string]any{
		"model":     text,
		"reasoning": object(map[string]any{"effort": oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max")}),
	})},
	{[]string{"CreateImageEditRequest"}, "markup", nil, text},

	{replies, "size", nil, map[string]any{"type": "string", "pattern": "^[1-9][0-9]*x[1-9][0-9]*$"}},
	{replies, "quality", []any{"xhigh", "max"}, nil},
	{replies, "safety_identifier", nil, map[string]any{"type": []any{"string", "null"}}},
	{[]string{"ImagesResponse"}, "output_format", []any{"gif", "svg"}, nil},
	{[]string{"ImagesResponse"}, "svg_usage", nil, object(map[string]any{
		"model": text, "input_tokens": count, "output_tokens": count, "reasoning_tokens": count, "total_tokens": count,
	})},
}

// The schemas that are closed: a field that they do not name is a failure.
//
//nolint:gochecknoglobals // tables
var (
	requests = []string{"CreateImageRequest", "CreateImageEditRequest"}
	events   = []string{
		"ImageGenPartialImageEvent", "ImageGenCompletedEvent", "ImageEditPartialImageEvent", "ImageEditCompletedEvent",
	}
	replies = append([]string{"ImagesResponse"}, events...)
	others  = []string{
		"Image", "ImageGenUsage", "ImagesUsage", "ImageGenInputUsageDetails", "ImageGenOutputTokensDetails",
		"ListModelsResponse", "Model",
	}

	text  = map[string]any{"type": "string"}
	count = map[string]any{"type": "integer", "minimum": 0}
)

func oneOf(words ...any) map[string]any { return map[string]any{"type": "string", "enum": words} }

func object(props map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": props, "additionalProperties": false}
}

// extend adds newer to a document and closes the schemas.
func extend(doc map[string]any) error {
	schemas, ok := at(doc, "components", "schemas")
	if !ok {
		return errors.New("document has no schemas")
	}
	for _, n := range newer {
		for _, name := range n.schemas {
			props, ok := at(schemas, name, "properties")
			if !ok {
				return fmt.Errorf("document has no schema %s", name)
			}
			if n.schema != nil {
				props[n.property] = n.schema
				continue
			}
			prop, ok := at(props, n.property)
			words, list := prop["enum"].([]any)
			if !ok || !list {
				return fmt.Errorf("document has no list of values for %s of %s", n.property, name)
			}
			prop["enum"] = append(slices.Clip(words), n.values...)
		}
	}
	for _, list := range [][]string{requests, replies, others} {
		for _, name := range list {
			schema, ok := at(schemas, name)
			if !ok {
				return fmt.Errorf("document has no schema %s", name)
			}
			schema["additionalProperties"] = false
		}
	}
	return nil
}
