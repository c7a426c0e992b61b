package journal

import "slices"

// State is a job's state; the same words stand in the journal, in --json, in MCP results and in `jobs list`.
type State string

// The states of a job (design.md §2).
const (
	StatePlanned   State = "planned"   // recorded; provably not sent
	StateSent      State = "sent"      // bytes may have reached the provider
	StateQueued    State = "queued"    // accepted, waiting at the provider
	StateRunning   State = "running"   // being made at the provider
	StateSucceeded State = "succeeded" // ready or received, but not yet saved where it belongs
	StateLanded    State = "landed"    // saved and stat'ed
	StateFailed    State = "failed"    // ended without a result
	StateBlocked   State = "blocked"   // refused by the provider's safety system
	StateCancelled State = "cancelled" // given up by the user, and the provider agreed or was never asked
	StateExpired   State = "expired"   // the provider no longer has it
	StateUnknown   State = "unknown"   // sent, and no usable answer came; may be billed
)

// followers is the transition table: what may follow each state. A state without followers is final.
//
// Unknown is not final: it may have been billed, so a later answer, a resume or the slow owner itself may still settle
// it. Queued and running go both ways because a provider may put a job back into its queue.
func followers(s State) (next []State, known bool) {
	ends := []State{
		StateSucceeded, StateLanded, StateFailed, StateBlocked, StateCancelled, StateExpired, StateUnknown,
	}
	switch s {
	case StatePlanned:
		return []State{StateSent, StateFailed, StateCancelled}, true
	case StateSent, StateUnknown:
		return append(ends, StateQueued, StateRunning), true
	case StateQueued:
		return append(ends, StateRunning), true
	case StateRunning:
		return append(ends, StateQueued), true
	case StateSucceeded:
		return []State{StateLanded, StateFailed, StateBlocked, StateExpired}, true
	case StateLanded, StateFailed, StateBlocked, StateCancelled, StateExpired:
		return nil, true
	}
	return nil, false
}

// States returns all states in the order of a job's life.
func States() []State {
	return []State{
		StatePlanned, StateSent, StateQueued, StateRunning, StateSucceeded, StateLanded,
		StateFailed, StateBlocked, StateCancelled, StateExpired, StateUnknown,
	}
}

// Final reports whether nothing can follow s. An unknown word is not final.
func Final(s State) bool {
	next, known := followers(s)
	return known && len(next) == 0
}

// CanMove reports whether a job in state from may be put into state to. Staying is allowed, so that a repeated report
// is no error, with one exception: a job that was sent is never sent again.
func CanMove(from, to State) bool {
	next, known := followers(from)
	if from == to {
		return known && to != StateSent
	}
	return slices.Contains(next, to)
}
