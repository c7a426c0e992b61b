package config_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/config"
	"mediagen/internal/redact"
)

// leaves maps every dotted key of the typed Config to its field, by the tags that Viper uses.
func leaves(v reflect.Value, prefix string, out map[string]reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag := field.Tag.Get("mapstructure")
		if !field.IsExported() || tag == "-" {
			continue
		}
		key := prefix + tag
		if field.Type.Kind() == reflect.Struct && field.Type != reflect.TypeFor[redact.Secret]() {
			leaves(v.Field(i), key+".", out)
			continue
		}
		out[key] = v.Field(i)
	}
}

func fields(c *config.Config) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	leaves(reflect.ValueOf(c).Elem(), "", out)
	return out
}

// A setting without a field would do nothing; a field without a setting could never be set.
func TestEverySettingIsAField(t *testing.T) {
	t.Parallel()
	var keys []string
	for _, s := range config.Settings() {
		keys = append(keys, s.Key)
	}
	var tags []string
	for key := range fields(&config.Config{}) {
		tags = append(tags, key)
	}
	slices.Sort(keys)
	slices.Sort(tags)
	if diff := cmp.Diff(keys, tags); diff != "" {
		t.Errorf("settings and fields differ (-setting +field):\n%s", diff)
	}
}

func TestTableRules(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	once := func(kind, name, key string) {
		if other, ok := seen[kind+name]; ok {
			t.Errorf("%s %s belongs to %s and to %s", kind, name, other, key)
		}
		seen[kind+name] = key
	}
	for _, s := range config.Settings() {
		once("key", s.Key, s.Key)
		if want := "MEDIA_GEN_" + strings.ToUpper(strings.ReplaceAll(s.Key, ".", "_")); s.Env[0] != want {
			t.Errorf("%s: first name is %s, want %s", s.Key, s.Env[0], want)
		}
		for _, name := range s.Env {
			once("variable", name, s.Key)
		}
		if s.Flag != "" {
			once("flag", s.Flag, s.Key)
		}
		if s.Secret != (s.Kind == config.KindSecret) || s.Secret && s.Flag != "" {
			t.Errorf("%s: a secret must be of KindSecret and have no flag", s.Key)
		}
		if s.Doc == "" || strings.HasSuffix(s.Doc, ".") || strings.Contains(s.Doc, "\n") {
			t.Errorf("%s: doc %q is not one line without full stop", s.Key, s.Doc)
		}
		if s.Flag != "" && s.Kind != config.KindBool && s.Value == "" {
			t.Errorf("%s: help would not name the value of --%s", s.Key, s.Flag)
		}
		if words := s.Kind == config.KindEnum || s.Kind == config.KindEnums; words != (len(s.Words) > 0) {
			t.Errorf("%s: words and kind do not agree", s.Key)
		}
	}
}

// The contract's and the ecosystem's names must stay known (tool-contract §3.3 and §3.4).
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, s := range config.Settings() {
		for _, name := range s.Env {
			got[name] = s.Key
		}
	}
	want := map[string]string{
		"OPENAI_API_KEY": "openai.api_key", "OPENAI_BASE_URL": "openai.base_url", "OPENAI_ORG_ID": "openai.org_id",
		"OPENAI_PROJECT_ID": "openai.project_id", "OPENAI_LOG": "openai.log",
		"AZURE_OPENAI_API_KEY": "azure.api_key", "AZURE_OPENAI_ENDPOINT": "azure.endpoint",
		"OPENAI_API_VERSION": "azure.api_version", "AZURE_OPENAI_DEPLOYMENT": "azure.deployment",
		"GOOGLE_API_KEY": "google.api_key", "GEMINI_API_KEY": "google.api_key",
		"GOOGLE_GENAI_USE_VERTEXAI": "google.use_vertexai", "GOOGLE_CLOUD_PROJECT": "google.project",
		"GOOGLE_CLOUD_LOCATION": "google.location", "GOOGLE_APPLICATION_CREDENTIALS": "google.credentials_file",
		"GOOGLE_GEMINI_BASE_URL": "google.gemini_base_url", "GOOGLE_VERTEX_BASE_URL": "google.vertex_base_url",
		"ANTHROPIC_API_KEY": "anthropic.api_key", "MEDIA_GEN_DIRS": "dirs", "MEDIA_GEN_URLS": "urls",
		"MEDIA_GEN_MCP_URL_PREFIXES": "mcp.url_prefixes", "MEDIA_GEN_MCP_TEST_SAMPLE_DIR": "mcp.test_sample_dir",
		"MEDIA_GEN_MCP_ALLOW_FETCH_LAST_N_IMAGES": "mcp.allow_fetch_last_n_images",
		"MEDIA_GEN_MCP_ALLOW_FETCH_LAST_N_VIDEOS": "mcp.allow_fetch_last_n_videos",
		"MCP_MAX_CONTENT_BYTES":                   "mcp.max_result_bytes", "MEDIA_GEN_MCP_DEBUG": "mcp.debug",
		"MEDIA_GEN_MCP_LOG_LEVEL": "log.level", "MEDIA_GEN_MCP_LOG_FORMAT": "log.format",
		"MEDIA_GEN_MCP_LOG_SANITIZE_IMAGES": "log.sanitize_images",
		"MEDIA_GEN_MCP_LOG_SANITIZE_KEYS":   "log.sanitize_keys",
		"MEDIA_GEN_MCP_RESULT_PLACEMENT":    "mcp.result_placement",
		"MEDIA_GEN_MCP_MAX_WAIT":            "mcp.max_wait",
		"MEDIA_GEN_MCP_MAX_WAIT_PROGRESS":   "mcp.max_wait_progress",
	}
	for name, key := range want {
		if got[name] != key {
			t.Errorf("%s sets %q, want %q", name, got[name], key)
		}
	}
}

