package geocodingeval

import (
	"fmt"
	"io"
	"time"
)

// line is one line of a table: what was measured, what came out, and what was to come out.
type line struct {
	what, ours, bar string
	met             bool
}

// atMost is a line about a time, which has a bar where that counts.
func atMost(what string, took, bar time.Duration, counts bool) line {
	l := line{what, took.Round(10 * time.Nanosecond).String(), "", true}
	if counts {
		l.bar, l.met = "≤ "+bar.String(), took <= bar
	}
	return l
}

// allOf is a line about how many of some things are right, all of which have to be.
func allOf(what string, right, of int) line {
	return line{what, fmt.Sprintf("%d of %d", right, of), "all", right == of}
}

// table prints lines and remembers the bars that are missed.
type table struct {
	out    io.Writer
	name   string // of the map
	missed Missed
}

func (t *table) heading(format string, a ...any) {
	fmt.Fprintf(t.out, "\n## "+format+"\n\n| What | Ours | Bar |\n|---|---|---|\n", a...)
}

func (t *table) row(l line) {
	if !l.met {
		t.missed = append(t.missed, fmt.Sprintf("%s: %s (%s): %s", t.name, l.what, l.bar, l.ours))
		l.ours += " ✗"
	}
	fmt.Fprintf(t.out, "| %s | %s | %s |\n", l.what, l.ours, l.bar)
}

// noMore is a line about a number that has an upper bound.
func noMore(what string, n, bar int) line {
	return line{what, fmt.Sprint(n), fmt.Sprint("≤ ", bar), n <= bar}
}
