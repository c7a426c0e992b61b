package journal

import "os"

// Owner identifies the running process for Create. bootID tells it from any other process that has had or will have the
// same PID: it names this boot of the machine, the PID namespace and the time at which the process started, as far as
// the operating system tells them, and is compared as a whole. It is opaque and may be empty.
func Owner() (pid int, bootID string) {
	pid = os.Getpid()
	return pid, mark(pid)
}

// Orphaned reports whether j waits for a process that is gone: the job is planned or sent, which only its owner can
// carry on, and the owner is dead, be it by kill -9 or by a reboot. A planned orphan was never sent; a sent one may be
// billed. Where the answer cannot be known (another container's process, a row without owner) it is false.
func Orphaned(j Job) bool {
	if j.State != StatePlanned && j.State != StateSent {
		return false
	}
	return j.PID > 0 && gone(j.PID, j.BootID)
}
