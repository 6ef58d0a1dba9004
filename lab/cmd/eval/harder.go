package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
)

// recorded is how drives are outside of simulations: through the places of a trip, not by the fastest
// routes, with errors that are much the same for a while, gaps and outliers.
var recorded = drives.Recipe{Vias: 2, Wander: 0.5, Correlation: 15, Gaps: 0.06, Outliers: 0.01}

// missingRoads is the share of the smaller roads that is taken off the map for drives with parts off the network.
const missingRoads = 0.03

// harder evaluates drives as they are recorded, and drives over roads that the map does not have. It returns the
// outcomes.
func (p *place) harder(ctx context.Context) ([]accuracy.Outcome, error) {
	ds, err := recorded.Simulate(ctx, p.network.Graph, p.drives, p.seed)
	if err != nil {
		return nil, err
	}
	plain, err := accuracy.Run(ctx, p.matcher, ds, accuracy.SigmaRadius)
	if err != nil {
		return nil, err
	}
	timed, err := accuracy.RunTimed(ctx, p.matcher, ds, accuracy.SigmaRadius)
	if err != nil {
		return nil, err
	}
	p.heading("Matching in %s: drives as they are recorded", p.name)
	p.say("%d a row, seed %d: three via points, other routes than the fastest, errors correlated over 15 s, "+
		"6%% of the positions missing, 1%% outliers of about 125 m. No other engine was asked.\n", p.drives, p.seed)
	p.harderTable("without times", "with times", accuracy.Tabulate(plain), accuracy.Tabulate(timed))
	p.hold("as recorded, without times", accuracy.Tabulate(plain))
	p.hold("as recorded, with times", accuracy.Tabulate(timed))

	path := filepath.Join(p.scratch, "thin.osm.pbf")
	if err := dataset.Rewrite(ctx, p.extract, path, dataset.Thin(missingRoads)); err != nil {
		return nil, err
	}
	thin, err := dataset.Compile(ctx, testregion.InProcess, path, p.scratch)
	if err != nil {
		return nil, err
	}
	defer thin.Close()
	if ds, err = (drives.Recipe{Wander: recorded.Wander}).Simulate(ctx, p.network.Graph, p.drives, p.seed); err != nil {
		return nil, err
	}
	known, err := accuracy.Run(ctx, p.matcher, ds, accuracy.SigmaRadius)
	if err != nil {
		return nil, err
	}
	missing, err := accuracy.Run(ctx, matching.New(thin.Graph, matching.Options{}), ds, accuracy.SigmaRadius)
	if err != nil {
		return nil, err
	}
	p.heading("Matching in %s: roads that the map does not have", p.name)
	p.say("Drives by other routes than the fastest, on the map as it is and on one without %.0f%% of its smaller roads; "+
		"what is driven there counts as missed.\n", 100*missingRoads)
	p.harderTable("whole map", "roads missing", accuracy.Tabulate(known), accuracy.Tabulate(missing))
	p.hold("roads missing", accuracy.Tabulate(missing))
	all := append(plain, timed...)
	return append(append(all, known...), missing...), nil
}

// harderTable prints the mismatches of two evaluations of the same drives.
func (r *report) harderTable(name, otherName string, one, other accuracy.Table) {
	rows := [][]string{{"σ, t", name, otherName, "lost", "left out"}}
	for _, cell := range drives.Cells() {
		a, b := one[cell], other[cell]
		if a == nil || b == nil {
			continue
		}
		rows = append(rows, []string{fmt.Sprintf("%.0f m, %.0f s", cell.Sigma, cell.Interval), fmt.Sprintf("%.4f", a.Share()),
			fmt.Sprintf("%.4f", b.Share()), fmt.Sprint(a.Lost + b.Lost), fmt.Sprint(a.LeftOut + b.LeftOut)})
	}
	r.table(append(rows, []string{"mean", fmt.Sprintf("%.4f", one.Mean()), fmt.Sprintf("%.4f", other.Mean()), "", ""}))
}
