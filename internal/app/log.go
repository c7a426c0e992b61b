package app

import (
	"log/slog"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"mediagen/internal/cli"
	"mediagen/internal/redact"
)

// keptInLogs is how many characters of a field that holds a picture stay in a log line (tool-contract §8).
const keptInLogs = 64

// silent is above every level.
const silent = slog.Level(math.MaxInt)

// newLogger writes to stderr from a level on, every line scrubbed.
func (a *app) newLogger(level slog.Level) *slog.Logger {
	if level == silent {
		return slog.New(slog.DiscardHandler)
	}
	opt := &slog.HandlerOptions{Level: level, ReplaceAttr: a.cutAttr}
	w := a.logScrubber().Writer(a.Streams.Err)
	if a.cfg.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opt))
	}
	return slog.New(slog.NewTextHandler(w, opt))
}

// logScrubber takes secrets out of log lines, and base64 unless log.sanitize_images is off.
func (a *app) logScrubber() *redact.Scrubber {
	if a.cfg.Log.SanitizeImages {
		return a.scrub
	}
	return a.scrub.WithMedia()
}

// logLevel follows --log-level, else -v and -q, else the settings. Who asks for requests to be logged gets them.
func (a *app) logLevel(o cli.OpenOptions) slog.Level {
	level := levelOf(a.cfg.Log.Level)
	if !strings.HasPrefix(a.origin("log.level"), "flag ") {
		switch {
		case o.Quiet:
			level = max(level, slog.LevelError)
		case o.Verbose > 1:
			level = slog.LevelDebug
		case o.Verbose == 1:
			level = min(level, slog.LevelInfo)
		}
	}
	if o.LogRequests {
		level = min(level, slog.LevelInfo)
	}
	return level
}

// providerLogger logs a provider's requests: as OPENAI_LOG says where somebody set it, else as everything.
func (a *app) providerLogger(o cli.OpenOptions) *slog.Logger {
	if a.origin("openai.log") == "default" {
		return a.log
	}
	level := levelOf(a.cfg.OpenAI.Log)
	if o.LogRequests {
		level = min(level, slog.LevelInfo)
	}
	return a.newLogger(level)
}

// origin says where the value of a setting came from, as config.Origin.From does.
func (a *app) origin(key string) string {
	for _, o := range a.cfg.Origins() {
		if o.Key == key {
			return o.From
		}
	}
	return ""
}

// levelOf reads the words of log.level and openai.log, which the settings have checked.
func levelOf(word string) slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(word)) != nil {
		return silent // "silent" and "off" are no levels of slog
	}
	return l
}

// cutAttr shortens the fields that hold pictures, and base64 in any field. Without log.sanitize_images they stay whole.
func (a *app) cutAttr(_ []string, attr slog.Attr) slog.Attr {
	if !a.cfg.Log.SanitizeImages || attr.Value.Kind() != slog.KindString {
		return attr
	}
	text := attr.Value.String()
	if slices.Contains(a.cfg.Log.SanitizeKeys, attr.Key) && utf8.RuneCountInString(text) > keptInLogs {
		return slog.String(attr.Key, string([]rune(text)[:keptInLogs])+"...")
	}
	return slog.String(attr.Key, redact.Base64(text, keptInLogs))
}
