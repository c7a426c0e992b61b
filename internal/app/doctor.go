package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"mediagen/internal/buildinfo"
	"mediagen/internal/catalog"
	"mediagen/internal/cli"
	"mediagen/internal/engine"
	"mediagen/internal/imaging"
)

// doctor looks at the set-up without sending anything.
func (a *app) doctor(ctx context.Context, f *pflag.FlagSet) (cli.Report, error) {
	if err := a.load(f); err != nil {
		return nil, err
	}
	b := buildinfo.Read()
	r := cli.Report{{Name: "version", Status: cli.CheckOK, Detail: fmt.Sprintf("%s, %s, %s/%s", b.Version, b.Go, b.OS, b.Arch)}}
	r = append(r, a.checkSettings()...)
	r = append(r, a.checkKeys()...)
	r = append(r, a.checkDirs()...)
	r = append(r, a.checkJournal(ctx), checkImaging())
	return append(r, a.checkModels()...), nil
}

func (a *app) checkSettings() cli.Report {
	var names []string
	for _, f := range a.cfg.Files() {
		names = append(names, f.Kind+" "+f.Path)
	}
	detail := "no file was read; " + a.cfg.ConfigFile + " would be"
	if len(names) > 0 {
		detail = "read " + strings.Join(names, ", ")
	}
	r := cli.Report{{Name: "settings", Status: cli.CheckOK, Detail: detail}}
	for _, w := range a.cfg.Warnings() {
		r = append(r, cli.Check{Name: "settings", Status: cli.CheckWarn, Detail: w})
	}
	return r
}

// checkKeys tells which keys are there by the name of the variable or file, never by value.
func (a *app) checkKeys() cli.Report {
	var r cli.Report
	for _, o := range a.cfg.Origins() {
		if !strings.HasSuffix(o.Key, ".api_key") || o.From == "default" {
			continue
		}
		r = append(r, cli.Check{Name: "key", Status: cli.CheckOK, Detail: o.Key + " is set, from " + o.From})
	}
	ready := (&providers{app: a}).Keyed()
	if len(ready) == 0 {
		return append(r, cli.Check{Name: "providers", Status: cli.CheckWarn,
			Detail: "none is ready: set OPENAI_API_KEY or AZURE_OPENAI_API_KEY; --provider emulator needs no key"})
	}
	return append(r, cli.Check{Name: "providers", Status: cli.CheckOK,
		Detail: strings.Join(ready, ", ") + " ready; emulator always"})
}

func (a *app) checkDirs() cli.Report {
	if err := a.openWorkspace(); err != nil {
		return cli.Report{{Name: "directories", Status: cli.CheckFail, Detail: engine.AsError(err).Message}}
	}
	d := a.ws.Describe()
	r := cli.Report{{Name: "policy", Status: cli.CheckOK, Detail: d.Policy}}
	for _, root := range d.Roots {
		status, words := cli.CheckOK, []string{root.Path}
		if root.Primary {
			words = append(words, "(output)")
		}
		if !root.Writable {
			words = append(words, "read only")
			if root.Primary {
				status = cli.CheckWarn
			}
		}
		r = append(r, cli.Check{Name: "directory", Status: status, Detail: strings.Join(words, " ")})
	}
	for _, w := range a.ws.Warnings() {
		r = append(r, cli.Check{Name: "directories", Status: cli.CheckWarn, Detail: w})
	}
	return append(r, cli.Check{Name: "spool", Status: cli.CheckOK, Detail: d.Spool})
}

func (a *app) checkJournal(ctx context.Context) cli.Check {
	if !a.cfg.Journal.Enabled {
		return cli.Check{Name: "journal", Status: cli.CheckWarn, Detail: "switched off; paid calls leave no trace"}
	}
	if _, err := a.openJournal(ctx); err != nil {
		return cli.Check{Name: "journal", Status: cli.CheckFail, Detail: engine.AsError(err).Message}
	}
	return cli.Check{Name: "journal", Status: cli.CheckOK, Detail: a.cfg.Journal.Path}
}

func checkImaging() cli.Check {
	e := imaging.Describe()
	detail := fmt.Sprintf("%s %s; reads %s; writes %s", e.Name, e.Version, strings.Join(e.Read, " "), strings.Join(e.Write, " "))
	status := cli.CheckOK
	if len(e.Lacks) > 0 {
		status, detail = cli.CheckWarn, detail+"; lacks "+strings.Join(e.Lacks, ", ")
	}
	return cli.Check{Name: "imaging", Status: status, Detail: detail}
}

// checkModels warns about configured models that end or have ended.
func (a *app) checkModels() cli.Report {
	cat, err := a.catalog()
	if err != nil {
		return cli.Report{{Name: "catalog", Status: cli.CheckFail, Detail: engine.AsError(err).Message}}
	}
	r := cli.Report{{Name: "catalog", Status: cli.CheckOK, Detail: fmt.Sprintf("%d models", len(cat.All("", "")))}}
	for key, id := range map[string]string{"images.model": a.cfg.Images.Model, "images.edit_model": a.cfg.Images.EditModel} {
		m, ok := cat.Lookup(id)
		if !ok {
			continue
		}
		switch m.Status(a.Now()) {
		case catalog.StatusRetired:
			r = append(r, cli.Check{Name: key, Status: cli.CheckFail, Detail: m.ID + " was retired; use " + m.Replacement})
		case catalog.StatusRetiring:
			r = append(r, cli.Check{Name: key, Status: cli.CheckWarn,
				Detail: m.ID + " retires on " + m.Retires.String() + "; use " + m.Replacement})
		case catalog.StatusCurrent:
		}
	}
	return r
}
