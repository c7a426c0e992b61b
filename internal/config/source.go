package config

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/pflag"
)

// Source is everything that Load may look at besides the files it names. Nothing else is read: no process environment,
// no working directory.
type Source struct {
	ConfigFile  string // as if given by --config; a changed flag wins
	EnvFile     string // as if given by --env-file
	SecretsFile string // as if given by --secrets-file

	Environ []string       // NAME=value, as os.Environ returns it
	WorkDir string         // absolute; relative paths start here
	HomeDir string         // absolute, or "" when there is none
	Flags   *pflag.FlagSet // flags of RegisterFlags; nil = none

	WorkDirFiles bool // mcp serve: .env and secrets.yaml of WorkDir count
	Strict       bool // policy.strict, whatever else says so
}

// name of our directories below the system's places.
const appName = "mediagen"

// places are the directories that the system gives a program.
type places struct {
	config, state, cache string // "" without a home directory
	temp                 string // where tool-contract §3.3 puts the MCP default directory
}

// placesFor follows the XDG base directory specification, which ignores relative values, and the native places of macOS
// and Windows. XDG variables win on every system, for a person who set them meant it.
func placesFor(goos string, env map[string]string, home string) places {
	var p places
	switch goos {
	case "windows":
		p.config = below(env["APPDATA"], appName)
		p.state = below(env["LOCALAPPDATA"], appName, "state")
		p.cache = below(env["LOCALAPPDATA"], appName, "cache")
	case "darwin", "ios":
		p.config = below(home, "Library", "Application Support", appName)
		p.state = below(home, "Library", "Application Support", appName, "state")
		p.cache = below(home, "Library", "Caches", appName)
	default:
		p.config = below(home, ".config", appName)
		p.state = below(home, ".local", "state", appName)
		p.cache = below(home, ".cache", appName)
	}
	for name, dir := range map[string]*string{
		"XDG_CONFIG_HOME": &p.config, "XDG_STATE_HOME": &p.state, "XDG_CACHE_HOME": &p.cache,
	} {
		if filepath.IsAbs(env[name]) {
			*dir = filepath.Join(env[name], appName)
		}
	}
	p.temp = tempRoot(goos, env)
	return p
}

// tempRoot is the reference's default root: a fixed place on POSIX systems, %TEMP% or %TMP% on Windows.
func tempRoot(goos string, env map[string]string) string {
	const name = "media-gen-mcp"
	if goos != "windows" {
		return "/tmp/" + name
	}
	for _, variable := range []string{"TEMP", "TMP"} {
		if env[variable] != "" {
			return filepath.Join(env[variable], name)
		}
	}
	if env["LOCALAPPDATA"] != "" {
		return filepath.Join(env["LOCALAPPDATA"], "Temp", name)
	}
	return ""
}

// environment turns NAME=value lines into a map. The first of two equal names wins, as in package os; names are upper
// case on Windows, where case does not count.
func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, line := range environ {
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" {
			continue
		}
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		if _, seen := env[name]; !seen {
			env[name] = value
		}
	}
	return env
}

// absolute makes a path that a person wrote absolute. A leading ~/ is the home directory, for files and MCP clients
// pass it on unexpanded.
func (s Source) absolute(path string) string {
	path = s.home(path)
	if path == "" || filepath.IsAbs(path) || s.WorkDir == "" {
		return path
	}
	return filepath.Join(s.WorkDir, path)
}

func (s Source) home(path string) string {
	if s.HomeDir == "" || path == "" || path[0] != '~' {
		return path
	}
	if path == "~" {
		return s.HomeDir
	}
	if path[1] == '/' || path[1] == filepath.Separator {
		return filepath.Join(s.HomeDir, path[2:])
	}
	return path
}

// Path returns the config file that Load reads, or would read if it existed; "" when there is no place for one.
func Path(s Source) string {
	return newLoader(s).configPath().path
}
