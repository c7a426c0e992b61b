package journal

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"mediagen/internal/fault"
)

// ErrIllegalMove is in the chain of the error that Update returns for a transition that CanMove forbids, so that a
// caller can tell that another process was first.
var ErrIllegalMove = errors.New("illegal transition")

// resultCode returns SQLite's extended result code in err's chain, or 0. The low byte is the primary code.
func resultCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// fail translates what a call under ctx met.
func (j *Journal) fail(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && fault.CodeOf(err) == "" {
		return fault.New(fault.IOFailed, "journal %s: interrupted: %w", j.path, ctx.Err())
	}
	return j.translate(err)
}

// translate turns an error of SQLite or the operating system into a fault. Their words name codes and files, never
// values of a row.
func (j *Journal) translate(err error) error {
	if err == nil || fault.CodeOf(err) != "" {
		return err
	}
	code := resultCode(err)
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return j.full(err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return j.locked(err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return j.broken(err, "is damaged or not a journal")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return j.broken(err, "cannot be written: it or its directory is read-only or not yours")
	}
	if code == sqlite3.SQLITE_IOERR_SHMSIZE || errors.Is(err, syscall.ENOSPC) { // no room for the -shm file
		return j.full(err)
	}
	return j.broken(err, "cannot be used: "+strings.ReplaceAll(err.Error(), "\n", " "))
}

// broken is the error of a journal that cannot be used.
func (j *Journal) broken(cause error, what string) error {
	return fault.Caused(fault.JournalBroken, cause, "journal %s %s", j.path, what).
		WithHint("move it away together with its -wal and -shm files, or run with --no-journal")
}

func (j *Journal) locked(cause error) error {
	return fault.Caused(fault.JournalBroken, cause, "journal %s was kept locked by another process for %s",
		j.path, j.opts.BusyTimeout).
		WithHint("find the process that holds it, or run with --no-journal")
}

func (j *Journal) full(cause error) error {
	return fault.Caused(fault.DiskFull, cause, "no space left for the journal %s", j.path).
		WithHint("free some space on that disk, or run with --no-journal")
}
