package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"mediagen/internal/fault"
)

// Load reads every source and returns the settings. Flag > secrets file > environment > env file > config file >
// default; no flag takes what a secrets file usually holds. The error is a *fault.Error with code config_invalid that
// lists every fault, a line each, with key, origin and what would be right.
func Load(s Source) (*Config, error) {
	l := newLoader(s)
	l.readEnvFiles()
	l.readConfigFile()
	l.readSecretsFiles()
	c := l.decode()
	if len(l.faults) == 0 {
		l.check(c)
	}
	if len(l.faults) > 0 {
		joined := errors.Join(l.faults...)
		return nil, fault.Caused(fault.ConfigInvalid, joined, "%v", joined)
	}
	c.warnings = l.warnings
	c.files = l.files
	return c, nil
}

// variables is one set of environment variables: the process environment or an env file.
type variables struct {
	values map[string]string
	origin func(name string) origin
}

type loader struct {
	src    Source
	env    map[string]string
	table  []Setting
	index  map[string]Setting
	places places

	flags     layer
	secrets   []layer
	variables []variables // the process environment, then the env files
	config    layer

	viper    *viper.Viper
	faults   []error
	warnings []string
	files    []File
}

func newLoader(s Source) *loader {
	l := &loader{src: s, env: environment(s.Environ), table: Settings(), index: map[string]Setting{}, viper: viper.New()}
	for _, setting := range l.table {
		l.index[setting.Key] = setting
	}
	l.places = placesFor(runtime.GOOS, l.env, s.HomeDir)
	l.flags = l.flagLayer()
	l.variables = []variables{{values: l.env, origin: func(name string) origin { return origin{text: "env " + name} }}}
	l.nearVariables(l.env, "the environment")
	return l
}

// warn notes a sentence once.
func (l *loader) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(l.warnings, text) {
		l.warnings = append(l.warnings, text)
	}
}

func (l *loader) fault(format string, args ...any) {
	l.faults = append(l.faults, fault.New(fault.ConfigInvalid, format, args...))
}

// bad reports a value of a setting; err continues the sentence.
func (l *loader) bad(s Setting, f found, err error) {
	l.fault("%s: %s (%s) %w", s.Key, s.quote(f.value), f.origin.text, err)
}

// flagLayer takes the flags that were given, and the files that Source names as if by flag.
func (l *loader) flagLayer() layer {
	out := layer{}
	for key, path := range map[string]string{
		"config": l.src.ConfigFile, "env_file": l.src.EnvFile, "secrets_file": l.src.SecretsFile,
	} {
		if !blank(path) {
			out[key] = found{scalar(path), origin{text: "flag --" + l.index[key].Flag}}
		}
	}
	if l.src.Flags != nil {
		for _, s := range l.table {
			if f := l.src.Flags.Lookup(s.Flag); s.Flag != "" && f != nil && f.Changed && !blank(f.Value.String()) {
				out[s.Key] = found{scalar(flagText(s, f.Value.String())), origin{text: "flag --" + s.Flag}}
			}
		}
	}
	if l.src.Strict {
		out["policy.strict"] = found{scalar("true"), origin{text: "flag --strict-dirs"}}
	}
	return out
}

// lookup finds the value that counts and where it is from; nothing found is the default.
func (l *loader) lookup(s Setting) (found, bool) {
	if f, ok := l.flags[s.Key]; ok {
		return f, true
	}
	for _, secrets := range l.secrets {
		if f, ok := secrets[s.Key]; ok {
			return f, true
		}
	}
	for i, v := range l.variables {
		if s.Bootstrap && i > 0 {
			break
		}
		if f, ok := v.find(s); ok {
			return f, true
		}
	}
	f, ok := l.config[s.Key]
	return f, ok
}

// find returns the first of the setting's variables that is set.
func (v variables) find(s Setting) (found, bool) {
	for _, name := range s.Env {
		if r := scalar(v.values[name]); !s.unset(r) {
			return found{r, v.origin(name)}, true
		}
	}
	return found{}, false
}

// from is the origin of a setting's value.
func (l *loader) from(key string) origin {
	if f, ok := l.lookup(l.index[key]); ok {
		return f.origin
	}
	return fromDefault()
}

// nearVariables warns about a name with our prefix that is no setting but nearly one: it would be ignored silently.
func (l *loader) nearVariables(values map[string]string, where string) {
	var known []string
	for _, s := range l.table {
		for _, name := range s.Env {
			known = append(known, strings.TrimPrefix(name, envPrefix))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		bare, ours := strings.CutPrefix(name, envPrefix)
		if !ours || slices.Contains(known, bare) {
			continue
		}
		if near := nearest(bare, known); near != "" {
			l.warn("%s sets %s, which is no setting; did you mean %s?", where, name, envPrefix+near)
		}
	}
}

// decode gives Viper the layers and lets it fill the struct. Values are typed before, by our table, so that none of
// Viper's own conversions takes part: it splits lists in two different ways (spec/style.md §3.1).
func (l *loader) decode() *Config {
	l.defaults()
	l.mergeConfig()
	for _, s := range l.table {
		f, ok := l.lookup(s)
		if !ok || f.origin == l.config[s.Key].origin {
			continue
		}
		if v, err := s.parse(f.value, l.src); err != nil {
			l.bad(s, f, err)
		} else {
			l.viper.Set(s.Key, v)
		}
	}
	if l.viper.Get("journal.path") == nil {
		l.viper.SetDefault("journal.path", below(l.viper.GetString("state_dir"), "journal.db"))
	}
	c := &Config{ConfigDir: l.places.config, TempRoot: l.places.temp}
	if err := l.viper.UnmarshalExact(c); err != nil {
		l.fault("settings do not fit together: %w", err)
	}
	for _, s := range l.table {
		value := l.viper.Get(s.Key)
		c.origins = append(c.origins, Origin{Key: s.Key, Value: s.show(value), From: l.from(s.Key).text})
	}
	return c
}

// defaults sets what the table says, and what depends on the system or on the door.
func (l *loader) defaults() {
	for _, s := range l.table {
		if s.Default != nil {
			l.viper.SetDefault(s.Key, s.Default)
		}
	}
	level := "warn"
	if l.src.WorkDirFiles {
		level = "info"
	}
	for key, value := range map[string]string{
		"config": below(l.places.config, configName), "state_dir": l.places.state, "cache_dir": l.places.cache,
		"log.level": level,
	} {
		l.viper.SetDefault(key, value)
	}
}

// mergeConfig checks the whole config file, also what a stronger source hides.
func (l *loader) mergeConfig() {
	tree := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(l.config)) {
		s, f := l.index[key], l.config[key]
		v, err := s.parse(f.value, l.src)
		if err != nil {
			l.bad(s, f, err)
			continue
		}
		group, name, nested := strings.Cut(key, ".")
		if !nested {
			tree[key] = v
			continue
		}
		sub, _ := tree[group].(map[string]any)
		if sub == nil {
			sub = map[string]any{}
			tree[group] = sub
		}
		sub[name] = v
	}
	if err := l.viper.MergeConfigMap(tree); err != nil {
		l.fault("config file %s: %w", l.configPath().path, err)
	}
}

// below joins a name to a directory; without a directory there is no path.
func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, names...)...)
}
