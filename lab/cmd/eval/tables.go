package main

import (
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/peers"
	"github.com/mapsedge/caddy-maps/lab/speed"
)

// Bars for cost in Porto.
const (
	speedBar  = 100_000              // points per second on one core
	p99Bar    = 5 * time.Millisecond // of a trip
	memoryBar = 170e6                // bytes of tables
	scaleBar  = 0.8                  // of the points per second on one copy
	// Of a build, for each byte of the extract: bytes of the region file, seconds for a megabyte, bytes of temporary
	// files.
	regionBar, processorBar, scratchBar = 6.5, 0.8, 6.0
)

// accuracyTable prints our mismatches beside the peers' and the bars.
func (r *report) accuracyTable(with, without accuracy.Table, table peers.Table, marks bool) {
	rows := [][]string{
		{"σ, t", "ours", "bar", "radius left out", "bar", "OSRM", "Valhalla", "missed", "added", "lost", "left out"},
	}
	value := func(name string, v, bar float64) string {
		if !marks {
			return fmt.Sprintf("%.4f", v)
		}
		return r.atMost(name, v, bar)
	}
	for _, cell := range drives.Cells() {
		ours, other := with[cell], without[cell]
		bar, known := table.Bar(cell)
		if ours == nil || other == nil || !known {
			continue
		}
		name := fmt.Sprintf("%.0f m, %.0f s", cell.Sigma, cell.Interval)
		lost := fmt.Sprint(ours.Lost + other.Lost)
		if marks {
			lost = r.marked(name+", drives lost", lost, ours.Lost+other.Lost == 0)
		}
		figures := table[cell]
		rows = append(rows, []string{
			name, value(name, ours.Share(), bar), fmt.Sprintf("%.4f", bar),
			value(name+", radius left out", other.Share(), peers.WithoutRadius*bar),
			fmt.Sprintf("%.4f", peers.WithoutRadius*bar),
			fmt.Sprintf("%.4f", figures.OSRM), fmt.Sprintf("%.4f", figures.Valhalla),
			fmt.Sprintf("%.4f", ours.Missed/ours.Truth), fmt.Sprintf("%.4f", ours.Added/ours.Truth), lost,
			fmt.Sprint(ours.LeftOut),
		})
	}
	mean, bar := table.Mean(), fmt.Sprintf("%.4f", peers.MeanBar)
	rows = append(rows, []string{"mean", value("mean", with.Mean(), peers.MeanBar), bar,
		value("mean, radius left out", without.Mean(), peers.MeanBar), bar,
		fmt.Sprintf("%.4f", mean.OSRM), fmt.Sprintf("%.4f", mean.Valhalla), "", "", "", ""})
	r.table(rows)
	r.say("(Length missed + length added) / length of the truth, tolerance 1.5 m. " +
		"\"ours\", \"missed\", \"added\" and \"left out\" (positions) are with radius = max(5, σ); " +
		"\"lost\" counts drives without an answer, with and without a radius.")
}

// disturbedTable prints what a disturbance does to each cell.
func (r *report) disturbedTable(name string, before, after accuracy.Table) {
	rows := [][]string{{name, "undisturbed", "disturbed", "missed more", "added more", "lost", "left out"}}
	for _, cell := range drives.Cells() {
		b, a := before[cell], after[cell]
		if b == nil || a == nil {
			continue
		}
		more := func(before, after float64) string {
			return fmt.Sprintf("%+.0f m a drive", (after-before)/float64(a.Drives))
		}
		rows = append(rows, []string{fmt.Sprintf("%.0f m, %.0f s", cell.Sigma, cell.Interval), fmt.Sprintf("%.4f", b.Share()),
			fmt.Sprintf("%.4f", a.Share()), more(b.Missed, a.Missed), more(b.Added, a.Added),
			fmt.Sprint(a.Lost), fmt.Sprint(a.LeftOut)})
	}
	r.table(rows)
}

// costTable prints the speed on trips and the size of the tables.
func (r *report) costTable(s speed.Result, n *dataset.Network, marks bool) {
	mark := func(name, text string, met bool) string {
		if !marks {
			return text
		}
		return r.marked(name, text, met)
	}
	r.table([][]string{
		{"", "ours", "bar", "OSRM", "Valhalla", "FMM"},
		{"points/s", mark("points/s", fmt.Sprintf("%.0f", s.PointsPerSecond), s.PointsPerSecond >= speedBar),
			fmt.Sprint(speedBar), "8286", "5640", "18900"},
		{"points/s, fastest round", fmt.Sprintf("%.0f", s.Fastest), "", "", "", ""},
		{"a trip, p50", milliseconds(s.P50), "", "", "", ""},
		{"a trip, p99", mark("p99 of a trip", milliseconds(s.P99), s.P99 <= p99Bar), milliseconds(p99Bar), "", "", ""},
		{"trips without an answer",
			mark("trips without an answer", fmt.Sprintf("%d of %d", s.Failed, s.Trips), s.Failed == 0),
			"0", "1 of 100", "0", ""},
		{"tables", mark("tables", megabytes(n.Roads), n.Roads <= memoryBar),
			megabytes(memoryBar), "78 MB", "17 MB", "671 MB"},
		{"map compiled in", seconds(n.Build.Took), "", "", "", ""},
	})
}

// scaleTable prints what a country of copies costs beside one copy.
func (r *report) scaleTable(one, country speed.Scaled, marks bool) {
	ratio := country.PointsPerSecond / one.PointsPerSecond
	speeds := fmt.Sprintf("%.2f", ratio)
	if marks {
		speeds = r.marked("points/s of those of one copy", speeds, ratio >= scaleBar)
	}
	size := func(b *testregion.Build) float64 { return float64(b.Extract) / 1e6 }
	slope := func(b *testregion.Build) string { return fmt.Sprintf("%.2f s/MB", b.Processor.Seconds()/size(b)) }
	times := func(n int64, b *testregion.Build) string {
		return fmt.Sprintf("%.1f times", float64(n)/float64(b.Extract))
	}
	a, b := &one.Build, &country.Build
	mark := func(name, text string, met bool) string {
		if !marks {
			return text
		}
		return r.marked(name, text, met)
	}
	r.table([][]string{
		{"", "one", fmt.Sprint(country.Copies), "bar"},
		{"points/s", fmt.Sprintf("%.0f", one.PointsPerSecond), fmt.Sprintf("%.0f", country.PointsPerSecond), ""},
		{"of those of one", "", speeds, fmt.Sprint(scaleBar)},
		{"extract", megabytes(a.Extract), megabytes(b.Extract), ""},
		{"region file", times(a.Region, a), mark("region file", times(b.Region, b),
			float64(b.Region) <= regionBar*float64(b.Extract)),
			fmt.Sprint(regionBar)},
		{"built in", seconds(a.Took), seconds(b.Took), ""},
		{"processor time", slope(a), mark("processor time", slope(b),
			b.Processor.Seconds() <= processorBar*size(b)), fmt.Sprint(processorBar)},
		{"anonymous memory", megabytes(a.Anonymous), megabytes(b.Anonymous), ""},
		{"temporary files", times(a.Scratch, a),
			mark("temporary files", times(b.Scratch, b), float64(b.Scratch) <= scratchBar*float64(b.Extract)),
			fmt.Sprint(scratchBar)},
		{"trips without an answer", fmt.Sprint(one.Failed), fmt.Sprint(country.Failed), ""},
	})
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }
func seconds(d time.Duration) string      { return fmt.Sprintf("%.2f s", d.Seconds()) }
func megabytes(n int64) string            { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
