package config

import (
	"fmt"
	"slices"
)

// secretKeys maps the keys of a secrets file to settings, as tool-contract §3.4 says; mcp.token is ours. The switch
// google.vertex_ai.enabled and the key azure.api_key decide about the rest of their groups.
func secretKeys() map[string]string {
	return map[string]string{
		"openai.api_key":              "openai.api_key",
		"anthropic.api_key":           "anthropic.api_key",
		"google.api_key":              "google.api_key",
		"google.vertex_ai.enabled":    "google.use_vertexai",
		"google.vertex_ai.project_id": "google.project",
		"google.vertex_ai.location":   "google.location",
		"azure.api_key":               "azure.api_key",
		"azure.base_url":              "azure.endpoint",
		"azure.api_version":           "azure.api_version",
		"azure.azure_deployment":      "azure.deployment",
		"mcp.token":                   "mcp.token",
	}
}

// secretsContent is what a secrets file sets, by its own keys, and remarks about what it holds in vain.
type secretsContent struct {
	values map[string]raw
	notes  []string
}

// parseSecrets reads a secrets file. Numbers stay text, so that an all-digit key is a key; placeholders count as unset.
// Faults name the line and never a value.
func parseSecrets(data []byte) (secretsContent, []error) {
	var keys []string
	for key := range secretKeys() {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	entries, faults := newSchema(keys, func(key string) string {
		if near := nearest(key, keys); near != "" {
			return fmt.Sprintf("; did you mean %q?", near)
		}
		return "; a secrets file holds openai, google, azure, anthropic and mcp"
	}).flatten(data)
	out := secretsContent{values: map[string]raw{}}
	for _, e := range entries {
		if e.value.list {
			faults = append(faults, fmt.Errorf("line %d: %s is a list; give one value", e.line, e.key))
			continue
		}
		if blank(e.value.text) {
			continue
		}
		if _, err := parseBool(e.value.text); err != nil && e.key == "google.vertex_ai.enabled" {
			faults = append(faults, fmt.Errorf("line %d: %s %w", e.line, e.key, err))
			continue
		}
		out.values[e.key] = e.value
	}
	out.drop()
	return out, faults
}

// drop takes out what the contract ignores: Vertex settings that are not enabled, and Azure settings without a key.
func (c *secretsContent) drop() {
	enabled, _ := parseBool(c.values["google.vertex_ai.enabled"].text)
	if !enabled {
		c.dropAll("google.vertex_ai.enabled is not true",
			"google.vertex_ai.project_id", "google.vertex_ai.location")
		delete(c.values, "google.vertex_ai.enabled") // false sets nothing
	}
	if _, ok := c.values["azure.api_key"]; !ok {
		c.dropAll("azure.api_key is not set", "azure.base_url", "azure.api_version", "azure.azure_deployment")
	}
}

func (c *secretsContent) dropAll(why string, keys ...string) {
	for _, key := range keys {
		if _, ok := c.values[key]; ok {
			delete(c.values, key)
			c.notes = append(c.notes, fmt.Sprintf("%s is ignored, for %s", key, why))
		}
	}
}

// layer names the settings that the file sets.
func (c *secretsContent) layer(from origin) layer {
	out := layer{}
	for key, setting := range secretKeys() {
		if v, ok := c.values[key]; ok {
			out[setting] = found{v, from}
		}
	}
	return out
}
