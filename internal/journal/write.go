package journal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"mediagen/internal/fault"
)

const insertJob = `INSERT INTO jobs (
	id, request_key, tool, op, provider, model, endpoint, project, state, provider_job, request_id,
	prompt_len, prompt_sha, created, updated, sent, estimate, cost, cost_basis,
	error_kind, error_code, error_message, billed, pid, boot_id, targets, usage, params, prompt
) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

const upsertAsset = `INSERT INTO assets (
	job, idx, partial, path, mime, sha256, url, spool_path, bytes, width, height, duration_s
) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)
ON CONFLICT DO UPDATE SET path=excluded.path, mime=excluded.mime, sha256=excluded.sha256, url=excluded.url,
	spool_path=excluded.spool_path, bytes=excluded.bytes, width=excluded.width, height=excluded.height,
	duration_s=excluded.duration_s`

// A NULL parameter keeps the column.
const updateJob = `UPDATE jobs SET state=?, updated=?, sent=COALESCE(?,sent),
	request_id=COALESCE(?,request_id), provider_job=COALESCE(?,provider_job),
	cost=COALESCE(?,cost), cost_basis=COALESCE(?,cost_basis), usage=COALESCE(?,usage),
	error_kind=COALESCE(?,error_kind), error_code=COALESCE(?,error_code),
	error_message=COALESCE(?,error_message), billed=COALESCE(?,billed)
	WHERE seq=?`

// idAttempts bounds how often Create draws a new id when one is taken: each draw fails with a chance of about one in
// a million per job of the same millisecond.
const idAttempts = 8

// Create records job as planned. When it returns nil the row is on the disk, synced, so the request may be sent next.
// It fills ID, State, Created, Updated, PID, BootID, PromptLen and PromptSHA; ID and Created only if empty.
//
// A state other than planned, an ID that is taken or malformed and Params or Usage that are not JSON are
// invalid_argument; a full disk is disk_full; anything else is journal_broken. After an error there is no row.
func (j *Journal) Create(ctx context.Context, job *Job) error {
	if err := checkNew(job); err != nil {
		return err
	}
	row := *job
	row.State = StatePlanned
	row.Updated = j.now()
	row.Created = stamp(row.Created)
	if row.Created.IsZero() {
		row.Created = row.Updated
	}
	row.SentAt = time.Time{}
	row.PID, row.BootID = Owner()
	row.PromptLen, row.PromptSHA = digest(row.Prompt)
	if err := j.insert(ctx, &row); err != nil {
		return err
	}
	*job = row
	return nil
}

func (j *Journal) insert(ctx context.Context, row *Job) error {
	given := row.ID != ""
	for range idAttempts {
		if !given {
			row.ID = j.newID(row.Created)
		}
		err := j.write(ctx, func(tx *sql.Tx) error { return j.insertTx(ctx, tx, row) })
		if resultCode(err) != sqlite3.SQLITE_CONSTRAINT_UNIQUE {
			return j.fail(ctx, err)
		}
		if given {
			break
		}
	}
	return fault.New(fault.InvalidArgument, "job id %s is taken, leave it empty to get a new one", row.ID)
}

func (j *Journal) insertTx(ctx context.Context, tx *sql.Tx, row *Job) error {
	prompt := row.Prompt
	if !j.opts.KeepPrompts {
		prompt = ""
	}
	targets, err := json.Marshal(row.Targets)
	if err != nil {
		return err
	}
	res, err := tx.ExecContext(
		ctx, insertJob,
		row.ID, row.RequestKey, row.Tool, row.Op, row.Provider, row.Model, row.Endpoint, row.Project, string(row.State),
		row.ProviderJob, row.RequestID, row.PromptLen, row.PromptSHA, row.Created.UnixMicro(), row.Updated.UnixMicro(),
		nil, row.EstimateMicros, row.CostMicros, row.CostBasis,
		row.ErrorKind, row.ErrorCode, row.ErrorMessage, row.Billed, row.PID, row.BootID,
		string(targets), string(row.Usage), string(row.Params), prompt,
	)
	if err != nil {
		return err
	}
	seq, err := res.LastInsertId()
	if err != nil {
		return err
	}
	return putAssets(ctx, tx, seq, row.Assets)
}

// Update changes the job with exactly this id in one transaction: it reads the state under the write lock, checks the
// transition with CanMove and writes, so that of two processes that want the same step one gets ErrIllegalMove. When it
// returns nil the change is on the disk, synced; after an error nothing has changed.
//
// Moving on to queued, running, succeeded or landed clears an earlier error unless u brings one. An unknown id is
// job_not_found, an illegal transition invalid_request with ErrIllegalMove, a malformed value invalid_argument. A
// cancelled ctx refuses the write: what must be recorded although the caller gave up needs context.WithoutCancel.
func (j *Journal) Update(ctx context.Context, id string, u Update) error {
	if err := checkUpdate(u); err != nil {
		return err
	}
	err := j.write(ctx, func(tx *sql.Tx) error { return j.updateTx(ctx, tx, id, u) })
	return j.fail(ctx, err)
}

func (j *Journal) updateTx(ctx context.Context, tx *sql.Tx, id string, u Update) error {
	var seq int64
	var from State
	err := tx.QueryRowContext(ctx, "SELECT seq, state FROM jobs WHERE id=?", id).Scan(&seq, &from)
	if errors.Is(err, sql.ErrNoRows) {
		return notFound(id)
	}
	if err != nil {
		return err
	}
	to, err := target(id, from, u)
	if err != nil {
		return err
	}
	if err := applyUpdate(ctx, tx, seq, from, to, u, j.now().UnixMicro()); err != nil {
		return err
	}
	return putAssets(ctx, tx, seq, u.Assets)
}

// target is the state that u leads to, or an error with ErrIllegalMove.
func target(id string, from State, u Update) (State, error) {
	to := u.State
	switch {
	case u.Sent:
		to = StateSent
	case to == "":
		return from, nil
	}
	if CanMove(from, to) {
		return to, nil
	}
	return "", fault.New(fault.InvalidRequest, "job %s is %s and cannot become %s: %w", id, from, to, ErrIllegalMove)
}

// applyUpdate writes what u brings. now is in Unix microseconds.
func applyUpdate(ctx context.Context, tx *sql.Tx, seq int64, from, to State, u Update, now int64) error {
	var sent *int64
	e := u.Err
	if from != to {
		switch to {
		case StateSent:
			sent = &now
		case StateQueued, StateRunning, StateSucceeded, StateLanded:
			e = cmp.Or(e, &JobError{})
		}
	}
	var kind, code, message, billed *string
	if e != nil {
		kind, code, message, billed = &e.Kind, &e.Code, &e.Message, &e.Billed
	}
	var usage *string
	if u.Usage != nil {
		usage = new(string(u.Usage))
	}
	_, err := tx.ExecContext(
		ctx, updateJob, string(to), now, sent, u.RequestID, u.ProviderJob, u.CostMicros, u.CostBasis, usage,
		kind, code, message, billed, seq,
	)
	return err
}

func putAssets(ctx context.Context, tx *sql.Tx, seq int64, assets []Asset) error {
	for _, a := range assets {
		_, err := tx.ExecContext(
			ctx, upsertAsset, seq, a.Index, a.Partial, a.Path, a.MIME, a.SHA256, a.URL, a.SpoolPath,
			a.Bytes, a.Width, a.Height, a.DurationS,
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// write runs do in a transaction that holds the write lock from its start (BEGIN IMMEDIATE).
func (j *Journal) write(ctx context.Context, do func(*sql.Tx) error) error {
	select {
	case j.turn <- struct{}{}:
		defer func() { <-j.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := j.inPlace(); err != nil {
		return err
	}
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do; otherwise the first error tells
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func (j *Journal) now() time.Time { return stamp(j.opts.Now()) }

// stamp is t as the journal keeps it: UTC in microseconds.
func stamp(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMicro(t.UnixMicro()).UTC()
}

// digest describes a prompt without telling it: its bytes, and enough of its hash to see that two are the same.
func digest(prompt string) (length int, sha string) {
	if prompt == "" {
		return 0, ""
	}
	sum := sha256.Sum256([]byte(prompt))
	return len(prompt), hex.EncodeToString(sum[:8])
}

func checkNew(job *Job) error {
	if job.State != "" && job.State != StatePlanned {
		return fault.New(fault.InvalidArgument, "a new job is %s, not %s", StatePlanned, job.State)
	}
	if job.ID != "" && !isID(job.ID) {
		return fault.New(fault.InvalidArgument, "job id %q must be %d characters of %s", clip(job.ID), idLen, idAlphabet)
	}
	if err := checkBasis(job.CostBasis); err != nil {
		return err
	}
	return checkJSON(job.Params, job.Usage)
}

func checkUpdate(u Update) error {
	if u.State != "" && !slices.Contains(States(), u.State) {
		return fault.New(fault.InvalidArgument, "%q is no job state", clip(string(u.State)))
	}
	if u.Sent && u.State != "" && u.State != StateSent {
		return fault.New(fault.InvalidArgument, "an update that marks a job as sent cannot make it %s too", u.State)
	}
	if u.CostBasis != nil {
		if err := checkBasis(*u.CostBasis); err != nil {
			return err
		}
	}
	return checkJSON(u.Usage)
}

func checkBasis(basis string) error {
	if slices.Contains([]string{"", CostReported, CostEstimated, CostUnknown}, basis) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "cost basis %q must be %s, %s or %s",
		clip(basis), CostReported, CostEstimated, CostUnknown)
}

// checkJSON keeps out what would make the row unreadable as JSON later.
func checkJSON(texts ...json.RawMessage) error {
	for _, text := range texts {
		if len(text) > 0 && !json.Valid(text) {
			return fault.New(fault.InvalidArgument, "params and usage of a job must be valid JSON")
		}
	}
	return nil
}
