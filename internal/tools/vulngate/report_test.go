package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = `{"config":{"protocol_version":"v1.0.0","go_version":"go1.26.8","scan_level":"symbol"}}
{"SBOM":{"modules":[{"path":"mediagen"},{"path":"example.com/m"}],"roots":["mediagen/cmd/mediagen"]}}
{"osv":{"id":"GO-1","summary":"parser runs away"}}
{"osv":{"id":"GO-2","summary":"header smuggling"}}
`

const (
	required = `{"finding":{"osv":"GO-1","fixed_version":"v1.2.0","trace":[{"module":"example.com/m","version":"v1.1.0"}]}}
`
	called = `{"finding":{"osv":"GO-1","fixed_version":"v1.2.0","trace":[
		{"module":"example.com/m","version":"v1.1.0","package":"example.com/m/p","receiver":"*T","function":"Parse"},
		{"module":"mediagen","package":"mediagen/internal/x","function":"Read"}]}}
`
	library = `{"finding":{"osv":"GO-2","fixed_version":"v1.26.9","trace":[
		{"module":"stdlib","version":"v1.26.8","package":"net/http","function":"Get"},
		{"module":"mediagen","package":"mediagen/internal/x","function":"Read"}]}}
`
	unfixed = `{"finding":{"osv":"GO-2","trace":[
		{"module":"example.com/m","version":"v1.1.0","package":"example.com/m/p","function":"F"},
		{"module":"mediagen","package":"mediagen/internal/x","function":"Read"}]}}
`
)

func TestReport(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, stream, want string
		failing            int
	}{
		{
			name: "clean", stream: head,
			want: "2 modules with go1.26.8: 0 reachable findings in modules\n",
		},
		{
			name: "required but not called", stream: head + required,
			want: "info GO-1 example.com/m@v1.1.0, fixed in v1.2.0, is not reached\n" +
				"2 modules with go1.26.8: 0 reachable findings in modules\n",
		},
		{
			name: "called", stream: head + required + called + called, failing: 1,
			want: "FAIL GO-1 example.com/m@v1.1.0, fixed in v1.2.0: parser runs away\n" +
				"     example.com/m/p.T.Parse is reached from mediagen/internal/x.Read\n" +
				"2 modules with go1.26.8: 1 reachable findings in modules\n",
		},
		{
			name: "called, then reported again as required", stream: head + called + required, failing: 1,
			want: "FAIL GO-1 example.com/m@v1.1.0, fixed in v1.2.0: parser runs away\n" +
				"     example.com/m/p.T.Parse is reached from mediagen/internal/x.Read\n" +
				"2 modules with go1.26.8: 1 reachable findings in modules\n",
		},
		{
			name: "standard library", stream: head + library,
			want: "note GO-2 standard library of go1.26.8, fixed in v1.26.9: header smuggling\n" +
				"2 modules with go1.26.8: 0 reachable findings in modules\n",
		},
		{
			name: "one id in a module and in the standard library", stream: head + library + unfixed, failing: 1,
			want: "FAIL GO-2 example.com/m@v1.1.0, fixed in no release yet: header smuggling\n" +
				"     example.com/m/p.F is reached from mediagen/internal/x.Read\n" +
				"note GO-2 standard library of go1.26.8, fixed in v1.26.9: header smuggling\n" +
				"2 modules with go1.26.8: 1 reachable findings in modules\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, err := read(strings.NewReader(tc.stream))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if err := r.print(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("print (-want +got):\n%s", diff)
			}
			if got := len(r.failing()); got != tc.failing {
				t.Errorf("failing = %d, want %d", got, tc.failing)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, stream, want string }{
		{"an empty stream", "", "not a symbol-level scan"},
		{"a module-level scan", strings.Replace(head, "symbol", "module", 1), "not a symbol-level scan"},
		{"a scan of no packages", strings.Replace(head, `"roots":["mediagen/cmd/mediagen"]`, `"roots":[]`, 1), "0 packages"},
		{"a cut stream", head[:len(head)-8], "unreadable stream"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(strings.NewReader(tc.stream))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("read = %v, want an error with %q", err, tc.want)
			}
		})
	}
}
