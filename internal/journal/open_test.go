package journal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/fault"
)

// closedJournal leaves a journal with n jobs in a new directory and returns its path.
func closedJournal(tb testing.TB, n int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "journal.db")
	j, err := Open(tb.Context(), path, Options{KeepPrompts: true})
	if err != nil {
		tb.Fatal(err)
	}
	fill(tb, j, n)
	if err := j.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

// refused opens path and wants journal_broken with the path and a way out.
func refused(t *testing.T, path string) {
	t.Helper()
	j, err := Open(t.Context(), path, Options{})
	if err == nil {
		t.Errorf("Open succeeded, close: %v", j.Close())
		return
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != fault.JournalBroken {
		t.Errorf("Open: %v (%s), want %s", err, fault.CodeOf(err), fault.JournalBroken)
		return
	}
	named := strings.Contains(e.Message, path) && strings.Contains(e.Hint, "--no-journal")
	if !named || strings.Contains(err.Error(), "\n") {
		t.Errorf("Open: %q, hint %q; want the path, --no-journal and one line", err, e.Hint)
	}
}

func write(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestOpenMakesAPrivateJournal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows guards files by access lists, not by mode bits")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "journal.db")
	j := openAt(t, path, Options{})
	create(t, j, Job{Prompt: "private"})
	modes := func() map[string]string {
		got := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			got[e.Name()] = info.Mode().String()
		}
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		got["."] = info.Mode().String()
		return got
	}
	want := map[string]string{
		".": "drwx------", "journal.db": "-rw-------", "journal.db-wal": "-rw-------", "journal.db-shm": "-rw-------",
	}
	if diff := cmp.Diff(want, modes()); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
	for _, name := range []string{"journal.db", "journal.db-wal", "journal.db-shm"} {
		if err := os.Chmod(filepath.Join(dir, name), 0o664); err != nil {
			t.Fatal(err)
		}
	}
	openAt(t, path, Options{})
	if diff := cmp.Diff(want, modes()); diff != "" {
		t.Errorf("modes after a journal that others could read was opened (-want +got):\n%s", diff)
	}
}

func TestOpenTakesAwkwardPaths(t *testing.T) {
	t.Parallel()
	names := []string{"a b", "ä💡", "100%41", "x#y", "a&b=c", "'quoted'", "-dash"}
	if runtime.GOOS != "windows" {
		names = append(names, "a?mode=memory", `back\slash`, "new\nline", `"double"`)
	}
	for _, name := range names {
		dir := filepath.Join(t.TempDir(), name)
		path := filepath.Join(dir, name+".db")
		job := create(t, openAt(t, path, Options{}), Job{})
		get(t, openAt(t, path, Options{}), job.ID)
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%q: %v, %v; want the journal at this very name", name, info, err)
		}
	}
}

func TestOpenTakesARelativePathAndAnEmptyFile(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "journal.db", nil)
	job := create(t, openAt(t, "journal.db", Options{}), Job{})
	t.Chdir(t.TempDir())
	if _, err := os.Stat("journal.db"); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the new directory has a journal: %v", err)
	}
	if job.ID == "" {
		t.Error("no id")
	}
}

func TestOpenLeavesNothingElseBehind(t *testing.T) {
	t.Parallel()
	path := closedJournal(t, 1)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory of a closed journal holds %v, %v; want the one file", entries, err)
	}
}

func TestOpenRefusesWhatIsNoJournal(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 8192)
	random := rand.NewChaCha8([32]byte{1})
	for i := range noise {
		noise[i] = byte(random.Uint64())
	}
	for name, data := range map[string][]byte{
		"noise":               noise,
		"two bytes":           noise[:2],
		"text":                []byte("dear diary"),
		"long text":           bytes.Repeat([]byte("dear diary\n"), 1000),
		"zeros":               make([]byte, 8192),
		"SQLite's magic only": []byte("SQLite format 3\x00"),
		"magic and noise":     append([]byte("SQLite format 3\x00"), noise...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			write(t, path, data)
			refused(t, path)
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, data) {
				t.Errorf("Open changed the file that it refused, %v", err)
			}
		})
	}
}

func TestOpenRefusesATruncatedJournal(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(closedJournal(t, 200))
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	all := len(data)
	for _, size := range []int{2, 16, 99, 100, 101, 512, page - 1, page, page + 1, all / 2, all - page, all - 1} {
		path := filepath.Join(t.TempDir(), "journal.db")
		write(t, path, data[:size])
		j, err := Open(t.Context(), path, Options{})
		if err == nil {
			t.Errorf("a journal cut to %d of %d bytes was opened, close: %v", size, len(data), j.Close())
			continue
		}
		wantCode(t, err, fault.JournalBroken)
	}
}

// Damage behind the first page shows only when it is read. It must be an error then, never a wrong answer.
func TestDamageInsideIsReportedByTheReader(t *testing.T) {
	t.Parallel()
	path := closedJournal(t, 200)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ {
		data[i] = byte(i * 7)
	}
	write(t, path, data)
	j := openAt(t, path, Options{})
	_, err = j.List(t.Context(), Filter{})
	wantCode(t, err, fault.JournalBroken)
	_, err = j.Get(t.Context(), "0000")
	wantCode(t, err, fault.JournalBroken)
	wantCode(t, j.Create(t.Context(), &Job{}), fault.JournalBroken)
}

