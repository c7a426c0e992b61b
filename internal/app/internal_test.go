package app

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mediagen/internal/cli"
	"mediagen/internal/config"
	"mediagen/internal/engine"
	"mediagen/internal/iostreams"
)

// TestWait plays the ends of a program: by itself, after one signal, after two, and when it hangs.
func TestWait(t *testing.T) {
	t.Parallel()
	type ends struct {
		code  int
		after time.Duration
		kind  engine.Kind // of the first signal, as commands see it
		left  bool        // paid requests were cut off
	}
	for _, tc := range []struct {
		name    string
		signals []os.Signal   // one a second
		lasts   time.Duration // of the command; 0 for ever
		want    ends
	}{
		{"no signal", nil, time.Second, ends{code: 5, after: time.Second}},
		{"one SIGINT", []os.Signal{os.Interrupt}, time.Hour, ends{5, time.Hour, engine.KindInterrupted, false}},
		{"one SIGTERM", []os.Signal{syscall.SIGTERM}, time.Hour, ends{5, time.Hour, engine.KindTerminated, false}},
		{"one SIGHUP", []os.Signal{syscall.SIGHUP}, time.Hour, ends{5, time.Hour, engine.KindTerminated, false}},
		{"two, the command ends", []os.Signal{os.Interrupt, os.Interrupt}, 3 * time.Second, ends{5, 3 * time.Second, engine.KindInterrupted, true}},
		{"two, the command hangs", []os.Signal{os.Interrupt, os.Interrupt}, 0, ends{130, 2*time.Second + leaveTime, engine.KindInterrupted, true}},
		{"two kinds: the first counts", []os.Signal{syscall.SIGTERM, os.Interrupt}, 0, ends{143, 2*time.Second + leaveTime, engine.KindTerminated, true}},
		{
			"three, the command ends",
			[]os.Signal{os.Interrupt, os.Interrupt, os.Interrupt},
			3*time.Second + hurryTime/2,
			ends{5, 3*time.Second + hurryTime/2, engine.KindInterrupted, true},
		},
		{
			"three, the command hangs",
			[]os.Signal{os.Interrupt, os.Interrupt, os.Interrupt},
			0,
			ends{130, 3*time.Second + hurryTime, engine.KindInterrupted, true},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				soft, stop := context.WithCancelCause(context.Background())
				abort, leave := context.WithCancel(context.Background())
				defer leave()
				done, signals := make(chan int, 1), make(chan os.Signal, 3)
				if tc.lasts > 0 {
					go func() { time.Sleep(tc.lasts); done <- 5 }() //nolint:forbidigo // time stands still here
				}
				go func() {
					for _, s := range tc.signals {
						time.Sleep(time.Second) //nolint:forbidigo // time stands still here
						signals <- s
					}
				}()
				begin := time.Now()
				got := ends{code: wait(done, signals, stop, leave), after: time.Since(begin), left: abort.Err() != nil}
				if s := cli.SignalOf(soft); s != nil {
					got.kind = s.Kind
				}
				if got != tc.want {
					t.Errorf("got %+v, want %+v", got, tc.want)
				}
				synctest.Wait()
			})
		})
	}
}

// TestSanitizing shortens what holds a picture, unless the settings say otherwise; keys never come through.
func TestSanitizing(t *testing.T) {
	t.Parallel()
	picture := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAA", 10)
	words := strings.Repeat("many words ", 20)
	for _, tc := range []struct {
		name      string
		env       []string
		has, lack []string
	}{
		{"on", nil, []string{`url="` + picture[:64] + "...", "blob=\"" + words[:64] + `..."`, "other=\"" + words + `"`}, []string{picture}},
		{
			"off",
			[]string{"MEDIA_GEN_LOG_SANITIZE_IMAGES=off"},
			[]string{"url=" + picture, "blob=\"" + words + `"`, "other=\"" + words + `"`},
			nil,
		},
		{
			"other fields",
			[]string{"MEDIA_GEN_LOG_SANITIZE_KEYS=other"},
			[]string{"blob=\"" + words + `"`, "other=\"" + words[:64] + `..."`},
			[]string{picture},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			streams, _, errOut := iostreams.Test("")
			a := newApp(t.Context(), Process{
				Environ: append(tc.env, "OPENAI_API_KEY=sk-canary-0123456789"), HomeDir: "/home/me", WorkDir: "/base", Streams: streams, Now: time.Now,
			})
			if err := a.load(nil); err != nil {
				t.Fatal(err)
			}
			a.newLogger(slog.LevelInfo).Info("x", "url", picture, "blob", words, "other", words, "key", "sk-canary-0123456789", "n", 3)
			for _, part := range tc.has {
				if !strings.Contains(errOut.String(), part) {
					t.Errorf("no %q in: %s", part, errOut)
				}
			}
			for _, part := range append(tc.lack, "sk-canary-0123456789") {
				if strings.Contains(errOut.String(), part) {
					t.Errorf("%q in: %s", part, errOut)
				}
			}
		})
	}
}

// TestLevels reads every word that the settings allow.
func TestLevels(t *testing.T) {
	t.Parallel()
	for _, s := range config.Settings() {
		if s.Key != "log.level" && s.Key != "openai.log" {
			continue
		}
		seen := map[slog.Level]bool{}
		for _, word := range s.Words {
			seen[levelOf(word)] = true
		}
		if len(seen) != len(s.Words) || !seen[silent] {
			t.Errorf("%s: words %v give levels %v", s.Key, s.Words, seen)
		}
	}
}

// TestDeps are complete: a missing one would be a panic in a command that nobody tried.
func TestDeps(t *testing.T) {
	t.Parallel()
	streams, _, _ := iostreams.Test("")
	d := Deps(Process{Streams: streams, Now: time.Now})
	if words := d.SettingWords("log-format"); strings.Join(words, " ") != "text json" {
		t.Errorf("words of --log-format: %v", words)
	}
	if words := d.SettingWords(""); words != nil {
		t.Errorf("words of no flag: %v", words)
	}
	for _, name := range d.Words("provider") {
		if name != nameOpenAI && name != nameAzure && name != nameEmulator {
			t.Errorf("provider %s", name)
		}
	}
	if len(d.Words("quality")) == 0 || len(d.Faults()) == 0 || len(d.Config.Sample()) == 0 {
		t.Error("words, faults or sample are empty")
	}
}
