// Package workspace decides which files may be read and written, opens them so that nothing leaves the allowed
// directories, names outputs, and saves them: a name is whole or absent, and no byte that was paid for is dropped.
//
// Two policies exist. Under roots (MEDIA_GEN_DIRS, the MCP server's default directory, or --strict-dirs) every path is
// opened through an os.Root that was opened at the start, and one set of name rules holds on every platform: no
// backslash, colon, reserved Windows name, 8.3 alias, control or format character, hidden file, key file. Under the
// person's own authority (a shell without MEDIA_GEN_DIRS) the operating system's permissions are the policy, so that
// odd file names work; only what protects is kept: no NUL or control character, no leading "~/" (the shell expands
// that), and nothing but regular files is read or replaced, never a device, FIFO or socket.
//
// It does not look into files beyond their first bytes, does not fetch anything and knows no provider, price or job. It
// cannot see that a hard link below a root shares its bytes with a file outside, nor does it stop mount points: who may
// create those below a root already has the operator's trust, as has who may link a plain name to a hidden one there.
// Absolute symbolic links below a root are refused even when they point inside, because os.Root refuses them; relative
// ones that stay inside work, except in the part of a name that a pattern decides.
package workspace

import (
	"os"
	"path/filepath"
	"sync"
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
	Dirs     []string         // entries of MEDIA_GEN_DIRS, already split at commas; nil means unset
	WorkDir  string           // absolute; where the shell's relative paths and default output go; empty asks the system
	Shell    bool             // true: unset Dirs means the person's own authority; false: unset Dirs means TempRoot
	Strict   bool             // the shell is bound too, to Dirs or else to WorkDir
	TempRoot string           // the documented default directory of the MCP server, created 0700
	StateDir string           // the spool lives in StateDir/spool; empty leaves only the system's temporary directory
	HomeDir  string           // refused as a root; empty asks the system
	Now      func() time.Time // nil means time.Now
}

// The policies, as Describe names them.
const (
	policyRoots   = "roots"
	policyOwn     = "own authority"
	policyDefault = "default directory"
)

// Workspace holds the allowed directories open. It is safe for concurrent use.
type Workspace struct {
	cfg      Config
	policy   string
	roots    []*root // the first is the primary one; none under the person's own authority
	warnings []string
	ops      ops

	mu      sync.Mutex
	kept    [2]*folder // spool, and its stand-in below the system's temporary directory; opened when first needed
	tempDir string     // where that stand-in was made
	swept   map[string]bool
}

// Description says which policy applies and where.
type Description struct {
	Policy string     `json:"policy"` // "roots", "own authority" or "default directory"
	Roots  []RootInfo `json:"roots"`  // under own authority: the working directory alone, where relative names go
	Spool  string     `json:"spool"`  // where paid bytes go that cannot be saved; empty when there is no state directory
}

// RootInfo describes one allowed directory.
type RootInfo struct {
	Entry    string `json:"entry"`    // as configured
	Path     string `json:"path"`     // the directory that is held open, symbolic links resolved
	Glob     bool   `json:"glob"`     // only names that match Entry are open
	Primary  bool   `json:"primary"`  // outputs without a destination go here
	Writable bool   `json:"writable"` // the policy allows writes; the system's permissions are another matter
}

// Open resolves and opens every allowed directory once. An entry that cannot be used is policy_invalid, and then
// nothing is open: half a policy would be a different one.
func Open(cfg Config) (*Workspace, error) {
	cfg, err := withDefaults(cfg)
	if err != nil {
		return nil, err
	}
	w := &Workspace{cfg: cfg, ops: systemOps(), swept: map[string]bool{}}
	switch {
	case len(cfg.Dirs) > 0:
		w.policy = policyRoots
		err = w.openEntries()
	case cfg.Shell && cfg.Strict:
		w.policy = policyRoots
		err = w.openWorkDir()
	case cfg.Shell:
		w.policy = policyOwn
	default:
		w.policy = policyDefault
		err = w.openTempRoot()
	}
	if err != nil {
		_ = w.Close() // the reason to stop is err
		return nil, err
	}
	return w, nil
}

func withDefaults(cfg Config) (Config, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.WorkDir == "" {
		dir, err := os.Getwd()
		if err != nil {
			return cfg, fault.New(fault.PolicyInvalid, "the working directory cannot be found: %w", err)
		}
		cfg.WorkDir = dir
	}
	if !filepath.IsAbs(cfg.WorkDir) {
		return cfg, fault.New(fault.PolicyInvalid, "the working directory %q must be an absolute path", cfg.WorkDir)
	}
	cfg.WorkDir = filepath.Clean(cfg.WorkDir)
	if cfg.HomeDir == "" {
		if home, err := os.UserHomeDir(); err == nil { // a service without a home has none to protect
			cfg.HomeDir = home
		}
	}
	return cfg, nil
}

// Close lets go of the directories. Targets that are still in use keep theirs.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first error
	for _, r := range w.roots {
		if err := r.h().Close(); err != nil && first == nil {
			first = err
		}
	}
	for i, d := range w.kept {
		if d == nil {
			continue
		}
		if err := d.h.Close(); err != nil && first == nil {
			first = err
		}
		w.kept[i] = nil
	}
	if w.tempDir != "" {
		_ = os.Remove(w.tempDir) // goes only when it is empty
	}
	return first
}

// Warnings returns what the operator should know about the configured directories, one line each.
func (w *Workspace) Warnings() []string { return w.warnings }

// Describe says which policy applies and which directories it opens.
func (w *Workspace) Describe() Description {
	d := Description{Policy: w.policy, Roots: []RootInfo{}}
	if w.cfg.StateDir != "" {
		d.Spool = w.spoolPath()
	}
	if w.policy == policyOwn {
		d.Roots = append(d.Roots, RootInfo{Entry: ".", Path: w.cfg.WorkDir, Primary: true, Writable: true})
		return d
	}
	for i, r := range w.roots {
		d.Roots = append(d.Roots, RootInfo{
			Entry: r.entry, Path: r.real, Glob: r.glob(), Primary: i == 0, Writable: !w.readOnly(r),
		})
	}
	return d
}

// readOnly says whether the policy refuses writes below r. A pattern cannot be the primary output, because it names no
// directory; as a later entry it can be written to by name.
func (w *Workspace) readOnly(r *root) bool { return r.glob() && r == w.roots[0] }
