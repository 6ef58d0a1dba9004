package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/service/servicetest"
)

// counted is an engine that counts what it is asked.
type counted struct {
	matching.Matcher
	all, withRadius, timed atomic.Int64
}

func (c *counted) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	c.all.Add(1)
	if req.Radius > 0 {
		c.withRadius.Add(1)
	}
	if !math.IsNaN(req.Points[0].Time) {
		c.timed.Add(1)
	}
	return c.Matcher.Match(ctx, req)
}

// A server with Delaware, and Delaware in the place of Porto: the table is that of the engine behind the server.
func TestService(t *testing.T) {
	testkit.Whole(t)
	ctx := context.Background()
	graph := roadgraphtest.Delaware(t)
	engine := &counted{Matcher: matching.New(graph, matching.Options{})}
	ds, err := drives.Recipe{}.Simulate(ctx, graph, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := settings{data: t.TempDir(), drives: 1, seed: 1, service: servicetest.Start(t, engine)}
	extract, given, _ := dataset.Porto(s.data)
	osm, err := dataset.Delaware(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(osm, extract); err != nil {
		t.Fatal(err)
	}
	writeDrives(t, given, ds)
	var out bytes.Buffer
	if err := evaluateService(ctx, s, &report{out: &out}, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"15 given drives", "15 simulated drives", s.service} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	// The file has no times.
	all, withRadius, timed := engine.all.Load(), engine.withRadius.Load(), engine.timed.Load()
	if all != 75 || withRadius != 45 || timed != 15 {
		t.Errorf("asked %d times, %d with a radius, %d with times", all, withRadius, timed)
	}
	if n := strings.Count(out.String(), "with times"); n != 1 {
		t.Errorf("%d columns with times:\n%s", n, &out)
	}
	want := []string{"mean"}
	for _, radius := range []accuracy.Radius{accuracy.SigmaRadius, accuracy.NoRadius} {
		outcomes, err := accuracy.Run(ctx, engine, ds, radius)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%.4f", accuracy.Tabulate(outcomes).Mean()))
	}
	table, _, _ := strings.Cut(out.String(), "simulated drives")
	_, mean, _ := strings.Cut(table, "| mean ")
	mean, _, _ = strings.Cut("mean "+mean, "\n")
	want = append(want, want[1]) // the engine here
	if got := strings.FieldsFunc(mean, func(r rune) bool { return r == ' ' || r == '|' }); !slices.Equal(got, want) {
		t.Errorf("the means are %v, the engine's own %v:\n%s", got, want, table)
	}
}

func writeDrives(t *testing.T, path string, ds []drives.Drive) {
	t.Helper()
	type record struct {
		Sigma    float64      `json:"sigma"`
		Interval float64      `json:"interval"`
		Trace    [][2]float64 `json:"trace"`
		Truth    [][2]float64 `json:"truth"`
	}
	swapped := func(line orb.LineString) (pairs [][2]float64) {
		for _, p := range line {
			pairs = append(pairs, [2]float64{p.Lat(), p.Lon()})
		}
		return pairs
	}
	var records []record
	for _, d := range ds {
		records = append(records, record{d.Sigma, d.Interval, swapped(d.Trace), swapped(d.Truth)})
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zipped := gzip.NewWriter(file)
	if err := json.NewEncoder(zipped).Encode(records); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestServiceNeedsData(t *testing.T) {
	s := settings{drives: 1, points: 1, service: "http://127.0.0.1:1/"}
	if err := s.validate(nil); err == nil || !strings.Contains(err.Error(), "-data") {
		t.Errorf("without data: %v", err)
	}
	s.data = t.TempDir()
	if err := s.validate(nil); err != nil {
		t.Errorf("with data: %v", err)
	}
	s.data, s.extract = "", "town.osm.pbf"
	if err := s.validate(nil); err != nil {
		t.Errorf("with an extract: %v", err)
	}
	s.service, s.only = "", onlyGeocoding
	if err := s.validate(nil); err == nil || !strings.Contains(err.Error(), "-extract") {
		t.Errorf("an extract for geocoding: %v", err)
	}
}
