package app

import (
	"context"
	"os"
	"time"

	"github.com/spf13/pflag"

	"mediagen/internal/cli"
	"mediagen/internal/journal"
)

// Completion answers while a person waits for the next key.
const (
	completeTime = time.Second           // gives up; answering takes milliseconds
	completeBusy = 50 * time.Millisecond // how long a journal that another process writes to may keep it waiting
	completeJobs = 50                    // as many as fit a screen
)

// completeJobs returns the newest jobs. A journal that is not there is not made, and one that cannot be read at once
// completes nothing.
func (a *app) completeJobs(ctx context.Context, f *pflag.FlagSet) []cli.Candidate {
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	if a.load(f) != nil || !a.cfg.Journal.Enabled {
		return nil
	}
	if _, err := os.Stat(a.cfg.Journal.Path); err != nil {
		return nil
	}
	j, err := a.openJournalWith(ctx, journal.Options{Now: a.Now, BusyTimeout: completeBusy})
	if err != nil {
		return nil
	}
	rows, err := j.List(ctx, journal.Filter{Limit: completeJobs})
	if err != nil {
		return nil
	}
	out := make([]cli.Candidate, 0, len(rows))
	for _, r := range rows {
		about := string(r.State) + ", " + r.Op + ", " + r.Created.Local().Format("2006-01-02 15:04")
		out = append(out, cli.Candidate{Word: r.ID, About: about})
	}
	return out
}

// completeModels returns the models of the catalog, the user's included.
func (a *app) completeModels(_ context.Context, f *pflag.FlagSet) []cli.Candidate {
	cat := a.builtIn()
	if a.load(f) == nil {
		if own, err := a.catalog(); err == nil {
			cat = own
		}
	}
	var out []cli.Candidate
	for _, m := range cat.All("", "") {
		out = append(out, cli.Candidate{Word: m.ID, About: m.Provider + " " + m.Kind + ", " + string(m.Status(a.Now()))})
	}
	return out
}
