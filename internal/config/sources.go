package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// names of the files that are looked for when none is named.
const (
	configName  = "config.yaml"
	envName     = ".env"
	secretsName = "secrets.yaml"
)

// The kinds of files, as Origin.From and File.Kind say them.
const (
	envKind     = "env file"
	configKind  = "config file"
	secretsKind = "secrets file"
)

// place is a file to read.
type place struct {
	kind    string
	path    string
	named   bool // a person named it: it must exist
	workDir bool // its words are those of whoever owns the working directory
	auto    bool // found in the working directory without being named
}

// origin of what the file says.
func (p place) origin() origin { return origin{text: p.kind + " " + p.path, workDir: p.workDir} }

// named returns the file that a flag or the environment names.
func (l *loader) named(key, kind string) (place, bool) {
	f, ok := l.lookup(l.index[key])
	if !ok {
		return place{}, false
	}
	path := l.src.absolute(f.value.text)
	return place{kind: kind, path: path, named: true, workDir: l.inWorkDir(path)}, true
}

// own is the file of the config directory. It is the person's own, also when that directory is the working directory or
// lies in it, as it does for whoever works in the home directory.
func (l *loader) own(kind, name string) place {
	return place{kind: kind, path: below(l.places.config, name)}
}

// inWorkDir reports whether a file lies in the working directory or below it, however its path is spelled: whoever can
// write there can write its words. What lies in the config directory never does.
func (l *loader) inWorkDir(path string) bool {
	path = resolved(path)
	return within(path, l.src.WorkDir) && !within(path, l.places.config)
}

// within reports whether a resolved path is dir or lies below it; nothing lies in a directory that there is none of.
func within(path, dir string) bool {
	if dir == "" {
		return false
	}
	rel, err := filepath.Rel(resolved(dir), path)
	return err == nil && filepath.IsLocal(rel)
}

// resolved follows the links of a path. What is not there has none.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func (l *loader) configPath() place {
	if p, ok := l.named("config", configKind); ok {
		return p
	}
	return l.own(configKind, configName)
}

// candidates lists the files of one kind: the named one alone, else those of the working directory and of the config
// directory, the first being the stronger.
func (l *loader) candidates(key, kind, name string) []place {
	if p, ok := l.named(key, kind); ok {
		return []place{p}
	}
	own := l.own(kind, name)
	if !l.src.WorkDirFiles || l.src.WorkDir == "" || resolved(l.src.WorkDir) == resolved(l.places.config) {
		return []place{own}
	}
	return []place{{kind: kind, path: filepath.Join(l.src.WorkDir, name), workDir: true, auto: true}, own}
}

