// Package openapitest checks, in tests, that what passes between a client and the emulator is what OpenAI's own OpenAPI
// document describes: every request that is answered with success, and every reply.
//
// It does not check what a document cannot say: sizes, the content of pictures, which parameters go together. Replies
// that the emulator spoiled on request (they carry the header X-Emulator-Fault) are let through unseen.
package openapitest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// faultHeader marks replies that are wrong on purpose.
const faultHeader = "X-Emulator-Fault"

// Handler wraps next, an emulator, and fails t when a request or a reply does not fit doc, an OpenAPI 3.1 document.
// Fields and values that are newer than the document are listed in newer.go; anything else that it does not know is a
// failure.
func Handler(t testing.TB, doc []byte, next http.Handler) http.Handler {
	t.Helper()
	v, err := newValidator(doc)
	if err != nil {
		t.Fatalf("openapitest: %v", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := &bytes.Buffer{}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, sent), r.Body}
		rec := &recorder{ResponseWriter: w}
		next.ServeHTTP(rec, r)
		if err := v.check(r, sent.Bytes(), rec); err != nil {
			t.Errorf("openapitest: %s %s: %v", r.Method, r.URL.Path, err)
		}
	})
}

// recorder keeps a copy of the reply.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader notes the status.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Write copies the bytes.
func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach Flush and Hijack.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// validator holds the compiled document.
type validator struct {
	mu       sync.Mutex // a compiler goes on changing the schemas that it gave out
	doc      map[string]any
	compiler *jsonschema.Compiler
	errors   *jsonschema.Schema
}

// errorSchema is the error object: the document without prose leaves it out.
const errorSchema = `{"type":"object","additionalProperties":false,"required":["error"],"properties":{"error":{
	"type":"object","required":["message","type","param","code"],"additionalProperties":false,"properties":{
	"message":{"type":"string","minLength":1},"type":{"type":"string"},"param":{"type":["string","null"]},
	"code":{"type":["string","null"]},"moderation_details":{"type":"object"}}}}}`

func newValidator(raw []byte) (*validator, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	root, ok := doc.(map[string]any)
	if !ok {
		return nil, errors.New("document must be a JSON object")
	}
	if err := extend(root); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", root); err != nil {
		return nil, fmt.Errorf("load document: %w", err)
	}
	shape, err := jsonschema.UnmarshalJSON(strings.NewReader(errorSchema))
	if err != nil {
		return nil, fmt.Errorf("read error schema: %w", err)
	}
	if err := c.AddResource("error.json", shape); err != nil {
		return nil, fmt.Errorf("load error schema: %w", err)
	}
	compiled, err := c.Compile("error.json")
	if err != nil {
		return nil, fmt.Errorf("compile error schema: %w", err)
	}
	return &validator{doc: root, compiler: c, errors: compiled}, nil
}

// check validates one exchange that is over.
func (v *validator) check(r *http.Request, sent []byte, rec *recorder) error {
	if rec.Header().Get(faultHeader) != "" || strings.HasPrefix(r.URL.Path, "/emulator/") {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	kind, _, err := mime.ParseMediaType(rec.Header().Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("reply has no usable Content-Type: %w", err)
	}
	if rec.status >= http.StatusBadRequest {
		return validateJSON(v.errors, rec.body.Bytes())
	}
	op, err := v.operation(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		if err := v.checkRequest(op, r.Header.Get("Content-Type"), sent); err != nil {
			return fmt.Errorf("request: %w", err)
		}
	}
	if err := v.checkReply(op, rec.status, kind, rec.body.Bytes()); err != nil {
		return fmt.Errorf("reply: %w", err)
	}
	return nil
}

// bases are what stands before the document's paths.
var bases = regexp.MustCompile(`^(/v1|/openai/v1|/openai/deployments/[^/]+)?(/.*)$`)

// operation finds the document's operation for a request.
func (v *validator) operation(r *http.Request) (map[string]any, error) {
	m := bases.FindStringSubmatch(r.URL.Path)
	if m == nil {
		return nil, errors.New("path is not one of the API")
	}
	item, ok := at(v.doc, "paths", m[2])
	if !ok {
		return nil, errors.New("the document has no such path, and the emulator answers with success")
	}
	op, ok := at(item, strings.ToLower(r.Method))
	if !ok {
		return nil, errors.New("the document has no such method, and the emulator answers with success")
	}
	return op, nil
}

func (v *validator) checkRequest(op map[string]any, contentType string, body []byte) error {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return fmt.Errorf("content type: %w", err)
	}
	ref, err := refOf(op, "requestBody", "content", kind, "schema")
	if err != nil {
		return err
	}
	schema, err := v.compiler.Compile("openapi.json" + ref)
	if err != nil {
		return err
	}
	if kind == "application/json" {
		return validateJSON(schema, body)
	}
	object, err := v.formObject(ref, params["boundary"], body)
	if err != nil {
		return err
	}
	return schema.Validate(object)
}

