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

// progress shows the progress of a long command, its memory and the remaining time of the stage: a bar on a terminal,
// otherwise a line at intervals and one at the end of each stage.
type progress struct {
	out   io.Writer
	bars  bool
	stage string
	began time.Time
	bar   *progressbar.ProgressBar
	ended bool      // the current stage has ended
	said  time.Time // when the last line or the last description was
	every time.Duration
}

const (
	lineEvery        = 10 * time.Second
	descriptionEvery = time.Second
)

func newProgress(out io.Writer) *progress {
	file, is := out.(*os.File)
	p := &progress{out: out, bars: is && term.IsTerminal(int(file.Fd())), every: lineEvery}
	if p.bars {
		p.every = descriptionEvery
	}
	return p
}

// update reports the progress of a stage.
func (p *progress) update(stage string, done, total int64) {
	if stage != p.stage {
		p.end()
		p.stage, p.began, p.said, p.ended = stage, time.Now(), time.Now(), false
		if p.bars {
			p.bar = newBar(p.out, p.description(), total)
		}
	}
	if due := time.Since(p.said) >= p.every; due && done < total {
		p.said = time.Now()
		if p.bar != nil {
			p.bar.Describe(p.description())
		} else {
			fmt.Fprintf(p.out, "%s: %d%%, %s\n", p.description(), 100*done/total, p.left(done, total))
		}
	}
	if p.bar != nil {
		_ = p.bar.Set64(min(done, total)) // only the terminal can fail
	}
	if done < total || p.ended {
		return
	}
	p.ended = true
	if !p.bars {
		fmt.Fprintf(p.out, "%s: done in %s\n", stage, round(time.Since(p.began)))
	}
}

// description is the stage and the memory of the process.
func (p *progress) description() string {
	return fmt.Sprintf("%s (%s)", p.stage, humanize.IBytes(uint64(compiler.UsedMemory())))
}

// left estimates the remaining time of a stage from its speed so far.
func (p *progress) left(done, total int64) string {
	if done <= 0 {
		return "time left unknown"
	}
	rest := time.Duration(float64(time.Since(p.began)) * float64(total-done) / float64(done))
	return fmt.Sprintf("about %s left", rest.Round(time.Second))
}

// line prints a line above the bar.
func (p *progress) line(text string) {
	if p.bar != nil {
		_ = p.bar.Clear() // only the terminal can fail
	}
	fmt.Fprintln(p.out, text)
}

// end removes an unfinished bar, so that later output begins on a new line.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	_ = p.bar.Clear() // only the terminal can fail
	p.bar = nil
	if p.ended {
		fmt.Fprintf(p.out, "%s: done in %s\n", p.stage, round(time.Since(p.began)))
	}
}

func newBar(out io.Writer, description string, total int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(description),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(65*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionUseANSICodes(true),
	)
}
