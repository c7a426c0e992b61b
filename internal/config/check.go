package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"mediagen/internal/redact"
)

// check looks at values that are good by themselves and wrong together.
func (l *loader) check(c *Config) {
	l.checkBaseURLs(c)
	l.checkParts(c)
	l.checkPlaces(c)
	l.googleKeys()
	l.guards()
	if n := len(c.MCP.URLPrefixes); n > len(c.Dirs) {
		l.warn("mcp.url_prefixes has %d entries and dirs has %d; they pair by position, the rest has no effect",
			n, len(c.Dirs))
	}
	c.secrets = secretsOf(c)
}

// checkBaseURLs keeps keys at home: an address that a file of the working directory names must not receive a key that
// came from somewhere else, for whoever wrote that file would then receive it.
func (l *loader) checkBaseURLs(c *Config) {
	if c.TrustBaseURL {
		return
	}
	azureByOpenAI := c.Azure.APIKey.IsSet() && c.Azure.Endpoint == ""
	for _, pair := range []struct {
		url, key string
		used     bool
	}{
		{"openai.base_url", "openai.api_key", c.OpenAI.APIKey.IsSet()},
		{"openai.base_url", "azure.api_key", azureByOpenAI},
		{"azure.endpoint", "azure.api_key", c.Azure.APIKey.IsSet()},
		{"google.gemini_base_url", "google.api_key", c.Google.APIKey.IsSet()},
	} {
		address, key := l.from(pair.url), l.from(pair.key)
		if pair.used && address.workDir && !key.workDir {
			l.strayKey(pair.url, address, pair.key, key.text)
		}
	}
	// Vertex AI's credentials never stand in our files; at most their path does.
	if address := l.from("google.vertex_base_url"); c.Google.UseVertexAI && address.workDir {
		l.strayKey("google.vertex_base_url", address, "the credentials", "application default credentials")
	}
}

func (l *loader) strayKey(url string, address origin, key, from string) {
	l.fault("%s comes from %s, a file in the working directory, and %s from %s: that address would receive the key; "+
		"set both in one place, or pass --trust-base-url", url, address.text, key, from)
}

// checkParts refuses values that would change the shape of a URL or header that they become a part of.
func (l *loader) checkParts(c *Config) {
	label := regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$`)
	if v := c.Google.Location; v != "" && !label.MatchString(v) {
		l.fault("google.location: %s (%s) is not a location; write it like us-central1 or global",
			quoted(v), l.from("google.location").text)
	}
	for _, part := range []struct{ key, value string }{
		{"google.project", c.Google.Project},
		{"azure.deployment", c.Azure.Deployment},
		{"azure.api_version", c.Azure.APIVersion},
	} {
		if strings.ContainsAny(part.value, "/\\?#&% ") {
			l.fault("%s: %s (%s) contains a character that has a meaning in URLs; write the plain name",
				part.key, quoted(part.value), l.from(part.key).text)
		}
	}
}

// checkPlaces asks for the directories that only a home directory gives by default.
func (l *loader) checkPlaces(c *Config) {
	for _, dir := range []struct{ key, path, variable string }{
		{"state_dir", c.StateDir, "MEDIA_GEN_STATE_DIR"},
		{"cache_dir", c.CacheDir, "MEDIA_GEN_CACHE_DIR"},
	} {
		if dir.path == "" {
			l.fault("%s: there is no home directory to put it in; set HOME or %s", dir.key, dir.variable)
		}
	}
}

// googleKeys tells which of the two names won when both are there and differ.
func (l *loader) googleKeys() {
	values := map[string]string{}
	for _, name := range []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"} {
		for _, v := range l.variables {
			if value := scalar(v.values[name]).text; !blank(value) {
				values[name] = value
				break
			}
		}
	}
	if len(values) == 2 && values["GOOGLE_API_KEY"] != values["GEMINI_API_KEY"] {
		l.warn("GOOGLE_API_KEY and GEMINI_API_KEY are both set and differ; the key from %s is used",
			l.from("google.api_key").text)
	}
}

// guards tells when a file of the working directory decided what the policy allows: an agent that can write there can
// write that file.
func (l *loader) guards() {
	keys := map[string][]string{}
	for _, s := range l.table {
		if from := l.from(s.Key); s.Guard && from.workDir {
			keys[from.text] = append(keys[from.text], s.Key)
		}
	}
	for _, p := range l.files {
		from := p.Kind + " " + p.Path
		if keys[from] != nil {
			l.warn("%s, a file in the working directory, decides %s", from, strings.Join(keys[from], ", "))
			delete(keys, from)
		}
	}
}

// secretsOf lists the secrets that are set, each once.
func secretsOf(c *Config) []redact.Secret {
	all := []redact.Secret{c.OpenAI.APIKey, c.Azure.APIKey, c.Google.APIKey, c.Anthropic.APIKey, c.MCP.Token}
	if u, err := url.Parse(c.Fetch.Proxy); err == nil && u.User != nil {
		password, _ := u.User.Password()
		all = append(all, redact.NewSecret(password))
	}
	return slices.DeleteFunc(all, func(s redact.Secret) bool { return !s.IsSet() })
}
