package main

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
)

// The drives that the bars of Delaware are for: their mean is another with other ones, by up to a half.
const (
	barredDrives = 10 // a cell
	barredSeed   = 1
)

// bar is what a table is held to.
type bar struct {
	mean float64 // mismatch, at most
	lost int     // drives, at most
}

// delawareBars are a fifth to a quarter above what was measured, by the name of the table. The same drives on the same
// map have the same answers on every machine, but for the last digits.
var delawareBars = map[string]bar{
	"by car":                     {0.0150, 0}, // drives may begin and end on private roads
	"by car, radius left out":    {0.0150, 0},
	"as recorded, without times": {0.0305, 0},
	"as recorded, with times":    {0.0290, 0},
	"roads missing":              {0.0520, 1},
	matching.Bicycle.String():    {0.0142, 0},
	matching.Foot.String():       {0.0740, 0},
}

// barred reports whether the bars of Delaware are for what is evaluated.
func (s *settings) barred() bool { return s.drives == barredDrives && s.seed == barredSeed }

// hold compares a table of Delaware with its bar, and prints what came out.
func (p *place) hold(table string, t accuracy.Table) {
	if p.name != delaware || !p.barred() {
		return
	}
	bar, name, lost := delawareBars[table], p.name+", "+table, 0
	for _, cell := range t {
		lost += cell.Lost
	}
	p.say("%s: mean %s, at most %.4f; %s lost, at most %d.", name, p.atMost(name+", mean", t.Mean(), bar.mean), bar.mean,
		p.marked(name+", drives lost", fmt.Sprint(lost), lost <= bar.lost), bar.lost)
}