func (v *validator) checkReply(op map[string]any, status int, kind string, body []byte) error {
	ref, err := refOf(op, "responses", strconv.Itoa(status), "content", kind, "schema")
	if err != nil {
		return err
	}
	schema, err := v.compiler.Compile("openapi.json" + ref)
	if err != nil {
		return err
	}
	if kind != "text/event-stream" {
		return validateJSON(schema, body)
	}
	return validateEvents(schema, body)
}

func validateJSON(schema *jsonschema.Schema, body []byte) error {
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return schema.Validate(object)
}

// validateEvents checks each event's data, and that its name is the data's type.
func validateEvents(schema *jsonschema.Schema, body []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 64<<20)
	var name string
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "":
			name = ""
		case strings.HasPrefix(line, "event: "):
			name = strings.TrimPrefix(line, "event: ")
		case strings.HasPrefix(line, "data: "):
			data := []byte(strings.TrimPrefix(line, "data: "))
			var head struct {
				Type string `json:"type"`
			}
			if err := json.Unmarshal(data, &head); err != nil {
				return fmt.Errorf("event is not JSON: %w", err)
			}
			if head.Type != name {
				return fmt.Errorf("event is named %q and of type %q", name, head.Type)
			}
			if err := validateJSON(schema, data); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unexpected line %.40q in the stream", line)
		}
	}
	return lines.Err()
}

// formObject maps a multipart body to the object that a schema describes: numbers and booleans by the schema's type,
// name[] and repeated names to lists, name[key] to objects, files to a string that stands for their bytes.
func (v *validator) formObject(ref, boundary string, body []byte) (map[string]any, error) {
	props, ok := at(v.doc, append(strings.Split(strings.TrimPrefix(ref, "#/"), "/"), "properties")...)
	if !ok {
		return nil, fmt.Errorf("schema %s has no properties", ref)
	}
	object := map[string]any{}
	mr := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := mr.NextPart()
		if errors.Is(err, io.EOF) {
			return object, nil
		}
		if err != nil {
			return nil, fmt.Errorf("multipart: %w", err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, fmt.Errorf("multipart: %w", err)
		}
		var value any = "(file)"
		if part.FileName() == "" {
			value = v.typed(props, part.FormName(), string(text))
		}
		place(object, part.FormName(), value)
	}
}

// typed reads a form value as the type that the schema gives its name.
func (v *validator) typed(props map[string]any, name, text string) any {
	prop, _ := at(props, name)
	switch types := v.typesOf(prop); {
	case slices.Contains(types, "integer"):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case slices.Contains(types, "boolean"):
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	}
	return text
}

// typesOf collects the types that a property allows, through references and alternatives.
func (v *validator) typesOf(prop map[string]any) []string {
	var types []string
	if ref, ok := prop["$ref"].(string); ok {
		if target, ok := at(v.doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...); ok {
			types = append(types, v.typesOf(target)...)
		}
	}
	if name, ok := prop["type"].(string); ok {
		types = append(types, name)
	}
	alternatives, _ := prop["anyOf"].([]any)
	for _, alternative := range alternatives {
		if inner, ok := alternative.(map[string]any); ok {
			types = append(types, v.typesOf(inner)...)
		}
	}
	return types
}

// place sets a form value in an object by its name.
func place(object map[string]any, name string, value any) {
	head, rest, nested := strings.Cut(name, "[")
	key, tail, _ := strings.Cut(rest, "]")
	switch {
	case nested && key == "":
		list, _ := object[head].([]any)
		object[head] = append(list, value)
	case nested:
		inner, ok := object[head].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[head] = inner
		}
		place(inner, key+tail, value)
	default:
		object[name] = value
	}
}

// at walks down objects by key.
func at(object map[string]any, keys ...string) (map[string]any, bool) {
	for _, key := range keys {
		next, ok := object[key].(map[string]any)
		if !ok {
			return nil, false
		}
		object = next
	}
	return object, true
}

// refOf returns the reference that a schema consists of.
func refOf(object map[string]any, keys ...string) (string, error) {
	schema, ok := at(object, keys...)
	if !ok {
		return "", fmt.Errorf("the document has no %s", strings.Join(keys[:len(keys)-1], " "))
	}
	ref, ok := schema["$ref"].(string)
	if !ok {
		return "", fmt.Errorf("the document's %s is not a reference", strings.Join(keys, " "))
	}
	return ref, nil
}
