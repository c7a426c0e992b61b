package app

import (
	"log/slog"
	"slices"
	"unicode/utf8"

	"mediagen/internal/cli"
	"mediagen/internal/redact"
)

// keptInLogs is how many characters of a field that holds a picture stay in a log line (tool-contract §8).
const keptInLogs = 64

// newLogger writes to stderr, every line scrubbed. An explicit level wins; else -v tells.
func (a *app) newLogger(level string, o cli.OpenOptions) *slog.Logger {
	l, ok := levelOf(level)
	if !ok || a.isDefault("log.level", level) {
		l = flagLevel(o)
	}
	if level == "silent" {
		return slog.New(slog.DiscardHandler)
	}
	if o.LogRequests && l > slog.LevelInfo {
		l = slog.LevelInfo
	}
	opt := &slog.HandlerOptions{Level: l, ReplaceAttr: a.cutAttr}
	w := a.scrub.Writer(a.Streams.Err)
	if a.cfg.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, opt))
	}
	return slog.New(slog.NewTextHandler(w, opt))
}

// isDefault reports whether level is what the settings say without anybody having asked for it.
func (a *app) isDefault(key, level string) bool {
	for _, origin := range a.cfg.Origins() {
		if origin.Key == key {
			return origin.From == "default" && level == a.cfg.Log.Level
		}
	}
	return false
}

func levelOf(word string) (slog.Level, bool) {
	var l slog.Level
	if word == "" || l.UnmarshalText([]byte(word)) != nil {
		return 0, false
	}
	return l, true
}

func flagLevel(o cli.OpenOptions) slog.Level {
	switch {
	case o.Quiet:
		return slog.LevelError
	case o.Verbose > 1:
		return slog.LevelDebug
	case o.Verbose == 1:
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

// cutAttr shortens the fields that hold pictures.
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

// providerLogger follows OPENAI_LOG: "off" silences requests, a lower level than the log's own opens them.
func (a *app) providerLogger(o cli.OpenOptions) *slog.Logger {
	if o.LogRequests {
		return a.log
	}
	switch a.cfg.OpenAI.Log {
	case "off":
		return slog.New(slog.DiscardHandler)
	case "debug", "info":
		return a.newLogger(a.cfg.OpenAI.Log, o)
	}
	return a.log
}

// warn shows what settings and directories had to say.
func (a *app) warn(lines []string, o cli.OpenOptions) {
	if o.Quiet {
		return
	}
	for _, line := range lines {
		a.log.Warn(line)
	}
}
