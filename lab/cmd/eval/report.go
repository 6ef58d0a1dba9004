package main

import (
	"fmt"
	"io"
	"strings"
)

// report prints Markdown and remembers the bars that are missed.
type report struct {
	out    io.Writer
	missed []string // what each is about, with what was measured
}

// heading starts a section.
func (r *report) heading(format string, a ...any) { fmt.Fprintf(r.out, "\n## "+format+"\n\n", a...) }

// say prints a paragraph.
func (r *report) say(format string, a ...any) { fmt.Fprintf(r.out, format+"\n", a...) }

// table prints a table with columns as wide as they have to be, so that it reads well as plain text.
func (r *report) table(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 3)
			}
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for i, row := range rows {
		r.row(row, widths, " ")
		if i == 0 {
			dashes := make([]string, len(row))
			for k := range dashes {
				dashes[k] = strings.Repeat("-", widths[k])
			}
			r.row(dashes, widths, "-")
		}
	}
	fmt.Fprintln(r.out)
}

func (r *report) row(cells []string, widths []int, fill string) {
	for i, cell := range cells {
		fmt.Fprintf(r.out, "|%s%s%s%s", fill, cell, strings.Repeat(" ", widths[i]-len([]rune(cell))), fill)
	}
	fmt.Fprintln(r.out, "|")
}

// atMost is a value with a mark where it is above its bar, which then counts as missed.
func (r *report) atMost(name string, value, bar float64) string {
	return r.marked(fmt.Sprintf("%s (at most %.4f)", name, bar), fmt.Sprintf("%.4f", value), value <= bar)
}

// marked is a text with a mark where a bar is missed, which is remembered by its name.
func (r *report) marked(name, text string, met bool) string {
	if met {
		return text
	}
	r.missed = append(r.missed, name+": "+text)
	return text + " ✗"
}
