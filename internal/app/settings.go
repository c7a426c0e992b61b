package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"mediagen/internal/catalog"
	"mediagen/internal/cli"
	"mediagen/internal/config"
	"mediagen/internal/fault"
)

// maxCatalogFile bounds the user's catalog file, in bytes.
const maxCatalogFile = 1 << 20

// catalog returns the built-in catalog, with the user's rows where a file is set.
func (a *app) catalog() (*catalog.Catalog, error) {
	path := a.cfg.CatalogFile
	if path == "" {
		return catalog.New(nil)
	}
	f, err := os.Open(path) //nolint:gosec // the operator's own setting
	if err != nil {
		return nil, fault.Caused(fault.ConfigInvalid, err, "catalog_file %s cannot be read", path)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, maxCatalogFile+1))
	if err != nil || len(data) > maxCatalogFile {
		return nil, fault.Caused(fault.ConfigInvalid, err, "catalog_file %s cannot be read, or is larger than %d bytes", path,
			maxCatalogFile)
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

// initConfig writes the sample file. It may hold keys later, so it is the user's alone from the start.
func (a *app) initConfig(_ context.Context, f *pflag.FlagSet, overwrite bool) (string, error) {
	path, err := a.configPath(f)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fault.Caused(fault.IOFailed, err, "the directory of %s cannot be made", path)
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if overwrite {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	out, err := os.OpenFile(path, mode, 0o600) //nolint:gosec // the person's own config file
	if errors.Is(err, fs.ErrExist) {
		return "", fault.New(fault.Exists, "%s exists; --overwrite replaces it", path)
	}
	if err != nil {
		return "", fault.Caused(fault.IOFailed, err, "%s cannot be written", path)
	}
	_, err = out.Write(config.Sample())
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", fault.Caused(fault.IOFailed, err, "%s cannot be written", path)
	}
	return path, nil
}
