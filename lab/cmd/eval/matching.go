package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/peers"
	"github.com/mapsedge/caddy-maps/lab/picture"
	"github.com/mapsedge/caddy-maps/lab/speed"
)

// place is a map that matching is evaluated on.
type place struct {
	settings
	*report
	name    string
	extract string // path
	network *dataset.Network
	matcher matching.Matcher
	scratch string // directory for region files
}

// delaware is the name of the place that is evaluated where nothing else is given.
const delaware = "Delaware"

// evaluateMatching measures the matcher on a given extract, or else on Delaware and, where there is data, on Porto.
func evaluateMatching(ctx context.Context, s settings, r *report, extract, scratch string) error {
	if s.extract != "" {
		given := place{settings: s, report: r, name: filepath.Base(s.extract), scratch: scratch}
		return on(ctx, given, s.extract, s.parts((*place).alone))
	}
	err := on(ctx, place{settings: s, report: r, name: delaware, scratch: scratch}, extract, s.parts((*place).alone))
	if err != nil || s.data == "" {
		return err
	}
	porto, _, _ := dataset.Porto(s.data)
	return on(ctx, place{settings: s, report: r, name: "Porto", scratch: scratch}, porto, s.parts((*place).porto))
}

// parts is what is evaluated on a map, of matching by car and by the other profiles.
func (s *settings) parts(byCar func(*place, context.Context) error) func(*place, context.Context) error {
	switch s.only {
	case onlyMatching:
		return byCar
	case onlyProfiles:
		return (*place).profiles
	}
	return func(p *place, ctx context.Context) error {
		if err := byCar(p, ctx); err != nil {
			return err
		}
		return p.profiles(ctx)
	}
}

// on compiles a map, and evaluates on it.
func on(ctx context.Context, p place, path string, evaluate func(*place, context.Context) error) (err error) {
	p.extract = path
	if p.network, err = dataset.Compile(ctx, testregion.InProcess, path, p.scratch); err != nil {
		return err
	}
	defer p.network.Close()
	p.matcher = matching.New(p.network.Graph, matching.Options{})
	return evaluate(&p, ctx)
}

// alone evaluates on a map without figures of peers. Those for Porto are beside ours to show the order
// of magnitude.
func (p *place) alone(ctx context.Context) error {
	simulated, outcomes, err := p.simulated(ctx)
	if err != nil {
		return err
	}
	disturbed, err := p.disturbed(ctx, simulated, outcomes)
	if err != nil {
		return err
	}
	harder, err := p.harder(ctx)
	if err != nil {
		return err
	}
	if err := p.calibration(slices.Concat(outcomes, disturbed, harder)); err != nil {
		return err
	}
	return p.cost(ctx, "the simulated drives at 15 s", at15(simulated), false)
}

// porto has drives whose truth and whose peers' figures are known, and recorded trips.
func (p *place) porto(ctx context.Context) error {
	_, drivesPath, tripsPath := dataset.Porto(p.settings.data)
	given, err := drives.ReadDrives(drivesPath)
	if err != nil {
		return err
	}
	trips, err := drives.ReadTrips(tripsPath)
	if err != nil {
		return err
	}
	p.heading("Matching in %s: the %d given drives", p.name, len(given))
	p.say("The peers' figures are for these very drives. ✗ marks a missed bar; " +
		"in the last cells the bar is that for all cells.\n")
	known, err := p.accuracy(ctx, given, peers.GivenDrives, true)
	if err != nil {
		return err
	}
	ds, simulated, err := p.simulated(ctx)
	if err != nil {
		return err
	}
	disturbed, err := p.disturbed(ctx, ds, simulated)
	if err != nil {
		return err
	}
	harder, err := p.harder(ctx)
	if err != nil {
		return err
	}
	if err := p.calibration(slices.Concat(known, simulated, disturbed, harder)); err != nil {
		return err
	}
	return p.cost(ctx, "the recorded trips", trips, true)
}

// simulated evaluates on drives with the truth of our own router.
func (p *place) simulated(ctx context.Context) ([]drives.Drive, []accuracy.Outcome, error) {
	ds, err := drives.Recipe{}.Simulate(ctx, p.network.Graph, p.drives, p.seed)
	if err != nil {
		return nil, nil, err
	}
	p.heading("Matching in %s: %d simulated drives", p.name, len(ds))
	p.say("%d a row, seed %d. The peers' figures and the bars that follow from them are for other drives, in Porto: "+
		"an orientation.\n", p.drives, p.seed)
	outcomes, err := p.accuracy(ctx, ds, peers.OtherDrives, false)
	return ds, outcomes, err
}

