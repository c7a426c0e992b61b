package config_test

import (
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"mediagen/internal/config"
	"mediagen/internal/fault"
)

// paths lists the dotted keys of a decoded document that hold something other than a mapping, or an unknown mapping.
func paths(value any, prefix string, known map[string]bool, out *[]string) {
	m, ok := value.(map[string]any)
	if !ok || known[prefix] {
		*out = append(*out, prefix)
		return
	}
	for key, v := range m {
		full := key
		if prefix != "" {
			full = prefix + "." + key
		}
		paths(v, full, known, out)
	}
}

// FuzzConfigFile: any bytes as a config file never panic, and a key that is not in the table is always an error. YAML's
// own decoder, which Load does not use for this, is the judge of what keys there are.
func FuzzConfigFile(f *testing.F) {
	f.Add([]byte("timeout: 1s\nopenai: {api_key: k}\n"))
	f.Add([]byte("timeot: 1s\n"))
	f.Add([]byte("log.level: info\nlog:\n  format: json\n"))
	f.Add([]byte("a: &a {b: *a}\n"))
	f.Add([]byte("log: &l {level: info}\nmcp: *l\n"))
	f.Add([]byte("<<: {timeout: 1s}\n"))
	f.Add([]byte("dirs: [a, 'b,c']\nfetch: {ports: [80, 443]}\n---\nx: 1\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Add([]byte("log: {level: info}}\n"))
	f.Add(config.Sample())
	known, groups := map[string]bool{}, map[string]bool{"": true}
	for _, s := range config.Settings() {
		if !s.Bootstrap {
			known[s.Key] = true
			group, _, _ := strings.Cut(s.Key, ".")
			groups[group] = true
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src := config.Source{HomeDir: "/nonexistent", WorkDir: t.TempDir()}
		src.ConfigFile = src.WorkDir + "/c.yaml"
		if err := os.WriteFile(src.ConfigFile, data, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(src)
		if err != nil {
			if fault.CodeOf(err) != fault.ConfigInvalid || err.Error() == "" {
				t.Fatalf("error %v has code %q", err, fault.CodeOf(err))
			}
			return
		}
		if len(c.Origins()) != len(config.Settings()) {
			t.Fatal("not every setting has an origin")
		}
		var doc map[string]any
		if err := yaml.Unmarshal(data, &doc); err != nil {
			t.Fatalf("Load accepted what YAML refuses: %v", err)
		}
		var all []string
		paths(doc, "", known, &all)
		for _, key := range all {
			if !known[key] && !groups[key] {
				t.Fatalf("unknown key %q was accepted", key)
			}
		}
	})
}

// FuzzEnvFile: any bytes as an env file never panic, and no line of it gets into the message.
func FuzzEnvFile(f *testing.F) {
	f.Add([]byte("OPENAI_API_KEY=k\n"))
	f.Add([]byte("export A=\"1\n2\"\n!\n"))
	f.Add([]byte("A=${A}\n=x\n\ufeff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		src := config.Source{HomeDir: "/nonexistent", WorkDir: t.TempDir()}
		src.EnvFile = src.WorkDir + "/e"
		const marker = "zq7Marker7qz"
		data = append(data, "\n!"+marker+" \"\n"...)
		if err := os.WriteFile(src.EnvFile, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(src); err != nil && strings.Contains(err.Error(), marker) {
			t.Fatalf("the message quotes the file: %v", err)
		}
	})
}

// FuzzSecretsFile: any bytes as a secrets file never panic, and no value gets into the message.
func FuzzSecretsFile(f *testing.F) {
	f.Add([]byte("openai: {api_key: k}\n"))
	f.Add([]byte("google:\n  vertex_ai: {enabled: yes}\n"))
	f.Add([]byte("azure: &a {api_key: *a}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		src := config.Source{HomeDir: "/nonexistent", WorkDir: t.TempDir()}
		src.SecretsFile = src.WorkDir + "/s"
		if err := os.WriteFile(src.SecretsFile, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(src); err != nil && fault.CodeOf(err) != fault.ConfigInvalid {
			t.Fatalf("error %v has code %q", err, fault.CodeOf(err))
		}
	})
}
