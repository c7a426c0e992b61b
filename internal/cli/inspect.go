package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"mediagen/internal/engine"
)

func newInspect(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use: "inspect FILE|-...", Short: "Say what pictures and videos are", Args: atLeastOne("file"),
		Long: "Print what the headers of pictures and videos say: format, size, frames, colour profile, codecs, whether a " +
			"video was cut short, and where the file says that it comes from. Nothing is decoded, and content credentials " +
			"(C2PA) are found, not verified. Beside a picture that was made with --sidecar its prompt, model and cost are " +
			"shown too.",
		Example: `  mediagen images inspect photo.jpg
  mediagen images inspect --json --jq '.items[] | "\(.source) \(.width)x\(.height)"' *.png
  mediagen images inspect - < clip.mp4`,
		Annotations: map[string]string{exitCodes: exitStatus(inspectCodes...)},
		RunE: func(cmd *cobra.Command, args []string) error {
			return sh.withEngine(cmd, func(ctx context.Context, s Session) error {
				rows, err := s.InspectMedia(ctx, args)
				if rows == nil {
					return err
				}
				return sh.inspected(rows, err)
			})
		},
	}
}

// inspected prints the rows, also when some files could not be read, and returns the error to end with.
func (sh *shell) inspected(rows []engine.Inspection, err error) error {
	var errs []*engine.ItemError
	for _, row := range rows {
		errs = append(errs, row.Error)
	}
	sh.scrubErrors(errs)
	text := func(w io.Writer) error { return sh.cards(w, rows) }
	if err == nil {
		return sh.items(rows, text)
	}
	err = sh.failedItems(err, rows, text)
	if !sh.flags.wantsJSON() {
		sh.reasons(errs)
	}
	return err
}

// cards prints one card a file that could be read, with an empty line between two.
func (sh *shell) cards(w io.Writer, rows []engine.Inspection) error {
	shown := 0
	for _, row := range rows {
		if row.Error != nil {
			continue
		}
		if shown++; shown > 1 {
			if err := write(w, "\n"); err != nil {
				return err
			}
		}
		if err := card(w, sh.mediaRows(row)); err != nil {
			return err
		}
	}
	return nil
}

func (sh *shell) mediaRows(i engine.Inspection) [][]string {
	rows := [][]string{
		{"file", sh.shown(i.Source)},
		{"format", i.Format + ", " + i.MediaType},
		{"bytes", strconv.FormatInt(i.Bytes, 10)},
		{"size", pixels(i.Width, i.Height)},
		{"frames", known(i.Frames)},
	}
	if d := i.Image; d != nil {
		rows = append(rows, [][]string{
			{"orientation", strconv.Itoa(d.Orientation)},
			{"colour profile", orWord(d.Profile, "none")},
			{"transparency", yesNo(d.Alpha)},
		}...)
	}
	if i.Video != nil {
		rows = append(rows, videoRows(*i.Video)...)
	}
	rows = append(rows, [][]string{
		{"content credentials", credentials(i.C2PA)},
		{"digital source type", i.SourceType},
	}...)
	if s := i.Sidecar; s != nil {
		rows = append(rows, [][]string{
			{"prompt", s.Prompt},
			{"model", s.Model},
			{"provider", s.Provider},
			{"cost", costText(s.Cost)},
			{"made", day(s.Made)},
		}...)
	}
	return rows
}

func videoRows(v engine.VideoDetails) [][]string {
	rows := [][]string{
		{"brand", v.Brand},
		{"duration", decimal(v.DurationS, " s")},
		{"frames a second", decimal(v.FPS, "")},
		{"rotation", known(int64(v.Rotation))},
		{"video codec", v.VideoCodec},
		{"audio codec", v.AudioCodec},
		{"starts while loading", yesNo(v.FastStart)},
	}
	whole := "yes"
	switch {
	case v.Missing > 0:
		whole = fmt.Sprintf("no, %d bytes are missing", v.Missing)
	case !v.Whole:
		whole = "no"
	}
	return append(rows, []string{"whole", whole})
}

func pixels(w, h int) string {
	if w == 0 || h == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", w, h)
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// known is a number, or nothing for 0.
func known(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func decimal(v float64, unit string) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64) + unit
}

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

func credentials(c2pa bool) string {
	if c2pa {
		return "present (C2PA, not verified)"
	}
	return "none"
}

func orWord(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func costText(c engine.SidecarCost) string {
	if c.Amount == nil {
		return engine.BasisUnknown
	}
	return fmt.Sprintf("%s %s (%s)", c.Amount, c.Currency, c.Basis)
}
