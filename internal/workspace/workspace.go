// Package workspace decides which files may be read and written, opens them without leaving the allowed directories,
// names outputs, and saves them so that a name is either whole or absent and no paid byte is dropped.
package workspace

import (
	"io"
	"os"
	"time"

	"mediagen/internal/fault"
)

// Access says what a path is wanted for.
type Access int

// The two kinds of access.
const (
	Read Access = iota
	Write
)

// Config says which directories are open and who is asking.
type Config struct {
	Dirs     []string         // entries of MEDIA_GEN_DIRS, already split; nil means unset
	WorkDir  string           // absolute; where the shell's relative paths and default output go
	Shell    bool             // true: unset Dirs means the person's own authority; false: unset Dirs means TempRoot
	Strict   bool             // the shell is bound too, to Dirs or else to WorkDir
	TempRoot string           // the documented default directory of the MCP server
	StateDir string           // the spool lives in StateDir/spool
	HomeDir  string           // refused as a root; empty asks the operating system
	Now      func() time.Time // nil means time.Now
}

// Workspace holds the allowed directories open.
type Workspace struct{ cfg Config }

// Decision is the answer of Check.
type Decision struct {
	Allow bool
	Path  string
	Rule  string
	Err   error
}

// Description says which policy applies and where.
type Description struct {
	Policy string     `json:"policy"`
	Roots  []RootInfo `json:"roots"`
	Spool  string     `json:"spool"`
}

// RootInfo describes one allowed directory.
type RootInfo struct {
	Entry    string `json:"entry"`
	Path     string `json:"path"`
	Glob     bool   `json:"glob"`
	Primary  bool   `json:"primary"`
	Writable bool   `json:"writable"`
}

// File is a regular file that was opened for reading.
type File struct {
	*os.File
	Path string
	Name string
	Size int64
}

// OutputSpec says what is going to be written.
type OutputSpec struct {
	Dest      string
	Template  string
	Tool, ID  string
	Vars      map[string]string
	Count     int
	Ext       string
	Overwrite bool
	NeedBytes int64
}

// Target is a planned output.
type Target struct{}

// Temp is one item while it is written.
type Temp struct{}

// Saved is a file at its final name, or in the spool.
type Saved struct {
	Path    string
	Bytes   int64
	SHA256  string
	Spooled bool
}

var errEmpty = fault.New(fault.UnsupportedOperation, "workspace is being built")

// Open opens the allowed directories.
func Open(cfg Config) (*Workspace, error)                            { return &Workspace{cfg: cfg}, nil }
func (w *Workspace) Close() error                                    { return nil }
func (w *Workspace) Warnings() []string                              { return nil }
func (w *Workspace) Describe() Description                           { return Description{} }
func (w *Workspace) Check(path string, a Access) Decision            { return Decision{Err: errEmpty} }
func (w *Workspace) Open(path string, maxBytes int64) (*File, error) { return nil, errEmpty }
func (w *Workspace) Plan(s OutputSpec) (*Target, error)              { return nil, errEmpty }
func (t *Target) Paths() []string                                    { return nil }
func (t *Target) Dir() string                                        { return "" }
func (t *Target) Close() error                                       { return nil }
func (t *Target) Create(index int) (*Temp, error)                    { return nil, errEmpty }
func (t *Target) CreatePartial(index, partial int) (*Temp, error)    { return nil, errEmpty }
func (f *Temp) Write(p []byte) (int, error)                          { return 0, errEmpty }
func (f *Temp) Head() []byte                                         { return nil }
func (f *Temp) File() (io.ReaderAt, int64)                           { return nil, 0 }
func (f *Temp) Replace(data []byte) error                            { return errEmpty }
func (f *Temp) Commit(ext string) (Saved, error)                     { return Saved{}, errEmpty }
func (f *Temp) Abort() error                                         { return nil }
func (w *Workspace) MoveSpooled(spoolPath, finalPath string, overwrite bool) (Saved, error) {
	return Saved{}, errEmpty
}
func (w *Workspace) WriteSidecar(mediaPath string, v any, overwrite bool) (string, error) {
	return "", errEmpty
}
func (w *Workspace) FindByID(ids, exts []string) ([]string, error) { return nil, errEmpty }
func (w *Workspace) Latest(n int, exts []string) ([]string, error) { return nil, errEmpty }
