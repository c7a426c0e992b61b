// Package config turns flags, environment variables, env files, a config file and a secrets file into one typed Config.
//
// One table, Settings, drives everything: environment names, flags, defaults, the sample file, the documentation and
// the origin of each value. Viper keeps the layers and fills the struct; it never leaves this package.
//
// It does not read the process environment (Source.Environ carries it), it does not open journals, roots or network
// connections, and it does not judge models, sizes or URL patterns: the packages that own those do.
package config

import (
	"slices"
	"time"

	"mediagen/internal/redact"
)

// Config is every setting with its final value. Paths are absolute when Source.WorkDir is; money is integer
// micro-dollars; sizes are bytes. It holds no reference to Viper or to the environment.
type Config struct {
	OpenAI    OpenAI    `mapstructure:"openai"`
	Azure     Azure     `mapstructure:"azure"`
	Google    Google    `mapstructure:"google"`
	Anthropic Anthropic `mapstructure:"anthropic"`

	Dirs   []string `mapstructure:"dirs"` // nil when unset: the door decides what that means (design.md §5)
	URLs   []string `mapstructure:"urls"` // nil when unset: any public address
	Policy Policy   `mapstructure:"policy"`
	Fetch  Fetch    `mapstructure:"fetch"`

	Images  Images  `mapstructure:"images"`
	Videos  Videos  `mapstructure:"videos"`
	Cost    Cost    `mapstructure:"cost"`
	Journal Journal `mapstructure:"journal"`
	Log     Log     `mapstructure:"log"`
	MCP     MCP     `mapstructure:"mcp"`

	Timeout     time.Duration `mapstructure:"timeout"`    // for the whole command; 0 = no bound
	OutputDir   string        `mapstructure:"output_dir"` // "" = the working directory in the shell
	StateDir    string        `mapstructure:"state_dir"`
	CacheDir    string        `mapstructure:"cache_dir"`
	CatalogFile string        `mapstructure:"catalog_file"` // "" = only the built-in catalog

	ConfigFile   string `mapstructure:"config"`         // the file that is or would be read
	EnvFile      string `mapstructure:"env_file"`       // the file that was named; see Files for those that were read
	SecretsFile  string `mapstructure:"secrets_file"`   // the file that was named; see Files for those that were read
	TrustBaseURL bool   `mapstructure:"trust_base_url"` // lifts the rule about base URLs from the working directory

	ConfigDir string `mapstructure:"-"` // where the config file lives unless it is named; "" without a home directory
	TempRoot  string `mapstructure:"-"` // the MCP default directory when dirs is unset (tool-contract §3.3)

	origins  []Origin
	warnings []string
	files    []File
	secrets  []redact.Secret
}

// OpenAI is the account and endpoint of OpenAI or of a compatible server.
type OpenAI struct {
	APIKey    redact.Secret `mapstructure:"api_key"`
	BaseURL   string        `mapstructure:"base_url"` // "" = OpenAI's own host
	OrgID     string        `mapstructure:"org_id"`
	ProjectID string        `mapstructure:"project_id"`
	Log       string        `mapstructure:"log"` // debug info warn error off: the client's own request log
}

// Azure is an Azure OpenAI deployment. A key here moves the image tools to Azure.
type Azure struct {
	APIKey     redact.Secret `mapstructure:"api_key"`
	Endpoint   string        `mapstructure:"endpoint"`
	APIVersion string        `mapstructure:"api_version"`
	Deployment string        `mapstructure:"deployment"` // "" = the model's name
}

// Google is the Gemini API (a key) or Vertex AI (project, location and application default credentials).
type Google struct {
	APIKey          redact.Secret `mapstructure:"api_key"`
	UseVertexAI     bool          `mapstructure:"use_vertexai"`
	Project         string        `mapstructure:"project"`
	Location        string        `mapstructure:"location"`
	GeminiBaseURL   string        `mapstructure:"gemini_base_url"`
	VertexBaseURL   string        `mapstructure:"vertex_base_url"`
	CredentialsFile string        `mapstructure:"credentials_file"` // "" = the Google library's own look-up
}

// Anthropic holds a key that the reference's secrets file may carry. No request uses it: it is known so that Secrets
// lists it and logs never show it.
type Anthropic struct {
	APIKey redact.Secret `mapstructure:"api_key"`
}