// accuracy prints a table, and returns the outcomes with the radius that the peers were given.
func (p *place) accuracy(ctx context.Context, ds []drives.Drive, table peers.Table, marks bool) (
	[]accuracy.Outcome, error) {
	outcomes, err := accuracy.Run(ctx, p.matcher, ds, accuracy.SigmaRadius)
	if err != nil {
		return nil, err
	}
	without, err := accuracy.Run(ctx, p.matcher, ds, accuracy.NoRadius)
	if err != nil {
		return nil, err
	}
	p.accuracyTable(accuracy.Tabulate(outcomes), accuracy.Tabulate(without), table, marks)
	p.hold("by car", accuracy.Tabulate(outcomes))
	p.hold("by car, radius left out", accuracy.Tabulate(without))
	return outcomes, nil
}

// disturbed matches drives again with what happens to real traces beside noise, and prints it beside their outcomes
// without. It returns the outcomes.
func (p *place) disturbed(ctx context.Context, ds []drives.Drive, plain []accuracy.Outcome) (
	all []accuracy.Outcome, err error) {
	p.heading("Matching in %s: disturbed traces", p.name)
	p.say("The same simulated drives, each disturbed at one position.\n")
	before := accuracy.Tabulate(plain)
	for _, disturbance := range []drives.Disturbance{drives.Outlier, drives.Stop} {
		outcomes, err := accuracy.Run(ctx, p.matcher, disturbance.All(ds, p.seed), accuracy.SigmaRadius)
		if err != nil {
			return nil, err
		}
		p.disturbedTable(disturbance.Name, before, accuracy.Tabulate(outcomes))
		all = append(all, outcomes...)
	}
	return all, nil
}

// calibrationBins is the number of points in a calibration plot.
const calibrationBins = 15

// calibration prints and draws confidence against what was right.
func (p *place) calibration(outcomes []accuracy.Outcome) error {
	bins := accuracy.Calibrate(outcomes, calibrationBins)
	path := filepath.Join(p.plots, "confidence-"+p.name+".svg")
	if err := os.MkdirAll(p.plots, 0o755); err != nil {
		return err
	}
	title := "Confidence and truth, " + p.name
	if err := os.WriteFile(path, picture.Calibration(title, bins), 0o644); err != nil {
		return err
	}
	p.heading("Confidence in %s", p.name)
	p.say("Of all drives above, the disturbed ones, those with outliers and those with parts off the network too. "+
		"Right: the share of truth and answer that both have. Mean difference %.3f. Drawn in %s.\n",
		accuracy.CalibrationError(bins), path)
	rows := [][]string{{"confidence", "mean", "right", "drives"}}
	for _, b := range bins {
		rows = append(rows, []string{fmt.Sprintf("%.3f to %.3f", b.Low, b.High), fmt.Sprintf("%.3f", b.Confidence),
			fmt.Sprintf("%.3f", b.Right), fmt.Sprint(b.Drives)})
	}
	p.table(rows)
	return nil
}

// cost prints speed and memory on trips, and how they grow.
func (p *place) cost(ctx context.Context, what string, trips []orb.LineString, marks bool) error {
	if p.rounds == 0 {
		return nil
	}
	result, err := speed.Measure(ctx, p.matcher, trips, p.rounds)
	if err != nil {
		return err
	}
	p.heading("Speed and memory in %s", p.name)
	p.say("On %s, only the engine, on one core, median of %d rounds; "+
		"the peers' figures are for recorded trips in Porto, see docs/internals/benchmarks.md.\n", what, p.rounds)
	p.costTable(result, p.network, marks)
	if p.scale < 1 {
		return nil
	}
	binary, err := dataset.Caddy(ctx, p.scratch)
	if err != nil {
		return err
	}
	build := testregion.Command(binary, "--memory", p.memory)
	one, country, err := speed.Scale(ctx, build, p.extract, p.scale, trips, p.rounds, p.scratch)
	if err != nil {
		return err
	}
	p.heading("%d copies of %s side by side", p.scale, p.name)
	p.say("Built by `caddy maps build --memory %s`; the same trips, in the country spread over its copies.\n", p.memory)
	p.scaleTable(one, country, marks)
	return nil
}

// at15 are the traces with a position every 15 s, as taxis send them.
func at15(ds []drives.Drive) []orb.LineString {
	var trips []orb.LineString
	for i := range ds {
		if ds[i].Interval == 15 {
			trips = append(trips, ds[i].Trace)
		}
	}
	return trips
}
