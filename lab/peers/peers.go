// Package peers has the accuracy of OSRM and Valhalla on the same drives, and the bars that `make eval` derives from
// it. The figures are recorded; scripts/ measures them. Start with Table.
package peers

import (
	"math"

	"github.com/mapsedge/caddy-maps/lab/drives"
)

// Figures are the mismatches of two engines in one cell. OSRM 6.0.0 had radiuses of max(5, σ), and the better of tidy
// on and off. Valhalla 3.5.1 had a gps_accuracy of max(5, σ), and a search radius of 50 to 80 m.
type Figures struct{ OSRM, Valhalla float64 }

// Table has the figures of every cell.
type Table map[drives.Cell]Figures

// GivenDrives are the peers' figures for the 300 drives of porto_drives.json.gz: 20 a cell, made with OSRM's own router
// on greater Porto. They are comparable with ours on those very drives.
var GivenDrives = table([]Figures{
	{0.396, 0.0085}, {0.0113, 0.0029}, {0.0076, 0.0046}, {0.0231, 0.0380}, {0.0436, 0.0979},
	{2.05, 0.204}, {0.0380, 0.0106}, {0.0353, 0.0235}, {0.0217, 0.0297}, {0.0452, 0.0731},
	{2.62, 0.868}, {0.145, 0.0928}, {0.0317, 0.0395}, {0.0399, 0.0389}, {0.0784, 0.0912},
})

// OtherDrives are the peers' figures for other drives on greater Porto, of the same kind from another seed and likewise
// 20 a cell. Beside drives that are neither, they only show the order of magnitude.
var OtherDrives = table([]Figures{
	{0.299, 0.0025}, {0.0058, 0.0041}, {0.0036, 0.0063}, {0.0215, 0.0312}, {0.0405, 0.0924},
	{1.98, 0.204}, {0.0246, 0.0120}, {0.0164, 0.0155}, {0.0374, 0.0369}, {0.0955, 0.118},
	{2.92, 0.909}, {0.181, 0.0735}, {0.0276, 0.0341}, {0.0460, 0.0594}, {0.0888, 0.118},
})

// table fills a table in the order of drives.Cells.
func table(figures []Figures) Table {
	t := Table{}
	for i, cell := range drives.Cells() {
		t[cell] = figures[i]
	}
	return t
}

// The bars. Up to shortInterval the matcher has to be clearly better than both peers. Where positions are farther apart
// the truth, which OSRM's router made, favours OSRM.
const (
	shortInterval = 15.0   // seconds
	shortShare    = 0.75   // of the better peer's figure
	shortFloor    = 0.0025 // where that share is less: below, rounding of coordinates decides
	denseInterval = 5.0    // seconds: up to here also at most dense
	midInterval   = 30.0   // seconds
	midShare      = 0.9
	longShare     = 1.1

	// MeanBar is what the mean over all cells may be.
	MeanBar = 0.025
	// WithoutRadius is by how much more the bars allow where the request says nothing of its radius.
	WithoutRadius = 1.25
)

// dense are bars for dense traces, where no peer is good, by sigma.
var dense = map[float64]float64{4: 0.010, 10: 0.020, 20: 0.040}

// Bar is what the mismatch in a cell may be; ok is false in cells that the peers have no figures for.
func (t Table) Bar(cell drives.Cell) (bar float64, ok bool) {
	f, ok := t[cell]
	if !ok {
		return 0, false
	}
	better := min(f.OSRM, f.Valhalla)
	switch {
	case cell.Interval > midInterval:
		return longShare * better, true
	case cell.Interval > shortInterval:
		return midShare * better, true
	}
	bar = max(shortShare*better, shortFloor)
	if cell.Interval <= denseInterval {
		bar = min(bar, dense[cell.Sigma])
	}
	return bar, true
}

// Mean is the mean over all cells.
func (t Table) Mean() Figures {
	var sum Figures
	for _, f := range t {
		sum.OSRM += f.OSRM
		sum.Valhalla += f.Valhalla
	}
	n := math.Max(1, float64(len(t)))
	return Figures{sum.OSRM / n, sum.Valhalla / n}
}
