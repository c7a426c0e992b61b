package app

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mediagen/internal/buildinfo"
	"mediagen/internal/catalog"
	"mediagen/internal/cli"
	"mediagen/internal/engine"
)

func ok(name, format string, args ...any) cli.Check {
	return cli.Check{Name: name, Status: cli.CheckOK, Detail: fmt.Sprintf(format, args...)}
}

func warning(name, format string, args ...any) cli.Check {
	return cli.Check{Name: name, Status: cli.CheckWarn, Detail: fmt.Sprintf(format, args...)}
}

func failure(name string, err error) cli.Check {
	return cli.Check{Name: name, Status: cli.CheckFail, Detail: engine.AsError(err).Message}
}

// doctor looks at the set-up without sending anything. Settings that cannot be read are the error; what needs none is
// reported beside it.
func (a *app) doctor(ctx context.Context, f *pflag.FlagSet) (cli.Report, error) {
	b := buildinfo.Read()
	r := cli.Report{ok("version", "%s, %s, %s/%s", b.Version, b.Go, b.OS, b.Arch)}
	if err := a.load(f); err != nil {
		return append(r, failure("settings", err), a.checkImaging()), err
	}
	r = append(r, a.checkSettings()...)
	r = append(r, a.checkKeys()...)
	r = append(r, a.checkDirs()...)
	r = append(r, a.checkJournal(ctx), a.checkImaging())
	return append(r, a.checkModels()...), nil
}

func (a *app) checkSettings() cli.Report {
	var names []string
	for _, f := range a.cfg.Files() {
		names = append(names, f.Kind+" "+f.Path)
	}
	r := cli.Report{ok("settings", "read %s", strings.Join(names, ", "))}
	if len(names) == 0 {
		r = cli.Report{ok("settings", "no file was read; %s would be", a.cfg.ConfigFile)}
	}
	for _, w := range a.cfg.Warnings() {
		r = append(r, warning("settings", "%s", w))
	}
	return r
}

// checkKeys tells which keys are there by the name of the variable or file, never by value.
func (a *app) checkKeys() cli.Report {
	var r cli.Report
	for _, o := range a.cfg.Origins() {
		if strings.HasSuffix(o.Key, ".api_key") && o.From != "default" {
			r = append(r, ok("key", "%s is set, from %s", o.Key, o.From))
		}
	}
	p := &providers{app: a}
	lacks := p.azureLacks()
	if a.cfg.Azure.APIKey.IsSet() && len(lacks) > 0 {
		r = append(r, cli.Check{
			Name: "providers", Status: cli.CheckFail,
			Detail: "azure is chosen by its key and still needs " + strings.Join(lacks, ", "),
		})
	}
	var ready []string
	for _, name := range p.Keyed() {
		if name != nameAzure || len(lacks) == 0 {
			ready = append(ready, name)
		}
	}
	if len(ready) == 0 {
		return append(r, warning("providers",
			"none is ready: set OPENAI_API_KEY or AZURE_OPENAI_API_KEY; --provider emulator needs no key"))
	}
	return append(r, ok("providers", "%s ready; emulator always", strings.Join(ready, ", ")))
}

func (a *app) checkDirs() cli.Report {
	if err := a.openWorkspace(); err != nil {
		return cli.Report{failure("directories", err)}
	}
	d := a.ws.Describe()
	r := cli.Report{ok("policy", "%s", d.Policy)}
	for _, root := range d.Roots {
		switch {
		case root.Primary && !root.Writable:
			r = append(r, warning("directory", "%s (output) read only: a pattern takes no output, put a plain directory first",
				root.Path))
		case root.Primary:
			r = append(r, ok("directory", "%s (output)", root.Path))
		case !root.Writable:
			r = append(r, ok("directory", "%s read only", root.Path))
		default:
			r = append(r, ok("directory", "%s", root.Path))
		}
	}
	if a.cfg.OutputDir != "" {
		r = append(r, ok("directory", "%s (output_dir)", a.cfg.OutputDir))
	}
	for _, w := range a.ws.Warnings() {
		r = append(r, warning("directories", "%s", w))
	}
	return append(r, a.checkSpool(d.Spool))
}

// checkSpool tells about pictures that were paid for and wait to be moved to their place.
func (a *app) checkSpool(dir string) cli.Check {
	if dir == "" {
		return warning("spool", "there is no state directory, so paid pictures that cannot be saved have no other place")
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return failure("spool", fmt.Errorf("%s cannot be read: %w", dir, err))
	}
	if len(entries) == 0 {
		return ok("spool", "%s, empty", dir)
	}
	holds := fmt.Sprintf("%s holds %d files", dir, len(entries))
	if len(entries) == 1 {
		holds = dir + " holds 1 file"
	}
	if !a.cfg.Journal.Enabled {
		return warning("spool", "%s; the journal, which knows their place, is switched off", holds)
	}
	return warning("spool", "%s; see: mediagen jobs list --state succeeded, then jobs resume", holds)
}

func (a *app) checkJournal(ctx context.Context) cli.Check {
	if !a.cfg.Journal.Enabled {
		return warning("journal", "switched off; paid calls leave no trace")
	}
	if _, err := a.openJournal(ctx); err != nil {
		return failure("journal", err)
	}
	return ok("journal", "%s", a.cfg.Journal.Path)
}

func (a *app) checkImaging() cli.Check {
	e := a.imaging(true)
	c := ok("imaging", "%s %s; reads %s; writes %s", e.Name, e.Version, strings.Join(e.Read, " "),
		strings.Join(e.Write, " "))
	if len(e.Lacks) > 0 {
		c.Detail += "; lacks " + strings.Join(e.Lacks, ", ")
	}
	if !slices.Contains(e.Write, "avif") { // a libvips without its codec: the rest of the list is by design
		c.Status = cli.CheckWarn
	}
	return c
}

// checkModels warns about configured models that end or have ended, or that nothing is known of.
func (a *app) checkModels() cli.Report {
	cat, err := a.catalog()
	if err != nil {
		return cli.Report{failure("catalog", err)}
	}
	r := cli.Report{ok("catalog", "%d models", len(cat.All("", "")))}
	for _, set := range [][2]string{{"images.model", a.cfg.Images.Model}, {"images.edit_model", a.cfg.Images.EditModel}} {
		key, id := set[0], set[1]
		if id == "" {
			continue
		}
		m, known := cat.Lookup(id)
		if !known {
			r = append(r, warning(key, "%s is not in the catalog; its limits and price are not known", id))
			continue
		}
		switch m.Status(a.Now()) {
		case catalog.StatusRetired:
			c := warning(key, "%s was retired; %s", m.ID, instead(m))
			if !(&providers{app: a}).compatible() { // another server may go on serving it
				c.Status = cli.CheckFail
			}
			r = append(r, c)
		case catalog.StatusRetiring:
			r = append(r, warning(key, "%s retires on %s; %s", m.ID, m.Retires, instead(m)))
		case catalog.StatusCurrent:
			r = append(r, ok(key, "%s", m.ID))
		}
	}
	return r
}

func instead(m catalog.Model) string {
	if m.Replacement == "" {
		return "its vendor names no replacement"
	}
	return "use " + m.Replacement
}
