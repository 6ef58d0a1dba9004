package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/speed"
)

// travels are the ways to travel beside cars, each with the profile that matches it.
var travels = []struct {
	profile matching.Profile
	travel  drives.Travel
	speed   string
}{
	{matching.Bicycle, drives.Riding, "18 km/h"},
	{matching.Foot, drives.Walking, "5 km/h"},
}

// profiles evaluates rides and walks. There are no figures of peers for them.
func (p *place) profiles(ctx context.Context) error {
	for _, t := range travels {
		graph := p.network.Networks[t.profile]
		ds, err := drives.Recipe{Travel: &t.travel}.Simulate(ctx, graph, p.drives, p.seed)
		if err != nil {
			return err
		}
		matcher := accuracy.By(matching.NewLocal(p.network.Networks, matching.Options{}), t.profile)
		outcomes, err := accuracy.Run(ctx, matcher, ds, accuracy.SigmaRadius)
		if err != nil {
			return err
		}
		without, err := accuracy.Run(ctx, matcher, ds, accuracy.NoRadius)
		if err != nil {
			return err
		}
		p.heading("Matching in %s by the profile %v: %d simulated at %s", p.name, t.profile, len(ds), t.speed)
		p.say("%d a row, seed %d, on the network of the profile, which has %d roads.\n", p.drives, p.seed,
			len(slices.Collect(graph.Edges())))
		p.profileTable(accuracy.Tabulate(outcomes), accuracy.Tabulate(without))
		p.hold(t.profile.String(), accuracy.Tabulate(outcomes))
		if p.rounds == 0 {
			continue
		}
		var points int
		trips := at15(ds)
		for _, trip := range trips {
			points += len(trip)
		}
		result, err := speed.Measure(ctx, matcher, trips, p.rounds)
		if err != nil {
			return err
		}
		p.say("\nOnly the engine, on one core, %d trips with %d points at 15 s, median of %d rounds:", len(trips), points,
			p.rounds)
		p.say("%.0f points/s, a trip %s (p50), %s (p99).\n",
			result.PointsPerSecond, milliseconds(result.P50), milliseconds(result.P99))
	}
	return nil
}

// profileTable prints mismatches of a profile that has no peers.
func (r *report) profileTable(with, without accuracy.Table) {
	rows := [][]string{{"σ, t", "with a radius", "radius left out", "missed", "added", "lost", "left out"}}
	share := func(v float64) string { return fmt.Sprintf("%.4f", v) }
	lost, leftOut := 0, 0
	for _, cell := range drives.Cells() {
		ours, other := with[cell], without[cell]
		if ours == nil || other == nil {
			continue
		}
		lost, leftOut = lost+ours.Lost+other.Lost, leftOut+ours.LeftOut
		rows = append(rows, []string{
			fmt.Sprintf("%.0f m, %.0f s", cell.Sigma, cell.Interval), share(ours.Share()), share(other.Share()),
			share(ours.Missed / ours.Truth), share(ours.Added / ours.Truth), fmt.Sprint(ours.Lost + other.Lost),
			fmt.Sprint(ours.LeftOut),
		})
	}
	r.table(append(rows, []string{"mean", share(with.Mean()), share(without.Mean()), "", "", fmt.Sprint(lost),
		fmt.Sprint(leftOut)}))
}
