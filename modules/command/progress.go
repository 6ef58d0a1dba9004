package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/mapsedge/caddy-maps/internal/compiler"
)

// progress shows the progress of a long command, its remaining time, its stage and its memory: one bar on a terminal,
// otherwise a line at intervals and one at the end of each stage.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil away from a terminal
	every time.Duration            // between two lines, or two descriptions of the bar
	said  time.Time                // when the last one was

	shares map[string]float64
	passed float64 // the shares of the stages that have ended
	began  time.Time

	stage      string
	stageBegan time.Time
	stageEnded bool
}

const (
	lineEvery        = 10 * time.Second
	descriptionEvery = time.Second
)

// barSteps is the length of a bar.
const barSteps = 1000

// newProgress makes the progress of work with these stages and their usual shares of the time, in any unit. Without
// shares there is one stage.
func newProgress(out io.Writer, shares map[string]float64) *progress {
	now := time.Now()
	p := &progress{out: out, every: lineEvery, said: now, shares: shares, began: now}
	if file, is := out.(*os.File); is && term.IsTerminal(int(file.Fd())) {
		p.every, p.bar = descriptionEvery, newBar(out)
	}
	return p
}

// update reports the progress of a stage.
func (p *progress) update(stage string, done, total int64) {
	now := time.Now()
	if stage != p.stage {
		p.passed += p.shares[p.stage]
		p.stage, p.stageBegan, p.stageEnded = stage, now, false
	}
	part := p.part(float64(done) / float64(total))
	if due := now.Sub(p.said) >= p.every; due && done < total {
		p.said = now
		text := fmt.Sprintf("%s (%s, %s)", timeLeft(now.Sub(p.began), part), stage,
			humanize.IBytes(uint64(compiler.UsedMemory())))
		if p.bar != nil {
			p.bar.Describe(text)
		} else {
			fmt.Fprintf(p.out, "%.0f%%, %s\n", 100*part, text)
		}
	}
	if p.bar != nil {
		_ = p.bar.Set64(int64(barSteps * part)) // only the terminal can fail
	} else if done >= total && !p.stageEnded {
		fmt.Fprintf(p.out, "%s: done in %s\n", stage, round(now.Sub(p.stageBegan)))
	}
	p.stageEnded = done >= total
}

// part is how much of the whole work is done when a part of the stage is done, from 0 to 1.
func (p *progress) part(ofStage float64) float64 {
	all := 0.0
	for _, share := range p.shares {
		all += share
	}
	if all == 0 {
		return min(ofStage, 1)
	}
	return min((p.passed+p.shares[p.stage]*ofStage)/all, 1)
}

// timeLeft estimates the remaining time from the part of the work that is done.
func timeLeft(elapsed time.Duration, part float64) string {
	if part < 0.01 { // or the guess is wild
		return "time left unknown"
	}
	left := time.Duration(float64(elapsed) * (1 - part) / part)
	switch {
	case left >= time.Hour:
		return fmt.Sprintf("about %dh%02dm left", left/time.Hour, left%time.Hour/time.Minute)
	case left >= 2*time.Minute:
		return fmt.Sprintf("about %dm left", left.Round(time.Minute)/time.Minute)
	}
	return fmt.Sprintf("about %s left", left.Round(time.Second))
}

// line prints a line above the bar.
func (p *progress) line(text string) {
	p.end()
	fmt.Fprintln(p.out, text)
}

// end removes the bar, so that later output begins on a new line.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear() // only the terminal can fail
	}
}

// newBar makes a bar without a time left of its own, which would take all stages to be as fast as the current one.
func newBar(out io.Writer) *progressbar.ProgressBar {
	return progressbar.NewOptions64(barSteps,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(65*time.Millisecond),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionUseANSICodes(true),
	)
}
