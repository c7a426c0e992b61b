package cli

import (
	"fmt"
	"strings"

	"mediagen/internal/engine"
)

// exitCode is the one table from kinds of failure to exit codes (design.md §9).
func exitCode(k engine.Kind) int {
	switch k {
	case engine.KindInvalidRequest, engine.KindUnsupported, engine.KindNotFound, engine.KindExists:
		return 2
	case engine.KindAuth, engine.KindConfig:
		return 3
	case engine.KindPolicyDenied:
		return 4
	case engine.KindBlocked:
		return 5
	case engine.KindRateLimited, engine.KindQuota:
		return 6
	case engine.KindUnavailable:
		return 7
	case engine.KindUnknownOutcome:
		return 8
	case engine.KindConstraint:
		return 9
	case engine.KindModelRetired:
		return 10
	case engine.KindOverBudget:
		return 11
	case engine.KindPartial:
		return 13
	default:
		return stoppedCode(k)
	}
}

// stoppedCode is the part of the table that follows the shell's customs: timeout(1) and 128 plus the signal.
func stoppedCode(k engine.Kind) int {
	switch k {
	case engine.KindWaitTimeout:
		return 124
	case engine.KindInterrupted:
		return 130
	case engine.KindTerminated:
		return 143
	default:
		return 1
	}
}

// ExitCode is the exit code of a kind, for a process that ends without running a command to its end.
func ExitCode(k engine.Kind) int { return exitCode(k) }

// exitDoc is what help, man pages and the topic say about the codes.
var exitDoc = []struct { //nolint:gochecknoglobals // constant table
	code int
	text string
}{
	{0, "success"},
	{1, "failure: local I/O, full disk, a broken journal, or a job that failed or expired at the provider"},
	{2, "the request can never work as it stands: bad arguments, unsupported, not found, or the target exists"},
	{3, "credentials or configuration"},
	{4, "refused by policy: path, URL, media type or bounds"},
	{5, "blocked by the provider's safety system"},
	{6, "rate limit, quota or billing"},
	{7, "provider or network unavailable"},
	{8, "unknown outcome: the request was sent and no usable answer came; it may be billed"},
	{9, "a constraint cannot be met: byte budget or exact size"},
	{10, "the model was retired"},
	{11, "over budget: the estimate exceeds the cap, or is unknown under one"},
	{13, "partial: some items made it"},
	{124, "the wait timed out; the job goes on"},
	{130, "interrupted (SIGINT)"},
	{143, "terminated (SIGTERM)"},
}

// exitStatus writes the EXIT STATUS section for a command that can end in the given codes.
func exitStatus(codes ...int) string {
	var b strings.Builder
	b.WriteString("EXIT STATUS")
	for _, row := range exitDoc {
		for _, c := range codes {
			if row.code == c {
				fmt.Fprintf(&b, "\n  %-4d %s", row.code, row.text)
			}
		}
	}
	return b.String()
}

// The codes that families of commands can end in.
var (
	localCodes    = []int{0, 1, 2, 3, 4, 130, 143}                                 //nolint:gochecknoglobals // a table
	paidCodes     = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 130, 143}         //nolint:gochecknoglobals // a table
	compressCodes = []int{0, 1, 2, 3, 4, 7, 9, 13, 130, 143}                       //nolint:gochecknoglobals // a table
	inspectCodes  = []int{0, 1, 2, 3, 4, 7, 13, 130, 143}                          //nolint:gochecknoglobals // a table
	allCodes      = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 124, 130, 143} //nolint:gochecknoglobals // a table
)