// A log that was cut off or overwritten is what a crash leaves: whole commits before the damage count, the rest never
// was.
func TestADamagedLogCostsOnlyItsTail(t *testing.T) {
	t.Parallel()
	path := closedJournal(t, 20)
	write(t, path+"-wal", bytes.Repeat([]byte("noise"), 5000))
	if got := len(list(t, openAt(t, path, Options{}), Filter{})); got != 20 {
		t.Errorf("%d jobs, want 20", got)
	}
}

// otherDatabase makes a SQLite file with these statements.
func otherDatabase(tb testing.TB, statements string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "journal.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := db.ExecContext(tb.Context(), statements); err != nil {
		tb.Fatal(err)
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	return path
}

func TestOpenRefusesOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string]string{
		"tables":                  "CREATE TABLE jobs (id TEXT)",
		"tables and our version":  "CREATE TABLE jobs (id TEXT); PRAGMA user_version = 1",
		"a version alone":         "PRAGMA user_version = 1",
		"a mark alone":            "PRAGMA application_id = 77",
		"our mark, no version":    "CREATE TABLE t (x); PRAGMA application_id = 0x6d674a31",
		"our mark, version below": "CREATE TABLE t (x); PRAGMA application_id = 0x6d674a31; PRAGMA user_version = -1",
	} {
		t.Run(name, func(t *testing.T) {
			path := otherDatabase(t, statements)
			refused(t, path)
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			var tables int
			err = db.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema").Scan(&tables)
			if err != nil || tables > 1 {
				t.Errorf("after Open the other database has %d tables, %v", tables, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	path := closedJournal(t, 1)
	newer := append(slices.Clip(migrations), "ALTER TABLE jobs ADD COLUMN mood TEXT")
	j, err := open(t.Context(), path, Options{}, newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, path)
	_, err = Open(t.Context(), path, Options{})
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("Open: %v, want the version named", err)
	}
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused(t, dir)
	file := filepath.Join(dir, "file")
	write(t, file, nil)
	refused(t, filepath.Join(file, "journal.db"))
	if err := os.Mkdir(filepath.Join(dir, "journal.db-wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	refused(t, filepath.Join(dir, "journal.db"))
}

func TestMigrationKeepsTheJobs(t *testing.T) {
	t.Parallel()
	path := closedJournal(t, 30)
	want := list(t, openAt(t, path, Options{}), Filter{})
	steps := append(
		slices.Clip(migrations),
		"ALTER TABLE jobs ADD COLUMN mood TEXT NOT NULL DEFAULT ''; CREATE INDEX moods ON jobs (mood)",
		"UPDATE jobs SET mood = 'good'",
	)
	j, err := open(t.Context(), path, Options{}, steps)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	if diff := cmp.Diff(want, list(t, j, Filter{})); diff != "" {
		t.Errorf("jobs after the migration (-want +got):\n%s", diff)
	}
	var version, good int
	const check = "SELECT (SELECT user_version FROM pragma_user_version), count(*) FROM jobs WHERE mood='good'"
	row := j.db.QueryRowContext(t.Context(), check)
	if err := row.Scan(&version, &good); err != nil || version != 3 || good != 30 {
		t.Errorf("version %d with %d migrated rows, %v; want 3 and 30", version, good, err)
	}
}

// A step that fails leaves the file as it was, so that the older mediagen still reads it.
func TestAFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	path := closedJournal(t, 5)
	steps := append(
		slices.Clip(migrations),
		"ALTER TABLE jobs ADD COLUMN mood TEXT", "UPDATE nothing SET x = 1",
	)
	_, err := open(t.Context(), path, Options{}, steps)
	wantCode(t, err, fault.JournalBroken)
	if got := len(list(t, openAt(t, path, Options{}), Filter{})); got != 5 {
		t.Errorf("%d jobs, want 5", got)
	}
}

func TestOpenGivesUpOnALockThatStays(t *testing.T) {
	t.Parallel()
	path := closedJournal(t, 1)
	holder := openAt(t, path, Options{})
	tx, err := holder.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, Options{BusyTimeout: 30 * time.Millisecond})
	wantCode(t, err, fault.JournalBroken)
	if err == nil || !strings.Contains(err.Error(), "locked by another process") {
		t.Errorf("Open beside a writer that never ends: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, path, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open until a deadline: %v, want context.DeadlineExceeded", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, Options{BusyTimeout: 30 * time.Millisecond})
}

// A new file is switched to write-ahead logging while others hold it: the wait is this package's own.
func TestOpenWaitsForTheSwitchToWAL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a reader in a test
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, Options{BusyTimeout: 50 * time.Millisecond})
	wantCode(t, err, fault.JournalBroken)
	opened := make(chan error)
	go func() {
		j, err := Open(t.Context(), path, Options{})
		if err == nil {
			err = j.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("Open did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("Open after the lock was released: %v", err)
	}
}

// SQLite's own limit stands in for a full disk where none can be mounted.
func TestAFullDiskIsToldAsSuch(t *testing.T) {
	t.Parallel()
	j := openTest(t, Options{KeepPrompts: true})
	job := create(t, j, Job{})
	if _, err := j.db.ExecContext(t.Context(), "PRAGMA max_page_count = 12"); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 100_000)
	wantCode(t, j.Create(t.Context(), &Job{Prompt: big}), fault.DiskFull)
	wantCode(t, j.Update(t.Context(), job.ID, Update{Sent: true, RequestID: &big}), fault.DiskFull)
	if diff := cmp.Diff([]Job{job}, list(t, j, Filter{})); diff != "" {
		t.Errorf("after a full disk (-want +got):\n%s", diff)
	}
	update(t, j, job.ID, Update{Sent: true})
}
