package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mediagen/internal/engine"
	"mediagen/internal/provider/openai"
	"mediagen/internal/redact"
)

// linking answers creates with links and hands every other request to files.
func linking(t testing.TB, files http.HandlerFunc, links ...string) *server {
	t.Helper()
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			files(w, r)
			return
		}
		w.Header().Set("Content-Type", jsonType)
		items := make([]string, len(links))
		own := strings.NewReplacer("SELFHOST", r.Host, "SELF", "http://"+r.Host)
		for i, link := range links {
			items[i] = fmt.Sprintf(`{"url":%q}`, own.Replace(link))
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(items, ","))
	}))
}

var (
	notRead     = outcome{engine.KindUnknownOutcome, "download_failed", engine.BilledYes}
	otherOrigin = outcome{engine.KindUnknownOutcome, "url_not_allowed", engine.BilledYes}
)

func TestLinksOfTheOwnOrigin(t *testing.T) {
	t.Parallel()
	for name, link := range map[string]string{
		"absolute": "SELF/v1/files/1?sig=x", "upper case": "SELF/v1/files/1?sig=x#f", "without host": "/v1/files/1?sig=x",
		"relative to the base": "files/1?sig=x", "with a detour": "/other/../v1/files/1?sig=x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var header http.Header
			srv := linking(t, func(w http.ResponseWriter, r *http.Request) {
				header = r.Header
				if r.URL.RequestURI() != "/v1/files/1?sig=x" {
					t.Errorf("asked for %s", r.URL.RequestURI())
				}
				_, _ = w.Write(one)
			}, link)
			if name == "upper case" {
				link = strings.ToUpper(srv.URL[:4]) + srv.URL[4:]
			}
			out := newSink()
			reply, err := generate(t, client(t, srv.URL), out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([][]byte{one}, out.final()); diff != "" || reply.Pictures != 1 || len(out.links) > 0 {
				t.Errorf("%d pictures, links %v: %s", reply.Pictures, out.links, diff)
			}
			if header.Get("Authorization") != "Bearer "+testKey {
				t.Errorf("Authorization = %q", header.Get("Authorization"))
			}
		})
	}
}