// example returns a text that differs from the default and the typed value that it must become.
func example(t *testing.T, s config.Setting, src config.Source) (text string, want any) {
	t.Helper()
	switch s.Kind {
	case config.KindString:
		return "v1", "v1"
	case config.KindSecret:
		return "k-1234", "k-1234"
	case config.KindEnum:
		word := s.Words[len(s.Words)-1]
		return strings.ToUpper(word), word
	case config.KindURL:
		return "https://h.example/v1", "https://h.example/v1"
	case config.KindProxy:
		return "http://p.example:3128", "http://p.example:3128"
	case config.KindPath:
		return "sub/x", src.WorkDir + "/sub/x"
	case config.KindBool:
		on, _ := s.Default.(bool)
		if on {
			return "off", false
		}
		return "on", true
	case config.KindBytes:
		return "70k", int64(70_000)
	case config.KindMoney:
		return "1.25", int64(1_250_000)
	case config.KindDuration:
		return "1m1s", "1m1s"
	case config.KindList:
		return "a:b, c d,,", []string{"a:b", "c d"}
	case config.KindEnums:
		return "API, content", []string{"api", "content"}
	case config.KindPaths:
		return "~/x,./y", []string{src.HomeDir + "/x", "./y"}
	case config.KindURLs:
		return "https://a.example/m, https://b.example/n", []string{"https://a.example/m", "https://b.example/n"}
	case config.KindHosts:
		return "Media.example,10.0.0.1:81", []string{"media.example", "10.0.0.1:81"}
	case config.KindCIDRs:
		return "10.1.0.0/16,fd00::1", []string{"10.1.0.0/16", "fd00::1/128"}
	case config.KindPorts:
		return "81, 82", []int{81, 82}
	}
	t.Fatalf("%s: kind %d has no example", s.Key, s.Kind)
	return "", nil
}

// comparable form of a field.
func plain(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case redact.Secret:
		return x.Reveal()
	case interface{ String() string }:
		return x.String()
	default:
		return x
	}
}

// Every setting must change the typed Config through each of its doors, and nothing but itself.
func TestEverySettingIsReachable(t *testing.T) {
	t.Parallel()
	for _, s := range config.Settings() {
		for _, door := range doors(t, s) {
			t.Run(s.Key+"/"+door.name, func(t *testing.T) {
				t.Parallel()
				src := source(t)
				text, want := example(t, s, src)
				before := fields(load(t, src))
				src = door.set(t, src, text)
				c := load(t, src)
				after := fields(c)
				for key, v := range after {
					if key == s.Key {
						continue
					}
					if diff := cmp.Diff(plain(before[key]), plain(v)); diff != "" && !follows(key, s.Key) {
						t.Errorf("%s changed too:\n%s", key, diff)
					}
				}
				if reflect.DeepEqual(plain(before[s.Key]), want) {
					t.Fatalf("the example %q is the default", text)
				}
				if diff := cmp.Diff(want, plain(after[s.Key])); diff != "" {
					t.Errorf("Config (-want +got):\n%s", diff)
				}
				if got := originOf(t, c, s.Key).From; got != door.from(src) {
					t.Errorf("origin %q, want %q", got, door.from(src))
				}
			})
		}
	}
}

// follows reports whether key's default is derived from the setting, or names the file that the test writes.
func follows(key, setting string) bool {
	return key == "journal.path" && setting == "state_dir"
}

type door struct {
	name string
	set  func(t *testing.T, s config.Source, text string) config.Source
	from func(s config.Source) string
}

func doors(t *testing.T, s config.Setting) []door {
	t.Helper()
	// A file that is named must exist; the example path of the three file settings is made an empty one.
	prepare := func(t *testing.T, src config.Source) {
		t.Helper()
		if s.Bootstrap && s.Kind == config.KindPath {
			write(t, src.WorkDir+"/sub/x", "")
		}
	}
	var out []door
	for _, name := range s.Env {
		out = append(out, door{
			name: name,
			set: func(t *testing.T, src config.Source, text string) config.Source {
				t.Helper()
				prepare(t, src)
				src.Environ = append(src.Environ, name+"="+text)
				return src
			},
			from: func(config.Source) string { return "env " + name },
		})
	}
	if s.Flag != "" {
		out = append(out, door{
			name: "flag",
			set: func(t *testing.T, src config.Source, text string) config.Source {
				t.Helper()
				prepare(t, src)
				if s.Inverse {
					text = map[string]string{"on": "off", "off": "on"}[text]
				}
				return withFlags(t, src, "--"+s.Flag+"="+text)
			},
			from: func(config.Source) string { return "flag --" + s.Flag },
		})
	}
	if s.Bootstrap {
		return out
	}
	return append(out,
		door{
			name: "env file",
			set: func(t *testing.T, src config.Source, text string) config.Source {
				t.Helper()
				write(t, configDir(t, src)+"/.env", s.Env[0]+"='"+text+"'\n")
				return src
			},
			from: func(src config.Source) string { return "env file " + configDir(t, src) + "/.env" },
		},
		door{
			name: "config file",
			set: func(t *testing.T, src config.Source, text string) config.Source {
				t.Helper()
				group, name, nested := strings.Cut(s.Key, ".")
				if nested {
					group += ":\n  " + name
				}
				write(t, config.Path(src), group+": '"+text+"'\n")
				return src
			},
			from: func(src config.Source) string { return "config file " + config.Path(src) },
		})
}