// read returns the bytes of a file; false when there is none or when it must not be used, which is then a fault or a
// warning.
func (l *loader) read(p place) ([]byte, facts, bool) {
	if p.path == "" {
		return nil, facts{}, false
	}
	data, about, err := readFile(p.path, p.named)
	if errors.Is(err, fs.ErrNotExist) && !p.named {
		return nil, facts{}, false
	}
	if p.auto {
		if why := strangersFile(p, about, err); why != "" {
			l.warn("%s is not read: %s; name it with --%s to read it anyway", p.origin().text, why,
				strings.ReplaceAll(p.kind, " ", "-"))
			return nil, facts{}, false
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.fault("%s does not exist; name a file that does", p.origin().text)
		return nil, facts{}, false
	case err != nil:
		l.fault("%s cannot be read: %w", p.origin().text, err)
		return nil, facts{}, false
	case about.writable:
		l.warn("%s can be changed by others; make it yours and run chmod go-w on it", p.origin().text)
	}
	l.files = append(l.files, File{Kind: p.kind, Path: p.path})
	return data, about, true
}

// strangersFile says why a file that was found in the working directory is not used, "" when it is.
func strangersFile(p place, about facts, err error) string {
	if err != nil {
		return err.Error()
	}
	if why := strangersDir(filepath.Dir(p.path)); why != "" {
		return why
	}
	if about.writable {
		return "others can change it"
	}
	return ""
}

func (l *loader) readEnvFiles() {
	for _, p := range l.candidates("env_file", envKind, envName) {
		data, about, ok := l.read(p)
		if !ok {
			continue
		}
		values, err := parseEnvFile(data)
		if err != nil {
			l.fault("%s, %w", p.origin().text, err)
			continue
		}
		v := variables{values: values, origin: func(string) origin { return p.origin() }}
		l.variables = append(l.variables, v)
		l.nearVariables(values, p.origin().text)
		l.lookAtVariables(p, about, v)
		l.lookAtReferences(p, lostReferences(data, values))
	}
}

// lookAtReferences warns about settings whose value in an env file lost a part.
func (l *loader) lookAtReferences(p place, lost []string) {
	for _, s := range l.table {
		for _, name := range s.Env {
			if slices.Contains(lost, name) {
				l.warn("%s: the value of %s has a $ that names nothing in the file and was dropped; "+
					"put the value in single quotes to keep it", p.origin().text, name)
			}
		}
	}
}

// lookAtVariables warns about variables of an env file that have no effect there, and about keys that others can read.
func (l *loader) lookAtVariables(p place, about facts, v variables) {
	for _, s := range l.table {
		if _, ok := v.find(s); !ok {
			continue
		}
		if s.Bootstrap {
			l.warn("%s sets %s, which only --%s or the environment can set", p.origin().text, s.Env[0], s.Flag)
		}
		if s.Secret && about.readable {
			l.warn("%s holds a key and can be read by others; run chmod 600 on it", p.origin().text)
		}
	}
}

func (l *loader) readConfigFile() {
	l.config = layer{}
	p := l.configPath()
	data, about, ok := l.read(p)
	if !ok {
		return
	}
	entries, faults := parseConfig(data, l.table)
	for _, err := range faults {
		l.fault("%s, %w", p.origin().text, err)
	}
	for _, e := range entries {
		if l.index[e.key].unset(e.value) {
			continue
		}
		l.config[e.key] = found{e.value, p.origin()}
		if l.index[e.key].Secret && about.readable {
			l.warn("%s holds a key and can be read by others; run chmod 600 on it", p.origin().text)
		}
	}
}

// parseConfig reads a config file; its keys are those of the table that are not Bootstrap.
func parseConfig(data []byte, table []Setting) ([]entry, []error) {
	var keys []string
	byVariable := map[string]string{}
	bootstrap := map[string]Setting{}
	for _, s := range table {
		if s.Bootstrap {
			bootstrap[s.Key] = s
			continue
		}
		keys = append(keys, s.Key)
		for _, name := range s.Env {
			byVariable[name] = s.Key
		}
	}
	return newSchema(keys, func(key string) string {
		if s, ok := bootstrap[key]; ok {
			return fmt.Sprintf("; only --%s or %s can set it", s.Flag, s.Env[0])
		}
		near := byVariable[key]
		if near == "" {
			near = nearest(key, keys)
		}
		if near == "" {
			return "; `mediagen config show` lists the keys"
		}
		return fmt.Sprintf("; did you mean %q?", near)
	}).flatten(data)
}

// readSecretsFiles comes last: it must know whether the policy is strict.
func (l *loader) readSecretsFiles() {
	strict := l.strict()
	for _, p := range l.candidates("secrets_file", secretsKind, secretsName) {
		data, about, ok := l.read(p)
		if !ok || !l.private(p, about, strict) {
			continue
		}
		secrets, faults := parseSecrets(data)
		for _, err := range faults {
			l.fault("%s, %w", p.origin().text, err)
		}
		found := secrets.layer(p.origin())
		for _, note := range secrets.notes {
			l.warn("%s: %s", p.origin().text, note)
		}
		l.secrets = append(l.secrets, found)
	}
}

// strict reports policy.strict before everything is decoded; a bad value is reported later.
func (l *loader) strict() bool {
	f, ok := l.lookup(l.index["policy.strict"])
	if !ok {
		return false
	}
	on, err := parseBool(f.value.text)
	return on && err == nil
}

// private checks that a secrets file is its owner's alone. A careless one is a warning, and a fault under a strict
// policy.
func (l *loader) private(p place, about facts, strict bool) bool {
	var why []string
	if about.symlink {
		why = append(why, "is a symbolic link")
	}
	if about.foreign {
		why = append(why, "belongs to another user")
	}
	if about.readable {
		why = append(why, "is open to its group or to others")
	}
	if len(why) == 0 {
		return true
	}
	const remedy = "keep it as a file of your own and run chmod 600 on it"
	text := strings.Join(slices.Compact(why), " and ")
	if strict {
		l.fault("%s %s, which policy.strict refuses; %s", p.origin().text, text, remedy)
		return false
	}
	l.warn("%s %s; %s", p.origin().text, text, remedy)
	return true
}
