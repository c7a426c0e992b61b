package journal

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The table as a person reads it, written a second time on purpose. Rows are from, columns to, in the order of States:
// x = allowed.
const wantMoves = `
              planned sent queued running succeeded landed failed blocked cancelled expired unknown
planned       x       x    .      .       .         .      x      .       x         .       .
sent          .       .    x      x       x         x      x      x       x         x       x
queued        .       .    x      x       x         x      x      x       x         x       x
running       .       .    x      x       x         x      x      x       x         x       x
succeeded     .       .    .      .       x         x      x      x       .         x       .
landed        .       .    .      .       .         x      .      .       .         .       .
failed        .       .    .      .       .         .      x      .       .         .       .
blocked       .       .    .      .       .         .      .      x       .         .       .
cancelled     .       .    .      .       .         .      .      .       x         .       .
expired       .       .    .      .       .         .      .      .       .         x       .
unknown       .       .    x      x       x         x      x      x       x         x       x
`

func TestCanMoveTable(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(wantMoves), "\n")
	var words []string
	for _, s := range States() {
		words = append(words, string(s))
	}
	if diff := cmp.Diff(words, strings.Fields(lines[0])); diff != "" {
		t.Fatalf("States() and the table's columns (-got +want):\n%s", diff)
	}
	for i, line := range lines[1:] {
		fields := strings.Fields(line)
		from := States()[i]
		if fields[0] != string(from) {
			t.Fatalf("row %d is %s, want %s", i, fields[0], from)
		}
		for k, to := range States() {
			if got, want := CanMove(from, to), fields[k+1] == "x"; got != want {
				t.Errorf("CanMove(%s, %s) = %v, want %v", from, to, got, want)
			}
		}
	}
}

func TestFinalMeansNoWayOut(t *testing.T) {
	t.Parallel()
	for _, from := range States() {
		wayOut := slices.ContainsFunc(States(), func(to State) bool { return to != from && CanMove(from, to) })
		if Final(from) == wayOut {
			t.Errorf("Final(%s) = %v, but a way out exists: %v", from, Final(from), wayOut)
		}
	}
	var final []State
	for _, s := range States() {
		if Final(s) {
			final = append(final, s)
		}
	}
	want := []State{StateLanded, StateFailed, StateBlocked, StateCancelled, StateExpired}
	if diff := cmp.Diff(want, final); diff != "" {
		t.Errorf("final states (-want +got):\n%s", diff)
	}
}

func TestEveryStateIsReachedThroughSent(t *testing.T) {
	t.Parallel()
	reached := map[State]bool{StatePlanned: true}
	for queue := []State{StatePlanned}; len(queue) > 0; queue = queue[1:] {
		for _, to := range States() {
			if CanMove(queue[0], to) && !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	for _, s := range States() {
		if !reached[s] {
			t.Errorf("no way leads to %s", s)
		}
		if s != StatePlanned && CanMove(s, StateSent) {
			t.Errorf("a job that is %s could be sent again", s)
		}
		if s != StatePlanned && CanMove(s, StatePlanned) {
			t.Errorf("a job that is %s could pass for one that was never sent", s)
		}
	}
}

func TestUnknownWordsGoNowhere(t *testing.T) {
	t.Parallel()
	for _, word := range []State{"", "done", "LANDED"} {
		if Final(word) || CanMove(word, word) || CanMove(word, StateSent) || CanMove(StateRunning, word) {
			t.Errorf("%q counts as a state", word)
		}
	}
}