// Policy is what binds the shell as well as MCP.
type Policy struct {
	Strict bool `mapstructure:"strict"` // the shell is bound to roots; a careless secrets file is refused
}

// Fetch is the policy for URLs that come from outside; fetch.New parses the lists further.
type Fetch struct {
	TrustedHosts []string `mapstructure:"trusted_hosts"` // host or host:port, may resolve to private addresses
	AllowedCIDRs []string `mapstructure:"allowed_cidrs"` // canonical prefixes such as 10.1.0.0/16
	Ports        []int    `mapstructure:"ports"`
	HTTPSOnly    bool     `mapstructure:"https_only"`
	Proxy        string   `mapstructure:"proxy"` // may carry a password: never print it raw
}

// Images are the defaults of image requests; "" leaves the choice to the catalog.
type Images struct {
	Model        string `mapstructure:"model"`
	EditModel    string `mapstructure:"edit_model"`
	Quality      string `mapstructure:"quality"`
	Size         string `mapstructure:"size"`
	OutputFormat string `mapstructure:"output_format"`
}

// Videos are the defaults of video requests.
type Videos struct {
	OpenAIModel string `mapstructure:"openai_model"` // for compatible servers; "" = must be named
}

// Cost caps spending in micro-dollars; 0 = no cap. A cap of zero dollars cannot be configured.
type Cost struct {
	Max       int64 `mapstructure:"max"`
	MaxPerDay int64 `mapstructure:"max_per_day"`
}

// Journal says where jobs are recorded and what of them.
type Journal struct {
	Enabled bool   `mapstructure:"enabled"`
	Path    string `mapstructure:"path"` // default: journal.db in StateDir
	Prompts bool   `mapstructure:"prompts"`
}

// Log is the log on stderr.
type Log struct {
	Level          string   `mapstructure:"level"`  // debug info warn error silent
	Format         string   `mapstructure:"format"` // text json
	SanitizeImages bool     `mapstructure:"sanitize_images"`
	SanitizeKeys   []string `mapstructure:"sanitize_keys"`
}

// MCP are the settings of mcp serve.
type MCP struct {
	URLPrefixes           []string      `mapstructure:"url_prefixes"` // paired with Dirs by position
	TestSampleDir         string        `mapstructure:"test_sample_dir"`
	AllowFetchLastNImages bool          `mapstructure:"allow_fetch_last_n_images"`
	AllowFetchLastNVideos bool          `mapstructure:"allow_fetch_last_n_videos"`
	ResultPlacement       []string      `mapstructure:"result_placement"` // content structured toplevel api; nil = unset
	MaxResultBytes        int64         `mapstructure:"max_result_bytes"` // encoded bytes; above it results go by link
	MaxMessageBytes       int64         `mapstructure:"max_message_bytes"`
	MaxWait               time.Duration `mapstructure:"max_wait"`          // without a progress token; 0 = no bound
	MaxWaitProgress       time.Duration `mapstructure:"max_wait_progress"` // with a progress token; 0 = no bound
	Debug                 bool          `mapstructure:"debug"`
	Token                 redact.Secret `mapstructure:"token"` // bearer token of mcp serve --http
}

// Origin says where the value of one setting came from. Value is safe to print: secrets are redacted and URLs lose
// user and query. From is "flag --x", "env NAME", "env file P", "config file P", "secrets file P" or "default".
type Origin struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from"`
}

// File is a file that was read. Kind is "env file", "config file" or "secrets file".
type File struct {
	Kind string `json:"kind"`
	Path string `json:"path"`
}

// Origins lists every setting in the order of the table.
func (c *Config) Origins() []Origin { return slices.Clone(c.origins) }

// Warnings lists what Load noticed and did not refuse, one sentence each, safe to print.
func (c *Config) Warnings() []string { return slices.Clone(c.warnings) }

// Files lists the files that Load read, in the order of reading.
func (c *Config) Files() []File { return slices.Clone(c.files) }

// Secrets lists every secret value that is set, for redact.NewScrubber. A password inside fetch.proxy is one of them.
func (c *Config) Secrets() []redact.Secret { return slices.Clone(c.secrets) }