func TestKeysOfDownloads(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(c *openai.Config, origin string)
		want   [2]string // Authorization, Api-Key
	}{
		"no key": {func(c *openai.Config, _ string) { c.APIKey = redact.Secret{} }, [2]string{"", ""}},
		"azure": {func(c *openai.Config, origin string) {
			c.Azure = &openai.Azure{Endpoint: origin, APIVersion: "v"}
		}, [2]string{"", testKey}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got [2]string
			srv := linking(t, func(w http.ResponseWriter, r *http.Request) {
				got = [2]string{r.Header.Get("Authorization"), r.Header.Get("Api-Key")}
				_, _ = w.Write(one)
			}, "/f")
			c := client(t, srv.URL, func(c *openai.Config) { tt.change(c, srv.URL) })
			if _, err := generate(t, c, newSink()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinksElsewhereAreKeptAndNotFollowed(t *testing.T) {
	t.Parallel()
	other := serve(t, http.NotFoundHandler())
	host := strings.TrimPrefix(other.URL, "http://")
	for _, link := range []string{
		other.URL + "/a.png?sig=s", "//" + host + "/a.png", "https://SELFHOST/a.png", "http://user:pw@SELFHOST/a.png",
		"http://SELFHOST.elsewhere.invalid/a", "http://SELFHOST@" + host + "/a", "ftp://SELFHOST/a", "file:///etc/passwd",
		"javascript:alert(1)", `http:\\` + host + `\a`, "http://[::1", "http:relative", `\\` + host + `\a`,
	} {
		srv := linking(t, func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("%s was followed to %s", link, r.URL)
		}, link)
		link = strings.ReplaceAll(link, "SELFHOST", strings.TrimPrefix(srv.URL, "http://"))
		out := newSink()
		reply, err := generate(t, client(t, srv.URL), out)
		if _, got := told(t, err); got != otherOrigin {
			t.Errorf("%s: %v %v", link, got, err)
		}
		want := link
		if strings.HasPrefix(link, "//") {
			want = "http:" + link
		}
		if diff := cmp.Diff(map[int]string{0: want}, out.links); diff != "" || reply.Pictures > 0 {
			t.Errorf("%s: %s", link, diff)
		}
		if strings.Contains(err.Error(), host) {
			t.Errorf("the error shows the link: %v", err)
		}
	}
	if posts, gets := other.counts(); posts+gets > 0 {
		t.Errorf("%d requests went elsewhere", posts+gets)
	}
}

// hijacked ends the connection in the middle of a body.
func hijacked(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Length", "100000")
	_, _ = io.WriteString(w, body)
	_ = http.NewResponseController(w).Flush()
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestDownloadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		bad     http.HandlerFunc
		times   int // bad answers before the good one
		want    outcome
		gets    int
		aborted int
		slept   []time.Duration // nil: anything
	}{
		{name: "a status", bad: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, times: 3, gets: 4},
		{name: "not there yet", bad: http.NotFound, times: 2, gets: 3},
		{
			name: "a broken body",
			bad:  func(w http.ResponseWriter, _ *http.Request) { hijacked(w, strings.Repeat("p", 5000)) }, times: 2, gets: 3,
			aborted: 2,
		},
		{name: "an empty body", bad: func(http.ResponseWriter, *http.Request) {}, times: 1, gets: 2, aborted: 1},
		{
			name:  "a login page",
			bad:   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!doctype html><html></html>") },
			times: 1, gets: 2,
		},
		{
			name: "an error with status 200",
			bad:  func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"detail":"wait"}`) }, times: 1,
			gets: 2,
		},
		{
			name: "a partial content",
			bad:  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(206); _, _ = w.Write(one) }, times: 1, gets: 2,
		},
		{
			name: "never", bad: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, times: 99, gets: 4,
			want: notRead,
		},
		{
			name: "never whole", bad: func(w http.ResponseWriter, _ *http.Request) { hijacked(w, "ppp") }, times: 99, gets: 4,
			want: notRead,
		},
		{
			name: "the server asks to wait", times: 1, gets: 2, slept: []time.Duration{3 * time.Second},
			bad: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "3"); w.WriteHeader(429) },
		},
		{
			name: "the server asks to wait too long", times: 1, gets: 1, want: notRead, slept: []time.Duration{},
			bad: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(503)
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			srv := linking(t, func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked <= tt.times {
					tt.bad(w, r)
					return
				}
				_, _ = w.Write(one)
			}, "/v1/images/7/content")
			out, n := newSink(), &naps{}
			reply, err := generate(t, client(t, srv.URL, func(c *openai.Config) { c.Retry.Sleep = n.sleep }), out)
			if posts, gets := srv.counts(); posts != 1 || gets != tt.gets {
				t.Errorf("%d creates and %d downloads, want 1 and %d", posts, gets, tt.gets)
			}
			if tt.slept != nil && fmt.Sprint(n.slept) != fmt.Sprint(tt.slept) {
				t.Errorf("slept %v, want %v", n.slept, tt.slept)
			}
			if len(out.pauses) > 0 || out.open > 0 {
				t.Errorf("the sink was told of pauses %v; %d open", out.pauses, out.open)
			}
			if tt.want == (outcome{}) {
				if err != nil || reply.Pictures != 1 || len(out.aborted) != tt.aborted || len(out.links) > 0 {
					t.Errorf("error %v, %d pictures, %d aborted, links %v", err, reply.Pictures, len(out.aborted), out.links)
				}
				return
			}
			if _, got := told(t, err); got != tt.want {
				t.Errorf("%v %v", got, err)
			}
			if diff := cmp.Diff(map[int]string{0: srv.URL + "/v1/images/7/content"}, out.links); diff != "" {
				t.Errorf("links: %s", diff)
			}
		})
	}
}

// TestOnePictureOfThreeCannotBeRead checks that the links behind it are neither lost nor left out.
func TestOnePictureOfThreeCannotBeRead(t *testing.T) {
	t.Parallel()
	srv := linking(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/2" {
			w.WriteHeader(500)
			return
		}
		_, _ = io.WriteString(w, "picture "+r.URL.Path)
	}, "https://elsewhere.invalid/0", "/1", "/2", "/3")
	out := newSink()
	reply, err := generate(t, client(t, srv.URL), out)
	if _, got := told(t, err); got != otherOrigin || reply.Pictures != 2 {
		t.Errorf("%v, %d pictures", err, reply.Pictures)
	}
	want := map[int]string{0: "https://elsewhere.invalid/0", 2: srv.URL + "/2"}
	if diff := cmp.Diff(want, out.links); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]byte{[]byte("picture /1"), []byte("picture /3")}, out.final()); diff != "" {
		t.Error(diff)
	}
}

func TestRedirectsOfDownloads(t *testing.T) {
	t.Parallel()
	var seen []string
	other := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = append(seen, r.URL.Path) }))
	tests := []struct {
		name, location string
		want           outcome
		link           string
		gets           int
	}{
		{"within the origin", "/moved", outcome{}, "", 2},
		{"in a circle", "", notRead, "SELF/file", 12},
		{"to another origin", other.URL + "/cdn?X-Amz-Signature=s", otherOrigin, other.URL + "/cdn?X-Amz-Signature=s", 1},
		{"to another scheme", "https:", otherOrigin, "https:", 1},
		{"nowhere", "http://[::1", notRead, "SELF/file", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, status := range []int{301, 302, 303, 307, 308} {
				srv := linking(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/moved" {
						_, _ = w.Write(one)
						return
					}
					to := tt.location
					if to == "" {
						to = r.URL.Path
					}
					w.Header().Set("Location", to)
					w.WriteHeader(status)
				}, "/file")
				c := client(t, srv.URL, func(c *openai.Config) {
					c.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // would follow
				})
				out := newSink()
				_, err := generate(t, c, out)
				if _, gets := srv.counts(); gets != tt.gets {
					t.Errorf("%d: %d downloads, want %d", status, gets, tt.gets)
				}
				if tt.want == (outcome{}) {
					if err != nil || len(out.final()) != 1 {
						t.Errorf("%d: %v", status, err)
					}
					continue
				}
				if _, got := told(t, err); got != tt.want {
					t.Errorf("%d: %v %v", status, got, err)
				}
				want := map[int]string{0: strings.ReplaceAll(tt.link, "SELF", srv.URL)}
				if diff := cmp.Diff(want, out.links); diff != "" {
					t.Errorf("%d: links: %s", status, diff)
				}
			}
		})
	}
	t.Cleanup(func() {
		if len(seen) > 0 {
			t.Errorf("the other origin was asked for %v", seen)
		}
	})
}

// TestALocalFailureIsNoReasonToDownloadAgain keeps the link, so that the picture is not lost with the disk.
func TestALocalFailureIsNoReasonToDownloadAgain(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	for name, out := range map[string]*sink{
		"picture": {failPicture: full}, "write": {failWrite: full},
		"commit": {failCommit: full},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out.saved, out.links = map[engine.Slot][]byte{}, map[int]string{}
			srv := linking(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(one) }, "/1", "/2")
			_, err := generate(t, client(t, srv.URL), out)
			if _, got := told(t, err); got != (outcome{engine.KindFailure, "failed", engine.BilledYes}) {
				t.Errorf("%v %v", got, err)
			}
			if _, gets := srv.counts(); gets != 2 || out.open != 0 {
				t.Errorf("%d downloads, want 2; %d open", gets, out.open)
			}
			if diff := cmp.Diff(map[int]string{0: srv.URL + "/1", 1: srv.URL + "/2"}, out.links); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAWaitThatEndsWhileDownloading keeps all links.
func TestAWaitThatEndsWhileDownloading(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	srv := linking(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}, "/1", "/2", "/3")
	out := newSink()
	_, err := client(t, srv.URL).GenerateImages(ctx, engine.ImageCall{Prompt: "p"}, out)
	if _, got := told(t, err); got != notRead || len(out.links) != 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, links %v", err, out.links)
	}
	if _, gets := srv.counts(); gets != 1 {
		t.Errorf("%d downloads, want 1", gets)
	}
}

func TestTooManyLinks(t *testing.T) {
	t.Parallel()
	srv := linking(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(one) },
		strings.Split(strings.Repeat("/f ", 200), " ")[:200]...)
	reply, err := client(t, srv.URL).GenerateImages(t.Context(), engine.ImageCall{Prompt: "p", N: 200}, newSink())
	if _, got := told(t, err); got != unusable || reply.Pictures != 128 {
		t.Errorf("%v, %d pictures", err, reply.Pictures)
	}
	if _, gets := srv.counts(); gets != 128 {
		t.Errorf("%d downloads", gets)
	}
}
