package config_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"mediagen/internal/config"
)

// layerNames are the places of one value in TestEveryCombinationOfLayers, strongest first.
var layerNames = []string{
	"secrets file of the working directory", "secrets file", "own variable", "other variable",
	"env file of the working directory", "env file", "config file",
}

// Any set of layers may be there: the strongest of them wins, whichever they are. 2^7 combinations of a secret and 2^7
// of a plain setting that a secrets file also has are all tried.
func TestEveryCombinationOfLayers(t *testing.T) {
	t.Parallel()
	settings := []struct{ key, own, other, secret, config string }{
		{
			"openai.api_key", "MEDIA_GEN_OPENAI_API_KEY", "OPENAI_API_KEY",
			"openai: {api_key: %s}\n", "openai: {api_key: %s}\n",
		},
		{
			"azure.deployment", "MEDIA_GEN_AZURE_DEPLOYMENT", "AZURE_OPENAI_DEPLOYMENT",
			"azure: {api_key: k, azure_deployment: %s}\n", "azure: {deployment: %s}\n",
		},
	}
	for _, s := range settings {
		t.Run(s.key, func(t *testing.T) {
			t.Parallel()
			for mask := range 1 << len(layerNames) {
				src := source(t)
				src.WorkDirFiles = true
				dir := configDir(t, src)
				value := func(layer int) string { return "v" + strconv.Itoa(layer) }
				for layer := range layerNames {
					if mask&(1<<layer) == 0 {
						continue
					}
					text := value(layer)
					switch layer {
					case 0:
						write(t, src.WorkDir+"/secrets.yaml", fmt.Sprintf(s.secret, text))
					case 1:
						write(t, dir+"/secrets.yaml", fmt.Sprintf(s.secret, text))
					case 2:
						src.Environ = append(src.Environ, s.own+"="+text)
					case 3:
						src.Environ = append(src.Environ, s.other+"="+text)
					case 4:
						write(t, src.WorkDir+"/.env", s.other+"="+text+"\n")
					case 5:
						write(t, dir+"/.env", s.own+"="+text+"\n")
					case 6:
						write(t, dir+"/config.yaml", fmt.Sprintf(s.config, text))
					}
				}
				want := ""
				for layer := 0; layer < len(layerNames) && want == ""; layer++ {
					if mask&(1<<layer) != 0 {
						want = value(layer)
					}
				}
				got := plain(fields(load(t, src))[s.key])
				if got != want {
					t.Fatalf("layers %s: %v, want %q", layers(mask), got, want)
				}
			}
		})
	}
}

func layers(mask int) string {
	var names []string
	for i, name := range layerNames {
		if mask&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// The settings with a flag: flag, variable, env file and config file in every combination.
func TestEveryCombinationWithAFlag(t *testing.T) {
	t.Parallel()
	flags := 0
	for _, s := range config.Settings() {
		if s.Flag == "" || s.Bootstrap || s.Kind != config.KindDuration && s.Kind != config.KindMoney {
			continue
		}
		flags++
		unit := ""
		if s.Kind == config.KindDuration {
			unit = "s"
		}
		for mask := range 16 {
			src := source(t)
			dir := configDir(t, src)
			value := func(layer int) string { return strconv.Itoa(layer+1) + unit }
			var args []string
			if mask&1 != 0 {
				args = []string{"--" + s.Flag, value(0)}
			}
			if mask&2 != 0 {
				src.Environ = []string{s.Env[0] + "=" + value(1)}
			}
			if mask&4 != 0 {
				write(t, dir+"/.env", s.Env[0]+"="+value(2)+"\n")
			}
			if mask&8 != 0 {
				write(t, dir+"/config.yaml", s.Key+": "+value(3)+"\n")
			}
			want := ""
			for layer := 0; layer < 4 && want == ""; layer++ {
				if mask&(1<<layer) != 0 {
					want = value(layer)
				}
			}
			c := load(t, withFlags(t, src, args...))
			if got := originOf(t, c, s.Key).Value; got != want {
				t.Errorf("%s, layers %04b: %q, want %q", s.Key, mask, got, want)
			}
		}
	}
	if flags != 2 {
		t.Errorf("%d settings tried, want timeout and cost.max", flags)
	}
}
