package config

import (
	"strings"
	"time"
)

// Kind says how the text of a setting is read and what Go type it becomes.
type Kind int

// The kinds. Every list is written with commas; entries are trimmed and blank ones dropped, and neither ":" nor white
// space separates. A YAML sequence takes each entry as it stands, so that an entry can hold a comma.
const (
	KindString   Kind = iota // string
	KindSecret               // redact.Secret: printable ASCII without white space
	KindEnum                 // string: one of Setting.Words, in any case
	KindURL                  // string: http or https with a host, no user, no fragment
	KindProxy                // string: http, https or socks5 address, may carry user and password
	KindPath                 // string: made absolute; a leading ~/ is the home directory
	KindBool                 // bool: 1 true yes on, 0 false no off
	KindBytes                // int64: see param.ParseSize
	KindMoney                // int64 micro-dollars: see ParseMoney; "none" is 0
	KindDuration             // time.Duration in Go form, not negative
	KindList                 // []string
	KindEnums                // []string: each one of Setting.Words
	KindPaths                // []string: only a leading ~/ is replaced, the rest is left to the workspace
	KindURLs                 // []string: each like KindURL
	KindHosts                // []string: host or host:port
	KindCIDRs                // []string: address prefixes in canonical form
	KindPorts                // []int: 1..65535
)

// Setting is one row of the table.
type Setting struct {
	Key     string   // dotted, as in the config file: "openai.api_key"
	Env     []string // environment names; the first that is not empty wins
	Flag    string   // name of the persistent root flag, "" for none; no flag takes a secret
	Inverse bool     // the flag's true is the setting's false (--no-journal)
	Default any      // typed by Kind; nil = unset, or computed as DefaultDoc says
	Doc     string   // one line, without full stop
	Secret  bool     // never printed
	Kind    Kind
	Words   []string // the words of KindEnum and KindEnums

	DefaultDoc string // what an unset value means, when Default does not say it
	Value      string // the name of the value in help: FILE, DURATION
	FlagDoc    string // usage of the flag when it differs from Doc
	Min        int64  // smallest value of KindBytes and KindMoney
	// Bootstrap marks what decides which files are read: only the flag and the process environment can set it.
	Bootstrap bool
	// Guard marks a setting that opens or narrows what policy and caps allow, so that Load can tell when a file in the
	// working directory decided it.
	Guard bool
}

// envPrefix begins the first environment name of every setting.
const envPrefix = "MEDIA_GEN_"

// Settings returns the table. The order is that of the sample file, the documentation and Origins.
func Settings() []Setting {
	var all []Setting
	for _, group := range [][]Setting{
		bootstrapSettings(), providerSettings(), policySettings(), requestSettings(), stateSettings(), mcpSettings(),
	} {
		all = append(all, group...)
	}
	for i := range all {
		s := &all[i]
		own := envPrefix + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_"))
		s.Env = append([]string{own}, s.Env...)
		s.Secret = s.Kind == KindSecret
	}
	return all
}

func bootstrapSettings() []Setting {
	return []Setting{
		{
			Key: "config", Kind: KindPath, Flag: "config", Value: "FILE", Bootstrap: true,
			Doc: "file with settings", DefaultDoc: "config.yaml in the config directory",
		},
		{
			Key: "env_file", Kind: KindPath, Flag: "env-file", Value: "FILE", Bootstrap: true,
			Doc:        "file with NAME=value lines, below the environment",
			DefaultDoc: ".env in the config directory; in mcp serve also in the working directory",
		},
		{
			Key: "secrets_file", Kind: KindPath, Flag: "secrets-file", Value: "FILE", Bootstrap: true,
			Doc:        "YAML file with keys, above the environment",
			DefaultDoc: "secrets.yaml in the config directory; in mcp serve also in the working directory",
		},
		{
			Key: "trust_base_url", Kind: KindBool, Flag: "trust-base-url", Default: false, Bootstrap: true,
			Doc: "let a base URL from a file below the working directory get keys from elsewhere",
		},
	}
}

