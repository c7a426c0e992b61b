package engine

import (
	"context"
	"encoding/json"

	"mediagen/internal/journal"
)

// settleOrphans gives the jobs whose process died the state that is true of them, so that a look into the journal finds
// every call that may have been billed by its state alone. A journal that cannot be written is still read: such jobs
// are shown as orphaned then.
func (e *Engine) settleOrphans(ctx context.Context, jr *journal.Journal) {
	rows, err := jr.List(ctx, journal.Filter{States: []journal.State{journal.StatePlanned, journal.StateSent}})
	if err != nil {
		e.cfg.Log.Debug("orphaned jobs not looked for", "cause", err.Error())
		return
	}
	for _, row := range rows {
		if !journal.Orphaned(row) {
			continue
		}
		if err := jr.Update(ctx, row.ID, orphaned(row)); err != nil {
			e.cfg.Log.Debug("orphaned job not settled", "job", row.ID, "cause", err.Error())
		}
	}
}

// orphaned is what is known of a job whose process died.
func orphaned(row journal.Job) journal.Update {
	if row.State == journal.StatePlanned {
		return journal.Update{State: journal.StateCancelled, Err: &journal.JobError{
			Kind: string(KindInterrupted), Code: "process_ended", Billed: string(BilledNo),
			Message: "its process ended before anything was sent; nothing was billed",
		}}
	}
	saved, spooled := 0, 0
	for _, a := range row.Assets {
		switch {
		case a.Partial > 0:
		case a.SpoolPath != "":
			spooled++
		case a.Path != "":
			saved++
		}
	}
	switch want := wanted(row); {
	case saved >= want:
		return journal.Update{State: journal.StateLanded}
	case saved+spooled >= want:
		return journal.Update{State: journal.StateSucceeded}
	}
	return journal.Update{State: journal.StateUnknown, Err: &journal.JobError{
		Kind: string(KindUnknownOutcome), Code: "process_ended", Billed: string(BilledMaybe),
		Message: "its process ended before the answer was complete; it may have been billed",
	}}
}

// wanted is how many pictures a job asked for.
func wanted(row journal.Job) int {
	var params struct {
		N int `json:"n"`
	}
	if json.Unmarshal(row.Params, &params) != nil { // a row of another version
		return 1
	}
	return max(params.N, 1)
}
