package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"mediagen/internal/fault"
)

const (
	jobColumns = `seq, id, request_key, tool, op, provider, model, endpoint, project, state, provider_job, request_id,
	prompt_len, prompt_sha, created, updated, sent, estimate, cost, cost_basis,
	error_kind, error_code, error_message, billed, pid, boot_id, targets, usage, params, prompt`
	selectAssets = `SELECT job, idx, partial, path, mime, sha256, url, spool_path, bytes, width, height, duration_s
	FROM assets WHERE job IN ` + listed + ` ORDER BY job, idx, partial`
)

// Get returns the job whose id is, or alone begins with, idOrPrefix: at least 4 characters, in any case. No such job is
// job_not_found; a prefix of several, or what cannot be one, is invalid_argument.
func (j *Journal) Get(ctx context.Context, idOrPrefix string) (Job, error) {
	prefix := cleanID(idOrPrefix)
	if err := checkPrefix(prefix, idOrPrefix); err != nil {
		return Job{}, err
	}
	// '~' sorts behind every character of an id. Two rows are enough to see that a prefix is ambiguous.
	jobs, err := j.read(ctx, selection{where: []string{"id BETWEEN ? AND ?"}, args: []any{prefix, prefix + "~"}, limit: 2})
	if err != nil {
		return Job{}, err
	}
	switch len(jobs) {
	case 0:
		return Job{}, notFound(idOrPrefix)
	case 1:
		return jobs[0], nil
	}
	return Job{}, fault.New(fault.InvalidArgument,
		"%q is the start of several job ids, such as %s and %s: give more of it", clip(idOrPrefix), jobs[0].ID, jobs[1].ID)
}

// List returns the jobs that f selects with their assets, newest first. A page continues after the job f.After; if that
// job is not there, the error is job_not_found.
func (j *Journal) List(ctx context.Context, f Filter) ([]Job, error) {
	s := selection{limit: f.Limit}
	s.states(f.States)
	if f.Provider != "" {
		s.and("provider = ?", f.Provider)
	}
	if f.Model != "" {
		s.and("model = ?", f.Model)
	}
	if !f.Since.IsZero() {
		s.and("created >= ?", micros(f.Since))
	}
	if !f.Until.IsZero() {
		s.and("created < ?", micros(f.Until))
	}
	if f.After != "" {
		s.after = cleanID(f.After)
	}
	return j.read(ctx, s)
}

// FindByRequestKey returns the jobs with this request key in one of states (none = any), newest first.
func (j *Journal) FindByRequestKey(ctx context.Context, key string, states ...State) ([]Job, error) {
	s := selection{where: []string{"request_key = ?"}, args: []any{key}}
	s.states(states)
	return j.read(ctx, s)
}

// Spooled returns the jobs, newest first, that have assets lying in the spool instead of at their place.
func (j *Journal) Spooled(ctx context.Context) ([]Job, error) {
	return j.read(ctx, selection{where: []string{"seq IN (SELECT job FROM assets WHERE spool_path <> '')"}})
}

// selection is a WHERE clause over jobs in the making.
type selection struct {
	where []string
	args  []any
	after string // id; "" = from the newest on
	limit int    // 0 = all
}

func (s *selection) and(term string, args ...any) {
	s.where = append(s.where, term)
	s.args = append(s.args, args...)
}

func (s *selection) states(states []State) {
	if len(states) == 0 {
		return
	}
	term := "state IN (?" + strings.Repeat(",?", len(states)-1) + ")"
	args := make([]any, len(states))
	for i, state := range states {
		args[i] = string(state)
	}
	s.and(term, args...)
}

// query returns the statement and its arguments.
func (s *selection) query() (string, []any) {
	text := "SELECT " + jobColumns + " FROM jobs"
	if len(s.where) > 0 {
		text += " WHERE " + strings.Join(s.where, " AND ")
	}
	text += " ORDER BY created DESC, seq DESC"
	if s.limit <= 0 {
		return text, s.args
	}
	return text + " LIMIT ?", append(slices.Clip(s.args), s.limit)
}

