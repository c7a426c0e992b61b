package engine

import (
	"context"
	"encoding/json"
	"time"

	"mediagen/internal/fault"
	"mediagen/internal/journal"
)

// Job is a row of the journal as both doors show it.
type Job struct {
	ID         string          `json:"id"`
	State      string          `json:"state"`
	Op         string          `json:"op"`
	Provider   string          `json:"provider"`
	Model      string          `json:"model"`
	Endpoint   string          `json:"endpoint"`
	Created    time.Time       `json:"created"`
	Updated    time.Time       `json:"updated"`
	Sent       *time.Time      `json:"sent,omitempty"`
	RequestID  string          `json:"request_id,omitempty"`
	RequestKey string          `json:"request_key"`
	Prompt     string          `json:"prompt,omitempty"`
	Params     json.RawMessage `json:"params,omitempty"`
	Targets    []string        `json:"targets,omitempty"`
	Assets     []Asset         `json:"assets"`
	Usage      json.RawMessage `json:"usage,omitempty"`
	Cost       Cost            `json:"cost"`
	Estimate   Cost            `json:"estimate"`
	Orphaned   bool            `json:"orphaned,omitempty"` // its process died before it noted an outcome
	Error      *JobError       `json:"error,omitempty"`
}

// JobError is what a job ended with.
type JobError struct {
	Kind    string `json:"kind"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Billed  string `json:"billed"`
}

// JobFilter selects jobs; zero fields select everything.
type JobFilter struct {
	States   []string
	Provider string
	Model    string
	Since    time.Time
	Limit    int
}

// ListJobs returns jobs, newest first.
func (e *Engine) ListJobs(ctx context.Context, f JobFilter) ([]Job, error) {
	jr, err := e.jobs(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]journal.State, 0, len(f.States))
	for _, s := range f.States {
		state, err := parseState(s)
		if err != nil {
			return nil, AsError(err)
		}
		states = append(states, state)
	}
	e.settleOrphans(ctx, jr)
	rows, err := jr.List(ctx, journal.Filter{
		States: states, Provider: f.Provider, Model: f.Model, Since: f.Since, Limit: f.Limit,
	})
	if err != nil {
		return nil, AsError(err)
	}
	jobs := make([]Job, 0, len(rows))
	for _, r := range rows {
		jobs = append(jobs, jobOf(r))
	}
	return jobs, nil
}

func parseState(word string) (journal.State, error) {
	for _, s := range journal.States() {
		if string(s) == word {
			return s, nil
		}
	}
	return "", fault.New(fault.InvalidArgument, "state %q is unknown; there are %v", word, journal.States())
}

// JobStates returns the words that a filter takes.
func JobStates() []string {
	var words []string
	for _, s := range journal.States() {
		words = append(words, string(s))
	}
	return words
}

// ShowJob returns one job by its id or a unique prefix of it.
func (e *Engine) ShowJob(ctx context.Context, id string) (Job, error) {
	jr, err := e.jobs(ctx)
	if err != nil {
		return Job{}, err
	}
	e.settleOrphans(ctx, jr)
	row, err := jr.Get(ctx, id)
	if err != nil {
		return Job{}, AsError(err)
	}
	return jobOf(row), nil
}

// ForgetJobs removes rows from the journal, never files. Without force, jobs that are not final are refused.
func (e *Engine) ForgetJobs(ctx context.Context, ids []string, force bool) (int, error) {
	jr, err := e.jobs(ctx)
	if err != nil {
		return 0, err
	}
	full := make([]string, 0, len(ids))
	for _, id := range ids {
		row, err := jr.Get(ctx, id)
		if err != nil {
			return 0, AsError(err)
		}
		full = append(full, row.ID)
	}
	forget := jr.Forget
	if force {
		forget = jr.ForgetAny
	}
	n, err := forget(ctx, full...)
	if err != nil {
		return n, AsError(err)
	}
	return n, nil
}

func (e *Engine) jobs(ctx context.Context) (*journal.Journal, error) {
	jr, err := e.openJournal(ctx)
	if err != nil {
		return nil, AsError(err)
	}
	if jr == nil {
		return nil, AsError(errNoJournal())
	}
	return jr, nil
}

func jobOf(r journal.Job) Job {
	j := Job{
		ID: r.ID, State: string(r.State), Op: r.Op, Provider: r.Provider, Model: r.Model, Endpoint: r.Endpoint,
		Created: r.Created, Updated: r.Updated, RequestID: r.RequestID, RequestKey: r.RequestKey, Prompt: r.Prompt,
		Params: r.Params, Targets: r.Targets, Assets: []Asset{}, Usage: r.Usage, Orphaned: journal.Orphaned(r),
		Cost: costOf(r.CostMicros, r.CostBasis), Estimate: costOf(r.EstimateMicros, BasisEstimated),
	}
	if !r.SentAt.IsZero() {
		j.Sent = &r.SentAt
	}
	for _, a := range r.Assets {
		j.Assets = append(j.Assets, assetOf(a))
	}
	if r.ErrorKind != "" {
		j.Error = &JobError{Kind: r.ErrorKind, Code: r.ErrorCode, Message: r.ErrorMessage, Billed: r.Billed}
	}
	return j
}

func costOf(micros *int64, basis string) Cost {
	if micros == nil {
		return Cost{Basis: BasisUnknown}
	}
	return Cost{Micros: micros, Basis: basis}
}

func assetOf(a journal.Asset) Asset {
	out := Asset{
		Path: a.Path, URL: a.URL, MediaType: a.MIME, Bytes: a.Bytes, Width: a.Width, Height: a.Height,
		DurationS: a.DurationS, SHA256: a.SHA256, Index: a.Index, Partial: a.Partial,
	}
	if a.SpoolPath != "" {
		out.Path, out.Spooled = a.SpoolPath, true
	}
	return out
}

// errNoJournal is the answer of job commands when the journal is switched off.
func errNoJournal() error {
	return fault.New(fault.InvalidArgument, "there is no journal: journal.enabled is off or --no-journal was given")
}