func providerSettings() []Setting {
	return []Setting{
		{Key: "openai.api_key", Env: []string{"OPENAI_API_KEY"}, Kind: KindSecret, Doc: "OpenAI API key"},
		{
			Key: "openai.base_url", Env: []string{"OPENAI_BASE_URL"}, Kind: KindURL, DefaultDoc: "OpenAI's own host",
			Doc: "base URL of OpenAI or of a compatible server",
		},
		{Key: "openai.org_id", Env: []string{"OPENAI_ORG_ID"}, Kind: KindString, Doc: "OpenAI organization"},
		{Key: "openai.project_id", Env: []string{"OPENAI_PROJECT_ID"}, Kind: KindString, Doc: "OpenAI project"},
		{
			Key: "openai.log", Env: []string{"OPENAI_LOG"}, Kind: KindEnum, Default: "warn",
			Words: []string{"debug", "info", "warn", "error", "off"},
			Doc:   "level of the OpenAI client's own log of requests, without bodies and keys",
		},
		{
			Key: "azure.api_key", Env: []string{"AZURE_OPENAI_API_KEY"}, Kind: KindSecret,
			Doc: "Azure OpenAI key; when set, the image commands use Azure",
		},
		{
			Key: "azure.endpoint", Env: []string{"AZURE_OPENAI_ENDPOINT"}, Kind: KindURL,
			Doc: "Azure OpenAI endpoint, https://NAME.openai.azure.com",
		},
		{
			Key: "azure.api_version", Env: []string{"OPENAI_API_VERSION"}, Kind: KindString,
			Doc: "Azure OpenAI API version",
		},
		{
			Key: "azure.deployment", Env: []string{"AZURE_OPENAI_DEPLOYMENT"}, Kind: KindString,
			DefaultDoc: "the model's name", Doc: "Azure OpenAI deployment",
		},
		{
			Key: "google.api_key", Env: []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, Kind: KindSecret,
			Doc: "Gemini API key",
		},
		{
			Key: "google.use_vertexai", Env: []string{"GOOGLE_GENAI_USE_VERTEXAI"}, Kind: KindBool, Default: false,
			Doc: "use Vertex AI instead of the Gemini API",
		},
		{
			Key: "google.project", Env: []string{"GOOGLE_CLOUD_PROJECT"}, Kind: KindString,
			Doc: "Google Cloud project, needed for Vertex AI",
		},
		{
			Key: "google.location", Env: []string{"GOOGLE_CLOUD_LOCATION"}, Kind: KindString,
			Doc: "Google Cloud location such as us-central1 or global, needed for Vertex AI",
		},
		{
			Key: "google.gemini_base_url", Env: []string{"GOOGLE_GEMINI_BASE_URL"}, Kind: KindURL,
			DefaultDoc: "Google's own host", Doc: "base URL of the Gemini API",
		},
		{
			Key: "google.vertex_base_url", Env: []string{"GOOGLE_VERTEX_BASE_URL"}, Kind: KindURL,
			DefaultDoc: "Google's own host", Doc: "base URL of Vertex AI",
		},
		{
			Key: "google.credentials_file", Env: []string{"GOOGLE_APPLICATION_CREDENTIALS"}, Kind: KindPath,
			DefaultDoc: "the Google library's own look-up", Doc: "credentials file for Vertex AI",
		},
		{
			Key: "anthropic.api_key", Env: []string{"ANTHROPIC_API_KEY"}, Kind: KindSecret,
			Doc: "never sent; known so that it is removed from logs and errors",
		},
	}
}

func policySettings() []Setting {
	return []Setting{
		{
			Key: "dirs", Kind: KindPaths, Guard: true,
			DefaultDoc: "mcp serve: a directory media-gen-mcp among the temporary files; shell: your own authority",
			Doc:        "directories that may be read and written, outputs go to the first; * is one path segment, ** any depth",
		},
		{
			Key: "urls", Kind: KindList, Guard: true, DefaultDoc: "any public address",
			Doc: "URL patterns that may be fetched",
		},
		{
			Key: "policy.strict", Kind: KindBool, Flag: "strict-dirs", Default: false, Guard: true,
			Doc:     "bind shell commands to dirs, else to the working directory, and refuse a careless secrets file",
			FlagDoc: "bind this command to the allowed directories, else to the working directory",
		},
		{
			Key: "fetch.trusted_hosts", Kind: KindHosts, Guard: true,
			Doc: "hosts, or host:port, that may have private addresses",
		},
		{Key: "fetch.allowed_cidrs", Kind: KindCIDRs, Guard: true, Doc: "private address ranges that may be reached"},
		{Key: "fetch.ports", Kind: KindPorts, Default: []int{80, 443}, Guard: true, Doc: "ports that may be reached"},
		{Key: "fetch.https_only", Kind: KindBool, Default: false, Guard: true, Doc: "refuse http URLs"},
		{
			Key: "fetch.proxy", Kind: KindProxy, Guard: true,
			Doc: "proxy for fetched URLs; it resolves names, so addresses are no longer checked here",
		},
		{
			Key: "cost.max", Kind: KindMoney, Flag: "max-cost", Value: "USD", Min: 1, DefaultDoc: "no cap", Guard: true,
			Doc: "refuse a request that is estimated to cost more, in dollars",
		},
		{
			Key: "cost.max_per_day", Kind: KindMoney, Min: 1, DefaultDoc: "no cap", Guard: true,
			Doc: "refuse a request that would take the day's sum above this, in dollars",
		},
	}
}