// read returns the selected jobs with their assets, both from one snapshot.
func (j *Journal) read(ctx context.Context, s selection) ([]Job, error) {
	tx, err := j.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, j.fail(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	if s.after != "" {
		if err := s.resume(ctx, tx); err != nil {
			return nil, j.fail(ctx, err)
		}
	}
	jobs, seqs, err := readJobs(ctx, tx, s)
	if err == nil && len(jobs) > 0 {
		err = readAssets(ctx, tx, jobs, seqs)
	}
	if err != nil {
		return nil, j.fail(ctx, err)
	}
	return jobs, nil
}

// resume turns the id of the last job of the page before into a position.
func (s *selection) resume(ctx context.Context, tx *sql.Tx) error {
	var created, seq int64
	err := tx.QueryRowContext(ctx, "SELECT created, seq FROM jobs WHERE id = ?", s.after).Scan(&created, &seq)
	if errors.Is(err, sql.ErrNoRows) {
		return notFound(s.after)
	}
	s.and("(created, seq) < (?, ?)", created, seq)
	return err
}

// readJobs also returns the seq of each job.
func readJobs(ctx context.Context, tx *sql.Tx, s selection) (jobs []Job, seqs []int64, err error) {
	text, args := s.query()
	rows, err := tx.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		seq, job, err := scanJob(rows)
		if err != nil {
			return nil, nil, err
		}
		jobs = append(jobs, job)
		seqs = append(seqs, seq)
	}
	return jobs, seqs, rows.Err()
}

func scanJob(rows *sql.Rows) (seq int64, job Job, err error) {
	var created, updated int64
	var sent *int64
	var targets, usage, params string
	err = rows.Scan(
		&seq, &job.ID, &job.RequestKey, &job.Tool, &job.Op, &job.Provider, &job.Model, &job.Endpoint, &job.Project,
		&job.State, &job.ProviderJob, &job.RequestID, &job.PromptLen, &job.PromptSHA, &created, &updated, &sent,
		&job.EstimateMicros, &job.CostMicros, &job.CostBasis, &job.ErrorKind, &job.ErrorCode, &job.ErrorMessage,
		&job.Billed, &job.PID, &job.BootID, &targets, &usage, &params, &job.Prompt,
	)
	if err != nil {
		return 0, Job{}, err
	}
	job.Created = time.UnixMicro(created).UTC()
	job.Updated = time.UnixMicro(updated).UTC()
	if sent != nil {
		job.SentAt = time.UnixMicro(*sent).UTC()
	}
	if usage != "" {
		job.Usage = json.RawMessage(usage)
	}
	if params != "" {
		job.Params = json.RawMessage(params)
	}
	return seq, job, json.Unmarshal([]byte(targets), &job.Targets)
}

// readAssets hangs the assets into the jobs with these seqs.
func readAssets(ctx context.Context, tx *sql.Tx, jobs []Job, seqs []int64) error {
	places := make(map[int64]int, len(seqs))
	for i, seq := range seqs {
		places[seq] = i
	}
	list, err := json.Marshal(seqs)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, selectAssets, string(list))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var seq int64
		var a Asset
		err := rows.Scan(&seq, &a.Index, &a.Partial, &a.Path, &a.MIME, &a.SHA256, &a.URL, &a.SpoolPath,
			&a.Bytes, &a.Width, &a.Height, &a.DurationS)
		if err != nil {
			return err
		}
		job := &jobs[places[seq]]
		job.Assets = append(job.Assets, a)
	}
	return rows.Err()
}

// micros rounds up: "created at or after t" must not let in a row that lies before t.
func micros(t time.Time) int64 {
	return t.Add(time.Microsecond - 1).UnixMicro()
}

func notFound(id string) error {
	return fault.New(fault.JobNotFound, "no job %q in the journal", clip(id))
}
