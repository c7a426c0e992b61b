package journal

import (
	"slices"
	"strings"
	"testing"
	"time"

	"mediagen/internal/fault"
)

func TestNewIDSortsByTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var ids []string
	for i := range 2000 {
		id := newID(start.Add(time.Duration(i) * time.Millisecond))
		if !isID(id) || strings.ContainsAny(id, "ilou") {
			t.Fatalf("newID = %q, want %d Crockford characters", id, idLen)
		}
		ids = append(ids, id)
	}
	if !slices.IsSorted(ids) {
		t.Error("ids of later milliseconds sort before earlier ones")
	}
	if len(slices.Compact(ids)) != 2000 {
		t.Error("ids repeat")
	}
}

func TestNewIDAtTheEdgesOfItsClock(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.UnixMilli(idEpoch), time.UnixMilli(idEpoch + 1<<40 - 1)} {
		if id := newID(at); !isID(id) {
			t.Errorf("newID(%v) = %q, want %d Crockford characters", at, id, idLen)
		}
	}
	if a, b := newID(time.UnixMilli(idEpoch))[:8], "00000000"; a != b {
		t.Errorf("the first millisecond is %s, want %s", a, b)
	}
	if a, b := newID(time.UnixMilli(idEpoch + 1<<40 - 1))[:8], "zzzzzzzz"; a != b {
		t.Errorf("the last millisecond is %s, want %s", a, b)
	}
}

// The chance part must not repeat between ids of one millisecond more often than 20 bits of it explain.
func TestNewIDIsRandomWithinAMillisecond(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	for range 1000 {
		seen[newID(at)] = true
	}
	if len(seen) < 990 { // half a repetition is expected
		t.Errorf("1000 ids of one millisecond are only %d different ones", len(seen))
	}
}

func TestCleanID(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{"0JX3Abcd": "0jx3abcd", "olIO": "0110", "": "", "zzzz": "zzzz"} {
		if got := cleanID(typed); got != want {
			t.Errorf("cleanID(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestCheckPrefix(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"0000", "0jx3abcd", "zzzzzzzzzzzz"} {
		if err := checkPrefix(good, good); err != nil {
			t.Errorf("checkPrefix(%q) = %v", good, err)
		}
	}
	bad := []string{"", "000", "0000000000000", "00-0", "00%0", "00u0", "äääää", strings.Repeat("x\n", 9999)}
	for _, bad := range bad {
		err := checkPrefix(bad, "nosuch"+bad)
		if fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("checkPrefix(%.20q) = %v, want invalid_argument", bad, err)
			continue
		}
		if !strings.Contains(err.Error(), "nosuch") {
			t.Errorf("checkPrefix(%.20q) does not show what was typed: %v", bad, err)
		}
		if len(err.Error()) > 200 || strings.Contains(err.Error(), "\n") {
			t.Errorf("checkPrefix(%.20q) answers with %q", bad, err)
		}
	}
}
