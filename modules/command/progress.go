package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a long command has come: a bar on a terminal, a line at the end of each stage elsewhere.
type progress struct {
	out   io.Writer
	bars  bool
	stage string
	began time.Time
	bar   *progressbar.ProgressBar
	ended bool // the present stage has come to its end
}

func newProgress(out io.Writer) *progress {
	file, is := out.(*os.File)
	return &progress{out: out, bars: is && term.IsTerminal(int(file.Fd()))}
}

// update is told how far a stage has come.
func (p *progress) update(stage string, done, total int64) {
	if stage != p.stage {
		p.end()
		p.stage, p.began, p.ended = stage, time.Now(), false
		if p.bars {
			p.bar = newBar(p.out, stage, total)
		}
	}
	if p.bar != nil {
		_ = p.bar.Set64(min(done, total)) // an error is one of the terminal
	}
	if done < total || p.ended {
		return
	}
	p.ended = true
	if !p.bars {
		fmt.Fprintf(p.out, "%s: done in %s\n", stage, round(time.Since(p.began)))
	}
}

// line prints a line that is not about progress; a bar goes on below it.
func (p *progress) line(text string) {
	if p.bar != nil {
		_ = p.bar.Clear() // an error is one of the terminal
	}
	fmt.Fprintln(p.out, text)
}

// end takes away a bar that is still there, so that what comes next stands on a line of its own.
func (p *progress) end() {
	if p.bar == nil {
		return
	}
	_ = p.bar.Clear() // an error is one of the terminal
	p.bar = nil
	if p.ended {
		fmt.Fprintf(p.out, "%s: done in %s\n", p.stage, round(time.Since(p.began)))
	}
}

func newBar(out io.Writer, stage string, total int64) *progressbar.ProgressBar {
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(stage),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(65*time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionUseANSICodes(true),
	)
}
