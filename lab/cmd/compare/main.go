// Command compare lists answers that differ between two builds. It compiles each extract with both, and compares
// reverse geocodings, matched drives, and the features of all tiles. It exits with status 1 if anything differs, and
// with 2 if it could not compare.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/mapsedge/caddy-maps/internal/tiles"
)

// settings are the command's flags and arguments.
type settings struct {
	points   int
	zoom     int
	trips    string
	drives   string
	simulate int
	seed     uint64
	show     int
	limit    time.Duration

	old, new string
	extracts []string
}

const (
	exitDiffers = 1
	exitFailed  = 2
)

func main() {
	var s settings
	flag.IntVar(&s.points, "points", 20_000, "`number` of random positions within the bounds, and of positions beside "+
		"roads, that reverse geocoding is asked at")
	flag.IntVar(&s.zoom, "zoom", 15, "highest `zoom` of the tiles that are compared")
	flag.StringVar(&s.trips, "trips", "", "`file` of recorded trips to match (JSON: arrays of [lon, lat])")
	flag.StringVar(&s.drives, "drives", "", "`file` of drives to match (gzipped JSON: sigma, interval, trace, truth)")
	flag.IntVar(&s.simulate, "simulate", 4, "`number` of drives simulated on each extract for each pair of noise and "+
		"interval, to match as well")
	flag.Uint64Var(&s.seed, "seed", 1, "of all that is random; the same `seed` asks the same")
	flag.IntVar(&s.show, "show", 5, "`number` of differences of each kind that are printed")
	flag.DurationVar(&s.limit, "limit", 2*time.Hour, "how long all of it may take")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: compare [flags] OLD NEW EXTRACT...")
		fmt.Fprintln(flag.CommandLine.Output(), "OLD and NEW are programs (`make build` makes one); NEW is of this source.")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	err := s.take(flag.Args())
	differences := 0
	if err == nil {
		differences, err = run(ctx, os.Stdout, &s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(exitFailed)
	}
	if differences > 0 {
		os.Exit(exitDiffers)
	}
}

// take reads the arguments and checks the flags.
func (s *settings) take(arguments []string) error {
	if len(arguments) < 3 {
		return errors.New("two programs and an extract are needed: compare [flags] OLD NEW EXTRACT...")
	}
	for _, path := range arguments {
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	var err error
	if s.old, err = filepath.Abs(arguments[0]); err != nil { // a name without a slash would be looked for in PATH
		return err
	}
	if s.new, err = filepath.Abs(arguments[1]); err != nil {
		return err
	}
	s.extracts = arguments[2:]
	switch {
	case s.points < 0 || s.simulate < 0 || s.show < 0:
		return errors.New("-points, -simulate and -show are at least 0")
	case s.zoom < 0 || s.zoom > tiles.MaxZoom:
		return fmt.Errorf("-zoom is from 0 to %d", tiles.MaxZoom)
	}
	return nil
}

// run compares on all extracts, and returns how many differences there are.
func run(ctx context.Context, out io.Writer, s *settings) (differences int, err error) {
	traces, err := s.given()
	if err != nil {
		return 0, err
	}
	for _, extract := range s.extracts {
		fmt.Fprintf(out, "\n## %s\n\n", filepath.Base(extract))
		n, err := compareOn(ctx, out, s, extract, traces)
		if err != nil {
			return differences, fmt.Errorf("%s: %w", extract, err)
		}
		differences += n
	}
	fmt.Fprintf(out, "\n%d differences in all\n", differences)
	return differences, nil
}

// compareOn compares on one extract.
func compareOn(ctx context.Context, out io.Writer, s *settings, extract string, traces []trace) (differences int,
	err error) {
	scratch, err := os.MkdirTemp("", "caddy-maps-compare")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	r, err := compile(ctx, out, s, extract, scratch)
	if err != nil {
		return 0, err
	}
	defer r.network.Close()
	simulated, err := s.simulated(ctx, r.network)
	if err != nil {
		return 0, err
	}
	bounds, err := r.bounds()
	if err != nil {
		return 0, err
	}
	kinds := []kind{
		{"random positions", reverseQuestions(randomPoints(bounds, s.points, s.seed))},
		{"positions beside roads", reverseQuestions(roadsidePoints(r.network.Networks, s.points, s.seed))},
	}
	kinds = append(kinds, kind{"geometries of places", geometryQuestions(kinds...)})
	kinds = append(kinds, matchQuestions(append(simulated, within(bounds, traces)...))...)
	asked, err := askAll(ctx, r, scratch, kinds)
	if err != nil {
		return 0, err
	}
	tiles, err := compareMaps(ctx, s, r, scratch)
	if err != nil {
		return 0, err
	}
	for _, c := range append(asked, tiles) {
		c.print(out, s.show)
		differences += len(c.different)
	}
	return differences, nil
}

// comparison is how many things of a kind were compared, and what differs in those that do.
type comparison struct {
	kind      string
	compared  int
	different []string       // a line or more for each
	fields    map[string]int // how many answers differ in a field first
	note      string
}

func (c *comparison) print(out io.Writer, show int) {
	fmt.Fprintf(out, "%-24s %8d compared, %d differ%s\n", c.kind, c.compared, len(c.different), c.note)
	for _, field := range slices.Sorted(maps.Keys(c.fields)) {
		fmt.Fprintf(out, "  in %d: %s\n", c.fields[field], field)
	}
	for _, d := range c.different[:min(show, len(c.different))] {
		fmt.Fprintf(out, "  %s\n", d)
	}
}
