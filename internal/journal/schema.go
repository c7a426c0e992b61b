package journal

import (
	"context"
	"database/sql"
	"fmt"

	"mediagen/internal/fault"
)

// applicationID marks the file as a mediagen journal in SQLite's header ("mgJ1"), so that another program's database
// is never taken for one.
const applicationID = 0x6d674a31

// migrations bring a file from schema version i to i+1; a released entry never changes. All that are due run in one
// transaction, so a file has the old schema or the new one, whatever dies in between.
var migrations = []string{schemaV1} //nolint:gochecknoglobals // constant table

// schemaV1: seq is the order of insertion and breaks ties of created. The wide columns stand last, so that a scan over
// the narrow ones stays on the first page of a row. jobs_by_age carries what a filter looks at: a filtered list reads
// the index alone until a row matches.
const schemaV1 = `
CREATE TABLE jobs (
	seq           INTEGER PRIMARY KEY,
	id            TEXT    NOT NULL UNIQUE,
	request_key   TEXT    NOT NULL,
	tool          TEXT    NOT NULL,
	op            TEXT    NOT NULL,
	provider      TEXT    NOT NULL,
	model         TEXT    NOT NULL,
	endpoint      TEXT    NOT NULL,
	project       TEXT    NOT NULL,
	state         TEXT    NOT NULL,
	provider_job  TEXT    NOT NULL,
	request_id    TEXT    NOT NULL,
	prompt_len    INTEGER NOT NULL,
	prompt_sha    TEXT    NOT NULL,
	created       INTEGER NOT NULL,
	updated       INTEGER NOT NULL,
	sent          INTEGER,
	estimate      INTEGER,
	cost          INTEGER,
	cost_basis    TEXT    NOT NULL,
	error_kind    TEXT    NOT NULL,
	error_code    TEXT    NOT NULL,
	error_message TEXT    NOT NULL,
	billed        TEXT    NOT NULL,
	pid           INTEGER NOT NULL,
	boot_id       TEXT    NOT NULL,
	targets       TEXT    NOT NULL,
	usage         TEXT    NOT NULL,
	params        TEXT    NOT NULL,
	prompt        TEXT    NOT NULL
) STRICT;
CREATE INDEX jobs_by_age ON jobs (created, seq, state, provider, model);
CREATE INDEX jobs_by_request ON jobs (request_key, created);
CREATE TABLE assets (
	job        INTEGER NOT NULL REFERENCES jobs (seq),
	idx        INTEGER NOT NULL,
	partial    INTEGER NOT NULL,
	path       TEXT    NOT NULL,
	mime       TEXT    NOT NULL,
	sha256     TEXT    NOT NULL,
	url        TEXT    NOT NULL,
	spool_path TEXT    NOT NULL,
	bytes      INTEGER NOT NULL,
	width      INTEGER NOT NULL,
	height     INTEGER NOT NULL,
	duration_s REAL    NOT NULL,
	PRIMARY KEY (job, idx, partial)
) STRICT, WITHOUT ROWID;
CREATE INDEX assets_spooled ON assets (job) WHERE spool_path <> '';
`

// header is what tells a journal from other files.
type header struct {
	version     int   // PRAGMA user_version: the number of migrations that ran
	application int64 // PRAGMA application_id
}

func readHeader(ctx context.Context, tx *sql.Tx) (header, error) {
	var h header
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&h.version); err != nil {
		return header{}, err
	}
	err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&h.application)
	return h, err
}

// migrate makes the file a journal of the newest version that steps describe and reports whether it had to. It runs
// inside a transaction that holds the write lock, so that of many processes that start at once one migrates and the
// others find the work done.
//
// The mark is set even if it stands there already: on a read-only file SQLite grants the lock and refuses only a write.
func (j *Journal) migrate(ctx context.Context, tx *sql.Tx, steps []string) (changed bool, err error) {
	h, err := readHeader(ctx, tx)
	if err != nil {
		return false, err
	}
	if err := j.checkHeader(ctx, tx, h, len(steps)); err != nil {
		return false, err
	}
	for _, step := range steps[h.version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return false, err
		}
	}
	// Pragmas take no parameters.
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps))
	_, err = tx.ExecContext(ctx, mark)
	return h.version != len(steps), err
}

// checkHeader refuses what is not a journal and what a newer mediagen wrote. A file without tables is a new one.
func (j *Journal) checkHeader(ctx context.Context, tx *sql.Tx, h header, newest int) error {
	switch {
	case h.application == applicationID && h.version >= 1 && h.version <= newest:
		return nil
	case h.application == applicationID && h.version > newest:
		return fault.New(fault.JournalBroken, "journal %s has schema version %d, this mediagen knows versions up to %d",
			j.path, h.version, newest).
			WithHint("use the mediagen that wrote it, move it away, or run with --no-journal")
	}
	var tables int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if h == (header{}) && tables == 0 {
		return nil
	}
	return j.broken(nil, "is a database of another program, not a mediagen journal")
}
