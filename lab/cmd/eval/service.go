package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mapsedge/caddy-maps/lab/accuracy"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/service"
)

// evaluateService measures the accuracy of the engine behind a running server: on drives that are simulated
// here, and on Porto's given ones where there is no other map.
func evaluateService(ctx context.Context, s settings, r *report, scratch string) error {
	if s.extract != "" {
		given := place{settings: s, report: r, name: filepath.Base(s.extract), scratch: scratch}
		return on(ctx, given, s.extract, (*place).askedSimulated)
	}
	porto, drivesPath, _ := dataset.Porto(s.data)
	return on(ctx, place{settings: s, report: r, name: "Porto", scratch: scratch}, porto,
		func(p *place, ctx context.Context) error {
			given, err := drives.ReadDrives(drivesPath)
			if err != nil {
				return err
			}
			if err := p.asked(ctx, "given", given); err != nil {
				return err
			}
			return p.askedSimulated(ctx)
		})
}

// askedSimulated asks a service for the drives that are simulated without one, too.
func (p *place) askedSimulated(ctx context.Context) error {
	simulated, err := drives.Recipe{}.Simulate(ctx, p.network.Graph, p.drives, p.seed)
	if err != nil {
		return err
	}
	return p.asked(ctx, "simulated", simulated)
}

// asked prints what a service makes of drives: told how exact the positions are, not told, and told their times too
// where those are known. The last column is what the engine here makes of them.
func (p *place) asked(ctx context.Context, name string, ds []drives.Drive) error {
	p.heading("Matching at %s: %d %s drives", p.service, len(ds), name)
	served := service.New(p.service)
	with, err := accuracy.Run(ctx, served, ds, accuracy.SigmaRadius)
	if err != nil {
		return err
	}
	without, err := accuracy.Run(ctx, served, ds, accuracy.NoRadius)
	if err != nil {
		return err
	}
	here, err := accuracy.Run(ctx, p.matcher, ds, accuracy.SigmaRadius)
	if err != nil {
		return err
	}
	header := []string{"σ, t", "mismatch", "missed", "added", "lost", "left out", "radius left out"}
	others := []accuracy.Table{accuracy.Tabulate(without)}
	if slices.ContainsFunc(ds, func(d drives.Drive) bool { return len(d.Times) > 0 }) {
		timed, err := accuracy.RunTimed(ctx, served, ds, accuracy.SigmaRadius)
		if err != nil {
			return err
		}
		header, others = append(header, "with times"), append(others, accuracy.Tabulate(timed))
	}
	header, others = append(header, "engine here"), append(others, accuracy.Tabulate(here))
	table := accuracy.Tabulate(with)
	rows := [][]string{header}
	for _, cell := range drives.Cells() {
		s := table[cell]
		if s == nil {
			continue
		}
		row := []string{
			fmt.Sprintf("%.0f m, %.0f s", cell.Sigma, cell.Interval), fmt.Sprintf("%.4f", s.Share()),
			fmt.Sprintf("%.4f", s.Missed/s.Truth), fmt.Sprintf("%.4f", s.Added/s.Truth), fmt.Sprint(s.Lost),
			fmt.Sprint(s.LeftOut),
		}
		for _, other := range others {
			row = append(row, fmt.Sprintf("%.4f", other[cell].Share()))
		}
		rows = append(rows, row)
	}
	mean := []string{"mean", fmt.Sprintf("%.4f", table.Mean()), "", "", "", ""}
	for _, other := range others {
		mean = append(mean, fmt.Sprintf("%.4f", other.Mean()))
	}
	p.table(append(rows, mean))
	return nil
}
