package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"

	"mediagen/internal/catalog"
	"mediagen/internal/cli"
	"mediagen/internal/config"
	"mediagen/internal/fault"
	"mediagen/internal/redact"
)

// maxCatalogFile bounds the user's catalog file, in bytes.
const maxCatalogFile = 1 << 20

// source tells the settings where to look.
func (a *app) source(f *pflag.FlagSet) config.Source {
	return config.Source{Environ: a.Environ, WorkDir: a.WorkDir, HomeDir: a.HomeDir, Flags: f}
}

// load reads the settings. From here on the scrubber knows every key.
func (a *app) load(f *pflag.FlagSet) error {
	cfg, err := config.Load(a.source(f))
	if err != nil {
		return err
	}
	if cfg.Cost.MaxPerDay > 0 {
		// A cap that caps nothing would be worse than none.
		return fault.New(fault.ConfigInvalid, "cost.max_per_day is not enforced by this version; remove it").
			WithHint("cap each call with cost.max or --max-cost")
	}
	a.cfg = cfg
	a.scrub = redact.NewScrubber(cfg.Secrets()...)
	return nil
}

// settingWords returns the words that the flags of settings take. The table of settings is read when it is first asked.
func settingWords() func(flag string) []string {
	byFlag := sync.OnceValue(func() map[string][]string {
		words := map[string][]string{}
		for _, s := range config.Settings() {
			words[s.Flag] = s.Words
		}
		delete(words, "") // settings without a flag
		return words
	})
	return func(flag string) []string { return byFlag()[flag] }
}

// catalog returns the built-in catalog, with the user's rows where a file is set.
func (a *app) catalog() (*catalog.Catalog, error) {
	path := a.cfg.CatalogFile
	if path == "" {
		return a.builtIn(), nil
	}
	if !opens(path, false) {
		return nil, fault.New(fault.ConfigInvalid, "catalog_file %s is not a regular file; name a YAML file with models",
			path)
	}
	f, err := os.Open(path) //nolint:gosec // the operator's own setting
	if err != nil {
		return nil, fault.Caused(fault.ConfigInvalid, err, "catalog_file %s cannot be read", path)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, maxCatalogFile+1))
	if err != nil {
		return nil, fault.Caused(fault.ConfigInvalid, err, "catalog_file %s cannot be read", path)
	}
	if len(data) > maxCatalogFile {
		return nil, fault.New(fault.ConfigInvalid, "catalog_file %s is larger than %d bytes; name a YAML file with models",
			path, maxCatalogFile)
	}
	return catalog.NewNamed(path, data)
}

func (a *app) showConfig(f *pflag.FlagSet) ([]cli.SettingRow, []string, error) {
	if err := a.load(f); err != nil {
		return nil, nil, err
	}
	var rows []cli.SettingRow
	for _, o := range a.cfg.Origins() {
		rows = append(rows, cli.SettingRow{Key: o.Key, Value: o.Value, From: o.From})
	}
	return rows, a.cfg.Warnings(), nil
}

func (a *app) configPath(f *pflag.FlagSet) (string, error) {
	path := config.Path(a.source(f))
	if path == "" {
		return "", fault.New(fault.ConfigInvalid, "there is no home directory to hold a config file; name one with --config")
	}
	return path, nil
}

// initConfig writes the sample file. It may hold keys later, so it is the user's alone from the start. It appears whole
// or not at all.
func (a *app) initConfig(_ context.Context, f *pflag.FlagSet, overwrite bool) (string, error) {
	path, err := a.configPath(f)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fault.Caused(fault.IOFailed, err, "the directory of %s cannot be made", path)
	}
	switch _, err := os.Lstat(path); {
	case err == nil && !overwrite:
		return "", fault.New(fault.Exists, "%s exists; --overwrite replaces it", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", fault.Caused(fault.IOFailed, err, "%s cannot be looked at", path)
	}
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // a link to a file that is kept elsewhere stays one
	}
	if err := writeWhole(target, config.Sample()); err != nil {
		return "", fault.Caused(fault.IOFailed, err, "%s cannot be written", path)
	}
	return path, nil
}

// writeWhole writes a file of mode 0600 by way of a temporary sibling.
func writeWhole(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".mediagen-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when all went well
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
