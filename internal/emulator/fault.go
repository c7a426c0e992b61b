package emulator

import (
	"slices"
	"strconv"
	"strings"

	"mediagen/internal/fault"
)

// FaultHeader is the request header that asks for one fault, in the words of ParseFault. A reply that was changed by a
// fault carries the fault's name under the same header.
const FaultHeader = "X-Emulator-Fault"

// Fault is one misbehaviour that the emulator shows on request.
type Fault struct {
	Name  string // one of FaultNames
	Arg   string // what the fault takes, see FaultDocs; empty for most
	Times int    // only the first Times requests are hit; 0 = every one
}

// FaultDoc is one line of help about a fault.
type FaultDoc struct {
	Name  string
	Usage string
}

// FaultNames returns the names of all faults, in the order of the help.
func FaultNames() []string {
	names := make([]string, 0, len(faultTable))
	for _, d := range faultTable {
		names = append(names, d.name)
	}
	return names
}

// FaultDocs returns one line of help for each fault.
func FaultDocs() []FaultDoc {
	docs := make([]FaultDoc, 0, len(faultTable))
	for _, d := range faultTable {
		doc := FaultDoc{Name: d.name, Usage: d.usage}
		if d.early {
			doc.Usage += "; not as a prompt prefix"
		}
		docs = append(docs, doc)
	}
	return docs
}

// ParseFault reads NAME[:ARG][:times=N], for example "rate-limit:2", "unavailable:times=1" or "slow:500ms". The HTTP
// status numbers 401, 403, 404, 422, 429, 500, 502 and 503 stand for the faults that answer with them. An unknown name
// or an argument that the fault cannot use is fault.InvalidArgument.
func ParseFault(spec string) (Fault, error) {
	name, rest, more := strings.Cut(strings.TrimSpace(spec), ":")
	def, ok := findFault(name)
	if !ok {
		return Fault{}, fault.New(fault.InvalidArgument, "unknown fault %q, known are %s",
			clip(name, 40), strings.Join(FaultNames(), ", "))
	}
	f := Fault{Name: def.name}
	if more {
		arg, times, err := splitTimes(rest)
		if err != nil {
			return Fault{}, err
		}
		f.Arg, f.Times = arg, times
	}
	return f, f.check()
}

// String returns the fault in the words that ParseFault reads.
func (f Fault) String() string {
	s := f.Name
	if f.Arg != "" {
		s += ":" + f.Arg
	}
	if f.Times > 0 {
		s += ":times=" + strconv.Itoa(f.Times)
	}
	return s
}

// check reports whether the emulator can show f.
func (f Fault) check() error {
	def, ok := findFault(f.Name)
	if !ok {
		return fault.New(fault.InvalidArgument, "unknown fault %q, known are %s",
			clip(f.Name, 40), strings.Join(FaultNames(), ", "))
	}
	if f.Times < 0 {
		return fault.New(fault.InvalidArgument, "fault %s: times must be 1 or more", f.Name)
	}
	var p plan
	if err := def.set(&p, f.Arg); err != nil {
		return fault.New(fault.InvalidArgument, "fault %s: %w", f.Name, err)
	}
	return nil
}

// splitTimes takes a trailing times=N off an argument, which may hold colons itself.
func splitTimes(rest string) (arg string, times int, err error) {
	arg, last := "", rest
	if i := strings.LastIndexByte(rest, ':'); i >= 0 {
		arg, last = rest[:i], rest[i+1:]
	}
	number, ok := strings.CutPrefix(last, "times=")
	if !ok {
		return rest, 0, nil
	}
	times, err = strconv.Atoi(number)
	if err != nil || times < 1 {
		return "", 0, fault.New(fault.InvalidArgument, "times=%s must be a whole number of 1 or more", clip(number, 20))
	}
	return arg, times, nil
}

// faultPrefix splits a prompt that begins with [[fault:SPEC]] into the spec and the prompt without it.
func faultPrefix(prompt string) (spec, rest string) {
	after, ok := strings.CutPrefix(prompt, "[[fault:")
	if !ok {
		return "", prompt
	}
	spec, rest, ok = strings.Cut(after, "]]")
	if !ok {
		return "", prompt
	}
	return spec, strings.TrimLeft(rest, " ")
}

// findFault looks a fault up by name or alias.
func findFault(name string) (faultDef, bool) {
	i := slices.IndexFunc(faultTable, func(d faultDef) bool { return d.name == name || slices.Contains(d.aliases, name) })
	if i < 0 {
		return faultDef{}, false
	}
	return faultTable[i], true
}

// clip shortens text that came from outside before it goes into a message.
func clip(s string, runes int) string {
	r := []rune(s)
	if len(r) <= runes {
		return s
	}
	return string(r[:runes]) + "..."
}
