package emulator

import (
	"fmt"
	"strings"
	"sync"
)

// maxCounters bounds the memory that counters of faults asked for by header or prompt may take.
const maxCounters = 4096

// faultBook knows the faults that every request is asked for and counts how often each limited fault was shown.
type faultBook struct {
	server []candidate

	mu   sync.Mutex
	used map[string]int
}

// candidate is a fault that could hit a request. Uses are counted by key: one counter for each fault of Options, for
// each header value and path, and for each prompt that begins with a fault.
type candidate struct {
	fault Fault
	key   string
}

func newFaultBook(faults []Fault) *faultBook {
	b := &faultBook{used: map[string]int{}}
	for i, f := range faults {
		b.server = append(b.server, candidate{fault: f, key: fmt.Sprintf("option %d", i)})
	}
	return b
}

// take returns the first candidate that is not used up, provided that want accepts it, and counts the use. Only the
// first one is looked at, so that a list of faults is shown in its order.
func (b *faultBook) take(list []candidate, want func(faultDef) bool) (Fault, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range list {
		if c.fault.Times > 0 && b.used[c.key] >= c.fault.Times {
			continue
		}
		def, ok := findFault(c.fault.Name)
		if !ok || !want(def) {
			return Fault{}, false
		}
		if c.fault.Times > 0 {
			b.count(c.key)
		}
		return c.fault, true
	}
	return Fault{}, false
}

func (b *faultBook) count(key string) {
	if len(b.used) >= maxCounters {
		for k := range b.used { // counters of Options stay: they are few and must not start again
			if !strings.HasPrefix(k, "option ") {
				delete(b.used, k)
			}
		}
	}
	b.used[key]++
}

// readFaultHeader turns the request header into a candidate that goes before those of Options.
func (x *exchange) readFaultHeader() *apiError {
	spec := x.r.Header.Get(FaultHeader)
	x.candidates = x.s.faults.server
	if spec == "" {
		return nil
	}
	f, err := ParseFault(spec)
	if err != nil {
		return badRequest("", "unknown_fault", "header %s: %v", FaultHeader, err)
	}
	x.candidates = append([]candidate{{f, "header " + x.r.URL.Path + " " + f.String()}}, x.candidates...)
	return nil
}

// readPromptFault turns a prompt's prefix into a candidate that goes before all others, and returns the prompt without
// the prefix.
func (x *exchange) readPromptFault(prompt string) (string, *apiError) {
	spec, rest := faultPrefix(prompt)
	if spec == "" {
		return prompt, nil
	}
	f, err := ParseFault(spec)
	if err != nil {
		return rest, badRequest("prompt", "unknown_fault", "prompt prefix: %v", err)
	}
	if def, _ := findFault(f.Name); def.early {
		return rest, badRequest("prompt", "unknown_fault",
			"fault %s happens before the prompt is read; ask for it with the header %s", f.Name, FaultHeader)
	}
	key := "prompt " + digest(prompt)
	x.candidates = append([]candidate{{f, key}}, x.candidates...)
	return rest, nil
}

// takeFault picks the fault of this request, sets the plan and tells the client and the log which one it is.
func (x *exchange) takeFault(want func(faultDef) bool) bool {
	f, ok := x.s.faults.take(x.candidates, want)
	if !ok {
		return false
	}
	def, _ := findFault(f.Name)
	if err := def.set(&x.plan, f.Arg); err != nil { // ParseFault and newService have checked it
		return false
	}
	x.entry.Fault = f.Name
	x.w.Header().Set(FaultHeader, f.Name)
	return true
}
