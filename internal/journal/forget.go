package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"mediagen/internal/fault"
)

const (
	// listed reads one parameter, a JSON array, as a list: a statement takes any number of values that way.
	listed = "(SELECT value FROM json_each(?))"

	// Jobs that must not be forgotten lightly: not final, or with paid bytes that lie in the spool only.
	selectKept = `SELECT id, state FROM jobs WHERE id IN ` + listed + ` AND (
	state NOT IN ` + listed + `
	OR EXISTS (SELECT 1 FROM assets WHERE job=seq AND spool_path<>'')) ORDER BY id LIMIT 1`
	deleteAssets = `DELETE FROM assets WHERE job IN (SELECT seq FROM jobs WHERE id IN ` + listed + `)`
	deleteJobs   = `DELETE FROM jobs WHERE id IN ` + listed
)

// Forget removes the rows of the jobs with exactly these ids, never a file, and returns how many there were; ids that
// are not there are not counted. Their text is overwritten in the file, not just unlinked. A job that is not final or
// that has assets in the spool is refused with invalid_request, and then nothing is removed.
func (j *Journal) Forget(ctx context.Context, ids ...string) (int, error) {
	return j.forget(ctx, ids, false)
}

// ForgetAny is Forget for jobs in any state: what is still being made or lies in the spool cannot be resumed
// afterwards.
func (j *Journal) ForgetAny(ctx context.Context, ids ...string) (int, error) {
	return j.forget(ctx, ids, true)
}

func (j *Journal) forget(ctx context.Context, ids []string, force bool) (int, error) {
	list, err := json.Marshal(ids)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := j.db.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return 0, j.fail(ctx, err)
	}
	var removed int64
	err = j.write(ctx, func(tx *sql.Tx) error {
		if !force {
			if err := refuseKept(ctx, tx, string(list)); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, deleteAssets, string(list)); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, deleteJobs, string(list))
		if err != nil {
			return err
		}
		removed, err = res.RowsAffected()
		return err
	})
	if err != nil {
		return 0, j.fail(ctx, err)
	}
	return int(removed), nil
}

func refuseKept(ctx context.Context, tx *sql.Tx, list string) error {
	final, err := json.Marshal(slices.DeleteFunc(States(), func(s State) bool { return !Final(s) }))
	if err != nil {
		return err
	}
	var id string
	var state State
	err = tx.QueryRowContext(ctx, selectKept, list, string(final)).Scan(&id, &state)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if Final(state) {
		return fault.New(fault.InvalidRequest, "job %s has paid bytes in the spool, resume it before it is forgotten", id)
	}
	return fault.New(fault.InvalidRequest, "job %s is %s, only finished jobs are forgotten without force", id, state)
}
