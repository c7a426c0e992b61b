package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"mediagen/internal/fault"
)

const (
	defaultBusyTimeout = time.Minute        // fifty processes at once on a slow disk have been seen to need more than 10 s
	fileMode           = fs.FileMode(0o600) // prompts and paths are private; SQLite gives -wal and -shm the same mode
	dirMode            = fs.FileMode(0o700)
)

// Journal is an open journal file. It is safe for concurrent use, also by other processes.
type Journal struct {
	path  string
	opts  Options
	newID func(time.Time) string
	// db has one connection: within a process calls queue instead of polling each other's lock.
	db *sql.DB
	// turn holds one token. Writers get it in the order in which they came, while the pool of database/sql serves
	// whoever waits at random, so that among thousands one may wait until its time is up.
	turn chan struct{}
	file fs.FileInfo // of the open file
}

// Open opens the journal at path and creates it (0600, its directory 0700) if there is none. It brings an older schema
// up to date, whichever of several processes comes first.
//
// When it returns, the file is known to be a journal of this version, and a write to it was tried under the write lock
// and taken back. Space is left to Create to prove, which is durable before it returns: on a full disk the jobs of
// yesterday can still be listed. Whatever keeps the journal from being used is fault.JournalBroken with the path and a
// way out; a disk too full for a new journal is fault.DiskFull.
func Open(ctx context.Context, path string, o Options) (*Journal, error) {
	return open(ctx, path, o, migrations)
}

func open(ctx context.Context, path string, o Options, steps []string) (*Journal, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.BusyTimeout <= 0 {
		o.BusyTimeout = defaultBusyTimeout
	}
	j := &Journal{path: path, opts: o, newID: newID, turn: make(chan struct{}, 1)}
	if err := j.prepareFile(); err != nil {
		return nil, j.fail(ctx, err)
	}
	connector, err := sqlite.NewConnector(j.dsn())
	if err != nil {
		return nil, j.fail(ctx, err)
	}
	j.db = sql.OpenDB(connector)
	j.db.SetMaxOpenConns(1)
	err = j.start(ctx, steps)
	if err == nil {
		j.file, err = os.Stat(j.path) //nolint:gosec // the journal's own path
	}
	if err != nil {
		return nil, errors.Join(j.fail(ctx, err), j.Close())
	}
	return j, nil
}

// inPlace makes sure that the open file is still the one at the path: what goes into a file that was removed is gone
// with the process. A file that was cut to nothing is no journal either.
func (j *Journal) inPlace() error {
	now, err := os.Stat(j.path) //nolint:gosec // the journal's own path
	if err == nil && os.SameFile(now, j.file) && now.Size() > 0 {
		return nil
	}
	return fault.Caused(fault.JournalBroken, err, "journal %s was removed or replaced while it was in use", j.path).
		WithHint("its jobs are not known any more; do not run a paid request again before you have looked for its result")
}

// Close releases the file. The last process to close it folds the write-ahead log into it.
func (j *Journal) Close() error {
	return j.translate(j.db.Close())
}

// prepareFile makes sure that path is a private regular file. SQLite would create it with the umask's mode.
func (j *Journal) prepareFile() error {
	abs, err := filepath.Abs(j.path)
	if err != nil {
		return err
	}
	j.path = abs
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return createFile(abs)
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory, it must be a file")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case cutOff(abs, info.Size()):
		return errors.New("it ends in the middle of a page, so a part of it is missing")
	case exposed(info.Mode()):
		return makePrivate(abs)
	}
	return nil
}

// cutOff reports whether the file ends within a page, which SQLite would fill up with zeros. A crash may leave that
// behind too, but then the write-ahead log still has the page. On macOS SQLite itself makes a new file 1 byte long.
func cutOff(path string, size int64) bool {
	const smallestPage = 512
	if size <= 1 || size%smallestPage == 0 {
		return false
	}
	_, err := os.Stat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist)
}

// makePrivate takes the file and its companions from group and others. The owner's own bits stay: a file that was made
// read-only on purpose is not made writable.
func makePrivate(path string) error {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.Chmod(name, info.Mode()&dirMode); err != nil {
			return err
		}
	}
	return nil
}

// createFile publishes an empty file that was private from its first moment. It is linked into place rather than
// created there: closing a descriptor of the file itself would drop the POSIX locks that another connection of this
// process may hold on it by then.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".journal-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // an empty file; a leftover harms nobody
	if err := tmp.Close(); err != nil {
		return err
	}
	err = os.Link(tmp.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	// A file system without hard links.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode) //nolint:gosec // the journal's own path
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn names the file to the driver. Every commit is synced (FULL): in WAL mode that is one fsync, and a row that
// precedes a paid request must survive a power cut.
func (j *Journal) dsn() string {
	q := url.Values{}
	q.Set("_busy_timeout", strconv.FormatInt(j.opts.BusyTimeout.Milliseconds(), 10))
	q.Set("_synchronous", "FULL")
	q.Set("_txlock", "immediate")
	q.Set("_error_rc", "1")
	slashed := filepath.ToSlash(j.path)
	if slashed[0] != '/' { // C:/...
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

// start puts the file into WAL mode, tries a write and migrates the file if needed. An unneeded write is rolled back
// before it costs a sync.
func (j *Journal) start(ctx context.Context, steps []string) error {
	if err := j.useWAL(ctx); err != nil {
		return err
	}
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do; otherwise err tells
	changed, err := j.migrate(ctx, tx, steps)
	if err != nil || !changed {
		return err
	}
	return tx.Commit()
}

// useWAL switches the file to write-ahead logging, which lasts. While several processes do so at once SQLite answers
// "busy" without waiting, so the waiting is done here.
func (j *Journal) useWAL(ctx context.Context) error {
	patience := time.NewTimer(j.opts.BusyTimeout)
	defer patience.Stop()
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for {
		var mode string
		err := j.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		if err == nil && mode != "wal" {
			return fmt.Errorf("its file system offers no write-ahead log, the mode is %q", mode)
		}
		if resultCode(err)&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-patience.C:
			return err
		case <-retry.C:
		}
	}
}
