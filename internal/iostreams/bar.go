package iostreams

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	maxBars     = 8  // bars shown at once; a display taller than the terminal could not be erased
	barWidth    = 20 // characters of a bar
	labelShare  = 3  // a label takes one third of the line at most
	minETA      = 2 * time.Second
	eraseToEnd  = "\x1b[J" // clears from the cursor to the end of the screen (ECMA-48)
	eraseInLine = "\x1b[K" // clears from the cursor to the end of the line
)

// bar draws the bar or spinner of one job. The library only makes the text, for it can draw no two bars at once.
type bar struct {
	lib    *progressbar.ProgressBar
	counts bool
	total  int64
}

func newBar(total int64, bytes bool) bar {
	if total < 1 {
		total = -1 // the library's word for unknown; it cannot draw a bar that is full at the start
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetTheme(progressbar.ThemeASCII),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionSpinnerCustom([]string{"|", "/", "-", `\`}),
		// 0 makes the spinner turn with each drawing; the library would start a goroutine for anything else.
		progressbar.OptionSetSpinnerChangeInterval(0),
	}
	counts := bytes || total > 0
	if counts {
		options = append(options, progressbar.OptionShowCount())
	}
	lib := progressbar.NewOptions64(total, options...)
	return bar{lib: lib, counts: counts, total: total}
}

// text returns the bar at a count, with its label.
func (b bar) text(label string, done int64) string {
	if b.total > 0 {
		done = min(done, b.total)
	}
	// Neither call can fail: the writer takes everything and done is within the total.
	b.lib.Describe(label)
	if b.counts {
		_ = b.lib.Set64(done)
	}
	return strings.TrimSpace(b.lib.String())
}

// erase returns what takes the bars off the terminal.
func (p *Progress) erase() string {
	if p.drawn == 0 {
		return ""
	}
	text := "\r" + eraseToEnd
	if p.drawn > 1 {
		text = fmt.Sprintf("\x1b[%dA", p.drawn-1) + text
	}
	p.drawn = 0
	return text
}

// draw returns the bars of the running jobs and counts their lines. The cursor stays behind the last one.
func (p *Progress) draw(now time.Time) string {
	columns := p.s.columns() - 1 // a full line would wrap on some terminals
	var lines []string
	for _, j := range p.jobs[:min(len(p.jobs), maxBars)] {
		lines = append(lines, clip(j.draw(now, columns), columns)+eraseInLine)
	}
	if more := len(p.jobs) - maxBars; more > 0 {
		lines = append(lines, clip(fmt.Sprintf("and %d more", more), columns)+eraseInLine)
	}
	p.drawn = len(lines)
	return strings.Join(lines, "\n")
}

// draw returns the line of one job: bar, elapsed and remaining time, note.
func (j *job) draw(now time.Time, columns int) string {
	elapsed := now.Sub(j.started)
	line := j.bar.text(clip(j.label, columns/labelShare), j.done) + " " + duration(elapsed)
	if j.total > 0 && j.done > 0 && j.done < j.total && elapsed >= minETA {
		left := time.Duration(float64(elapsed) * float64(j.total-j.done) / float64(j.done))
		line += ", " + duration(left.Round(time.Second)) + " left"
	}
	if j.note != "" {
		line += ", " + j.note
	}
	return line
}
