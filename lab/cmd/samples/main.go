// Command samples writes the playground's two sample drives: simulated in Wilmington and in Dover, with the noise of a
// phone. `go generate` runs it from the package of the playground.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
)

// sample is a drive to be found among those that are simulated.
type sample struct {
	file, name string    // name is without characters that XML would take for its own
	within     orb.Bound // all of it
	cell       drives.Cell
	recipe     drives.Recipe
	outliers   int // of so many positions one is far off; none where it is 0
}

const outlierSpread = 500.0 // metres

var samples = []sample{
	{"wilmington.gpx", "Wilmington: a position every 5 seconds", box(39.72, -75.60, 39.77, -75.52),
		drives.Cell{Sigma: 8, Interval: 5}, drives.Recipe{Correlation: 20}, 0},
	{"dover.gpx", "Dover: every 15 seconds, with outliers", box(39.13, -75.56, 39.19, -75.49),
		drives.Cell{Sigma: 12, Interval: 15}, drives.Recipe{Correlation: 20}, 12},
}

func box(south, west, north, east float64) orb.Bound {
	return orb.Bound{Min: orb.Point{west, south}, Max: orb.Point{east, north}}
}

// most is how many drives are looked at before there is taken to be none in a box.
const most = 100_000

// began is when the drives are said to have been: any time would do.
var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: samples <directory>")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, directory string) error {
	scratch, err := os.MkdirTemp("", "samples")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	extract, err := dataset.Delaware(ctx)
	if err != nil {
		return err
	}
	network, err := dataset.Compile(ctx, testregion.InProcess, extract, scratch)
	if err != nil {
		return err
	}
	defer network.Close()
	for _, s := range samples {
		drive, err := s.find(drives.NewRouter(network.Graph))
		if err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		if err := os.WriteFile(filepath.Join(directory, s.file), s.gpx(drive), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// find simulates drives until one is in the box.
func (s *sample) find(router *drives.Router) (drives.Drive, error) {
	for seed := range uint64(most) {
		random := rand.New(rand.NewPCG(seed, 0))
		drive, err := router.Drive(s.recipe, s.cell, random)
		if err != nil {
			return drive, err
		}
		bound := drive.Trace.Bound()
		if !s.within.Contains(bound.Min) || !s.within.Contains(bound.Max) {
			continue
		}
		for i := s.outliers; s.outliers > 0 && i < len(drive.Trace)-1; i += s.outliers {
			drive.Trace[i] = drives.Noisy(drive.Trace[i], outlierSpread, random)
		}
		return drive, nil
	}
	return drives.Drive{}, fmt.Errorf("none of %d simulated drives is there", most)
}

func (s *sample) gpx(drive drives.Drive) []byte {
	text := []byte(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<gpx version="1.1" creator="caddy-maps simulator" xmlns="http://www.topografix.com/GPX/1/1">` + "\n<trk><name>")
	text = append(append(text, s.name...), "</name><trkseg>\n"...)
	for i, p := range drive.Trace {
		at := began.Add(time.Duration(drive.Times[i] * float64(time.Second))).Format(time.RFC3339)
		text = fmt.Appendf(text, "<trkpt lat=\"%.6f\" lon=\"%.6f\"><time>%s</time></trkpt>\n", p.Lat(), p.Lon(), at)
	}
	return append(text, "</trkseg></trk></gpx>\n"...)
}
