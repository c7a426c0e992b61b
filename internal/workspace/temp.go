package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"mediagen/internal/fault"
	"mediagen/internal/sniff"
)

// Temp is one output while it is written. It is not safe for concurrent use; different Temps are independent.
//
// Bytes that were handed to Write stay readable until Commit or Abort. When their place runs full or breaks they move
// on: from the temporary file beside the final name to the spool, then to the system's temporary directory, then to
// memory.
type Temp struct {
	t              *Target
	index, partial int
	sink           *sink
	cause          error // why the bytes are not beside their final name
	sum            hash.Hash
	size           int64
	head           []byte
	done           bool
}

// Saved is a file at its final name, or in the spool.
type Saved struct {
	Path    string // absolute; empty when nothing but memory could take the bytes
	Bytes   int64
	SHA256  string // hex, computed while the bytes were written
	Spooled bool   // Path is not the final name; the error says why
}

func (f *Temp) restart() {
	f.sum = sha256.New()
	f.size = 0
	f.head = nil
}

// note accounts for bytes that a sink has taken.
func (f *Temp) note(p []byte) {
	f.size += int64(len(p))
	_, _ = f.sum.Write(p) // a hash never fails
	if room := sniff.HeadBytes - len(f.head); room > 0 {
		f.head = append(f.head, p[:min(room, len(p))]...)
	}
}

// Write appends p. A full or broken disk is not an error here: the bytes move to the spool and writing goes on there,
// and Commit tells. An error means that bytes already written cannot be read back any more, that no disk takes them and
// memory holds no more, or that the Temp is closed.
func (f *Temp) Write(p []byte) (int, error) {
	if f.done {
		return 0, errDone()
	}
	written := 0
	for {
		n, err := f.sink.Write(p[written:])
		f.note(p[written : written+n])
		written += n
		if err == nil {
			return written, nil
		}
		if err := f.relocate(err); err != nil {
			return written, err
		}
	}
}

func errDone() error { return fault.New(fault.IOFailed, "the output was committed or aborted already") }

// Head returns the first sniff.HeadBytes bytes that were written.
func (f *Temp) Head() []byte { return f.head }

// File returns the bytes written so far and their number, for probing. It stays valid until the next call of a method
// that writes, commits or aborts.
func (f *Temp) File() (io.ReaderAt, int64) { return f.sink, f.size }

// Replace puts data in the place of everything that was written, for bytes that were converted. The old bytes go only
// when the new ones are stored.
func (f *Temp) Replace(data []byte) error {
	if f.done {
		return errDone()
	}
	for level := f.t.first(); ; level++ {
		s, err := f.openSink(level)
		if err != nil {
			f.cause = err
			continue
		}
		if _, err := s.Write(data); err != nil {
			f.cause = err
			s.discard()
			continue
		}
		f.sink.discard()
		f.sink = s
		f.restart()
		f.note(data)
		return nil
	}
}

// Commit makes the bytes durable and publishes them under their final name, exclusively unless the target overwrites;
// ext is the extension of the type that the bytes are, "" means the planned one. The name is looked at again before
// Commit returns.
//
// When that fails the error says why and the bytes stay: Saved names the spool file, or has no Path when only memory
// could take them, and then File serves them until Abort.
func (f *Temp) Commit(ext string) (Saved, error) {
	if f.done {
		return Saved{}, errDone()
	}
	saved := Saved{Bytes: f.size, SHA256: hex.EncodeToString(f.sum.Sum(nil))}
	name := f.t.names.name(f.index, f.partial, ext)
	var err error
	if !f.t.spool {
		if err = f.publish(name); err == nil {
			f.done = true
			saved.Path = f.t.path(name)
			return saved, nil
		}
	}
	saved.Path, saved.Spooled = f.keep(name)
	f.done = saved.Spooled
	if f.t.spool && saved.Spooled {
		return saved, nil
	}
	return saved, writeError(quote(name), cmp.Or(err, f.cause))
}

// publish moves the bytes to their final name. Bytes that had to leave the directory get a second chance there.
func (f *Temp) publish(name string) error {
	d := f.t.dir
	if err := f.t.allows(name); err != nil {
		return err
	}
	if f.sink.level != levelTarget {
		if free, ok := d.free("."); ok && free < f.size && f.cause != nil {
			return f.cause
		}
		if err := f.moveTo(levelTarget); err != nil {
			return err
		}
	}
	info, err := f.sink.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != f.size {
		return fault.New(fault.IOFailed, "%s was changed by someone else while it was written: it has %d bytes instead of %d",
			quote(name), info.Size(), f.size)
	}
	if err := d.publish(f.sink.f, f.sink.name, name, f.t.overwrite); err != nil {
		return err
	}
	_ = f.sink.f.Close() // synced already
	return nil
}

// Abort drops the bytes and removes the temporary file. After Commit it does nothing, so it can be deferred; it is what
// frees bytes that Commit could keep only in memory.
func (f *Temp) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	f.sink.discard()
	return nil
}

// relocate moves the bytes to the next place that takes them.
func (f *Temp) relocate(cause error) error {
	if f.cause == nil {
		f.cause = cause
	}
	if f.sink.level == levelMemory {
		return fault.New(fault.DiskFull, "no disk takes the output, and memory holds at most %d bytes of it", memoryLimit)
	}
	for level := f.sink.level + 1; ; level++ {
		err := f.moveTo(level)
		if err == nil {
			return nil
		}
		if errors.Is(err, errUnreadable) || level >= levelMemory {
			return fault.New(fault.IOFailed, "the bytes received so far cannot be read back: %w", bare(err))
		}
	}
}

// moveTo copies the bytes to a place of the given level and lets go of the old one.
func (f *Temp) moveTo(level int) error {
	s, err := f.openSink(level)
	if err != nil {
		return err
	}
	if err := s.take(f.sink, f.size); err != nil {
		s.discard()
		return err
	}
	f.sink.discard()
	f.sink = s
	return nil
}

// firstSink opens the first place that takes a file; memory always does.
func (f *Temp) firstSink() *sink {
	for level := f.t.first(); ; level++ {
		s, err := f.openSink(level)
		if err == nil {
			return s
		}
		if f.cause == nil {
			f.cause = err
		}
	}
}

// keep brings bytes that could not be published to the best place that outlives this process, and returns it.
func (f *Temp) keep(name string) (string, bool) {
	for _, level := range []int{levelSpool, levelTemp} {
		if f.sink.level != level && f.moveTo(level) != nil {
			continue
		}
		if p, err := f.sink.settle(name); err == nil {
			return p, true
		}
	}
	if f.sink.level == levelMemory {
		return "", false
	}
	p, err := f.sink.settle(name)
	if err != nil {
		_ = f.sink.f.Close() // it could not be made durable, but it is there
		p = f.sink.path()
	}
	return p, true
}
