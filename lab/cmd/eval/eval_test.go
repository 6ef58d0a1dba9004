package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/geocodingeval"
	"github.com/mapsedge/caddy-maps/lab/mismatch"
	"github.com/mapsedge/caddy-maps/lab/peers"
	"github.com/mapsedge/caddy-maps/lab/speed"
)

func TestDelawareInSmall(t *testing.T) {
	testkit.Whole(t)
	var out bytes.Buffer
	ctx := context.Background()
	s := settings{drives: 1, seed: 1, rounds: 1, plots: t.TempDir(), pictures: t.TempDir()}
	extract, err := dataset.Delaware(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r := &report{out: &out}
	err = on(ctx, place{settings: s, report: r, name: delaware, scratch: t.TempDir()}, extract,
		func(p *place, ctx context.Context) error {
			return errors.Join(p.settings.parts((*place).alone)(p, ctx), p.drawCases(ctx))
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"15 simulated drives", "| 4 m, 1 s ", "| 20 m, 60 s ", "| mean ", "points/s",
		"## Confidence in Delaware", "a stop of 40 positions", "with times", "roads missing",
		"by the profile bicycle: 15 simulated at 18 km/h", "by the profile foot: 15 simulated at 5 km/h"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if len(r.missed) != 0 || strings.Contains(out.String(), "✗") {
		t.Errorf("bars are missed where there are none:\n%s", &out)
	}
	plot, err := os.ReadFile(filepath.Join(s.plots, "confidence-Delaware.svg"))
	if err != nil || !bytes.Contains(plot, []byte("<svg")) {
		t.Errorf("the plot: %v", err)
	}
	pictures, err := filepath.Glob(filepath.Join(s.pictures, "match-*.svg"))
	if err != nil || len(pictures) != 6 {
		t.Errorf("the pictures are %v, %v", pictures, err)
	}
}

func TestAccuracyTableMarksMissedBars(t *testing.T) {
	table := func(share float64, lost int) accuracy.Table {
		t := accuracy.Table{}
		for _, cell := range drives.Cells() {
			t[cell] = &accuracy.Summary{Mismatch: mismatch.Mismatch{Missed: share * 1000, Truth: 1000, Path: 1000}, Drives: 1}
		}
		t[drives.Cell{Sigma: 4, Interval: 1}].Lost = lost
		return t
	}
	for _, tt := range []struct {
		name          string
		with, without accuracy.Table
		marks         bool
		missed        int
	}{
		{"all are met", table(0.001, 0), table(0.001, 0), true, 0},
		{"all are missed", table(0.5, 0), table(0.5, 0), true, 32},
		{"none counts", table(0.5, 2), table(0.5, 0), false, 0},
		{"a drive is lost", table(0.001, 1), table(0.001, 0), true, 1},
		// 4 m at 5 s has the bar 0.0025, and without a radius 0.003125.
		{"only with the radius", table(0.003, 0), table(0.003, 0), true, 1},
	} {
		var out bytes.Buffer
		r := &report{out: &out}
		r.accuracyTable(tt.with, tt.without, peers.GivenDrives, tt.marks)
		if len(r.missed) != tt.missed || strings.Count(out.String(), "✗") != tt.missed {
			t.Errorf("%s: %d bars are missed, want %d:\n%s", tt.name, len(r.missed), tt.missed, &out)
		}
	}
}

// A bar that is missed makes the check an error that names it.
func TestCheckNamesMissedBars(t *testing.T) {
	table := accuracy.Table{}
	for _, cell := range drives.Cells() {
		table[cell] = &accuracy.Summary{
			Mismatch: mismatch.Mismatch{Missed: 20, Truth: 1000, Path: 1000}, Drives: barredDrives,
		}
	}
	for _, tt := range []struct {
		name   string
		place  string
		seed   uint64
		table  string
		lost   int
		missed string
	}{
		{"worse than the bar", delaware, barredSeed, "by car", 0, "Delaware, by car, mean (at most 0.0"},
		{"a drive is lost", delaware, barredSeed, "foot", 1, "Delaware, foot, drives lost: 1"},
		{"as good as the bar", delaware, barredSeed, "foot", 0, ""},
		{"other drives", delaware, barredSeed + 1, "by car", 1, ""},
		{"another map", "Porto", barredSeed, "by car", 1, ""},
		{"a table without a bar", delaware, barredSeed, "by boat", 0, "Delaware, by boat, mean"},
	} {
		table[drives.Cell{Sigma: 4, Interval: 1}].Lost = tt.lost
		r := &report{out: &bytes.Buffer{}}
		p := place{settings: settings{drives: barredDrives, seed: tt.seed}, report: r, name: tt.place}
		p.hold(tt.table, table)
		err := r.count(nil, true)
		if tt.missed == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if !errors.Is(err, errMissed) || !strings.Contains(err.Error(), tt.missed) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if r.count(nil, false) != nil {
			t.Errorf("%s: an error without -check", tt.name)
		}
	}
	r := &report{out: &bytes.Buffer{}}
	err := r.count(geocodingeval.Missed{"Delaware: cities (all): 1 of 2"}, true)
	if !errors.Is(err, errMissed) || !strings.Contains(err.Error(), "cities (all): 1 of 2") {
		t.Errorf("geocoding: %v", err)
	}
}

func TestCostTablesMarkMissedBars(t *testing.T) {
	slow := speed.Result{Trips: 2, Points: 10, Failed: 1, PointsPerSecond: 99_999, Fastest: 99_999, P50: time.Millisecond, P99: 6 * time.Millisecond}
	large := &dataset.Network{Roads: 171e6, Build: testregion.Build{Took: time.Second}}
	r := &report{out: &bytes.Buffer{}}
	r.costTable(slow, large, true)
	if len(r.missed) != 4 {
		t.Errorf("missed are %q, want 4", r.missed)
	}
	r.missed = nil
	r.costTable(slow, large, false)
	fast := speed.Result{Trips: 2, Points: 10, PointsPerSecond: 100_000, P99: 5 * time.Millisecond}
	r.costTable(fast, &dataset.Network{Roads: 170e6}, true)
	if len(r.missed) != 0 {
		t.Errorf("missed are %q, want none", r.missed)
	}
	one := speed.Scaled{Copies: 1, Build: testregion.Build{Extract: 1e6, Region: 6e6, Scratch: 5e6}, Result: fast}
	country := one
	country.Copies, country.PointsPerSecond = 64, 79_000
	country.Build = testregion.Build{Extract: 64e6, Region: 450e6, Scratch: 400e6, Processor: time.Minute}
	r.scaleTable(one, country, true)
	if len(r.missed) != 4 {
		t.Errorf("missed are %q, want 4", r.missed)
	}
}

func TestTableIsAligned(t *testing.T) {
	var out bytes.Buffer
	(&report{out: &out}).table([][]string{{"σ, t", "ours"}, {"4 m", "0.1 ✗"}})
	want := "| σ, t | ours  |\n|------|-------|\n| 4 m  | 0.1 ✗ |\n\n"
	if out.String() != want {
		t.Errorf("the table is\n%s, want\n%s", &out, want)
	}
}

func TestValidate(t *testing.T) {
	good := settings{drives: 1, points: 1}
	if err := good.validate(nil); err != nil {
		t.Error(err)
	}
	for _, only := range []string{"", "matching", "profiles", "geocoding", "all"} {
		s := good
		if s.only = only; (s.validate(nil) == nil) != (only != "all") {
			t.Errorf("-only %q", only)
		}
	}
	for _, s := range []settings{{points: 1}, {drives: 1}, {drives: 1, points: 1, rounds: -1},
		{drives: 1, points: 1, rounds: 1, scale: -1}, {drives: 1, points: 1, scale: 1}} {
		if s.validate(nil) == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
	checked := settings{drives: barredDrives, seed: barredSeed, points: 1, check: true}
	if err := checked.validate(nil); err != nil {
		t.Error(err)
	}
	if checked.seed++; checked.validate(nil) == nil {
		t.Error("a check without bars is accepted")
	}
	if good.validate([]string{"matching"}) == nil {
		t.Error("an argument is accepted")
	}
}