func requestSettings() []Setting {
	return []Setting{
		{
			Key: "images.model", Kind: KindString, DefaultDoc: "the catalog's default",
			Doc: "model of images generate",
		},
		{Key: "images.edit_model", Kind: KindString, DefaultDoc: "the catalog's default", Doc: "model of images edit"},
		{Key: "images.quality", Kind: KindString, DefaultDoc: "high where the model allows it", Doc: "image quality"},
		{Key: "images.size", Kind: KindString, DefaultDoc: "1024x1536 where the model allows it", Doc: "image size"},
		{Key: "images.output_format", Kind: KindString, DefaultDoc: "the model's own", Doc: "image file format"},
		{
			Key: "videos.openai_model", Kind: KindString,
			Doc: "model of videos create on an OpenAI-compatible server",
		},
		{
			Key: "output_dir", Kind: KindPath, Value: "DIR", DefaultDoc: "the first of dirs, else the working directory",
			Doc: "where shell commands save without --output",
		},
		{
			Key: "timeout", Kind: KindDuration, Flag: "timeout", Value: "DURATION", DefaultDoc: "no bound",
			Doc: "time limit for the whole command: exit 7 before a request is sent, 8 after it, and its job is then unknown",
		},
	}
}

func stateSettings() []Setting {
	return []Setting{
		{
			Key: "state_dir", Kind: KindPath, DefaultDoc: "mediagen in $XDG_STATE_HOME or the system's place for it",
			Doc: "directory of the journal and of media that could not be saved elsewhere",
		},
		{
			Key: "cache_dir", Kind: KindPath, DefaultDoc: "mediagen in $XDG_CACHE_HOME or the system's place for it",
			Doc: "directory of files that can be made again",
		},
		{
			Key: "catalog_file", Kind: KindPath, Guard: true, DefaultDoc: "only the built-in catalog",
			Doc: "YAML file with models that are added to the catalog or replace rows of it",
		},
		{
			Key: "journal.enabled", Kind: KindBool, Flag: "no-journal", Inverse: true, Default: true,
			Doc:     "record jobs, so that they can be resumed",
			FlagDoc: "do not record the job; it cannot be resumed then",
		},
		{Key: "journal.path", Kind: KindPath, DefaultDoc: "journal.db in state_dir", Doc: "file of the job journal"},
		{
			Key: "journal.prompts", Kind: KindBool, Flag: "keep-prompts", Default: false,
			Doc: "keep the prompt in the journal",
		},
		{
			Key: "log.level", Env: []string{"MEDIA_GEN_MCP_LOG_LEVEL"}, Kind: KindEnum, Flag: "log-level", Value: "LEVEL",
			Words:      []string{"debug", "info", "warn", "error", "silent"},
			DefaultDoc: "info in mcp serve, warn elsewhere", Doc: "what the log on stderr tells",
		},
		{
			Key: "log.format", Env: []string{"MEDIA_GEN_MCP_LOG_FORMAT"}, Kind: KindEnum, Flag: "log-format",
			Value: "FORMAT", Words: []string{"text", "json"}, Default: "text", Doc: "form of the log on stderr",
		},
		{
			Key: "log.sanitize_images", Env: []string{"MEDIA_GEN_MCP_LOG_SANITIZE_IMAGES"}, Kind: KindBool, Default: true,
			Doc: "cut image data in log lines",
		},
		{
			Key: "log.sanitize_keys", Env: []string{"MEDIA_GEN_MCP_LOG_SANITIZE_KEYS"}, Kind: KindList,
			Default: []string{"image_url", "b64_json", "base64", "data", "imageBytes", "videoBytes", "blob"},
			Doc:     "fields whose values are cut in log lines",
		},
	}
}

func mcpSettings() []Setting {
	const mi = 1 << 20
	return []Setting{
		{
			Key: "mcp.url_prefixes", Kind: KindURLs,
			Doc: "public URL prefixes of the entries of dirs, by position",
		},
		{
			Key: "mcp.test_sample_dir", Kind: KindPath, Guard: true,
			Doc: "directory of samples; when set, the tool test-images exists",
		},
		{Key: "mcp.allow_fetch_last_n_images", Kind: KindBool, Default: false, Doc: "allow n in fetch-images"},
		{Key: "mcp.allow_fetch_last_n_videos", Kind: KindBool, Default: false, Doc: "allow n in fetch-videos"},
		{
			Key: "mcp.result_placement", Kind: KindEnums, Words: []string{"content", "structured", "toplevel", "api"},
			DefaultDoc: "content and structured", Doc: "where results are put",
		},
		{
			Key: "mcp.max_result_bytes", Env: []string{"MCP_MAX_CONTENT_BYTES"}, Kind: KindBytes,
			Default: int64(12 * mi), Doc: "encoded size above which a result goes by link",
		},
		{
			Key: "mcp.max_message_bytes", Kind: KindBytes, Default: int64(44 * mi), Min: 64 << 10,
			Doc: "largest incoming message",
		},
		{
			Key: "mcp.max_wait", Kind: KindDuration, Default: 45 * time.Second,
			Doc: "longest wait of a call without a progress token, 0 = no bound",
		},
		{
			Key: "mcp.max_wait_progress", Kind: KindDuration, Default: 200 * time.Second,
			Doc: "longest wait of a call with a progress token, 0 = no bound",
		},
		{Key: "mcp.debug", Kind: KindBool, Default: false, Doc: "log directories, URL patterns and versions at start"},
		{Key: "mcp.token", Kind: KindSecret, Guard: true, Doc: "bearer token that mcp serve --http asks for"},
	}
}
