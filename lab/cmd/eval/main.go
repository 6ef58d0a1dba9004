// Command eval measures the accuracy and the speed of the engines, and prints tables in Markdown: on Delaware, which
// the Go modules contain, and on greater Porto if a directory has its data. Start with main.go, which lists the parts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/geocodingeval"
)

// settings are the command's flags.
type settings struct {
	data     string // directory with Porto's data, or ""
	extract  string // to match simulated drives on, in the place of Delaware and Porto, or ""
	drives   int    // simulated for each cell
	seed     uint64
	points   int    // random positions that geocoding is asked at
	rounds   int    // of speed measurements, 0 for none
	scale    int    // copies of the map, 0 for no measurement
	memory   string // that the copies are compiled in
	plots    string // directory for plots of confidence
	pictures string // directory for pictures of hard cases, or ""
	only     string // matching, profiles or geocoding; "" for all
	service  string // URL of a running server's map matching, or "" for the engine here
	region   string // file to look positions up in, and nothing else
	check    bool
}

// The values of -only.
const (
	onlyMatching  = "matching"
	onlyProfiles  = "profiles"
	onlyGeocoding = "geocoding"
)

// errMissed is the result of a check that found bars missed.
var errMissed = errors.New("missed")

func main() {
	var s settings
	flag.StringVar(&s.data, "data", os.Getenv("MAPS_BENCH_DATA"), "`directory` with porto.osm.pbf, porto_drives.json.gz, "+
		"porto_trips.json and liechtenstein.osm.pbf; default $MAPS_BENCH_DATA")
	flag.StringVar(&s.extract, "extract", "", "evaluate map matching on this `file` of OpenStreetMap data, "+
		"and nothing else")
	flag.IntVar(&s.drives, "drives", 20, "`number` of simulated drives for each pair of noise and interval")
	flag.Uint64Var(&s.seed, "seed", 1, "of the simulation; the same `seed` gives the same drives")
	flag.IntVar(&s.points, "points", 10_000, "`number` of random positions that each map's geocoding is asked at")
	flag.IntVar(&s.rounds, "rounds", 9, "`number` of times that speed is measured, of which the median counts; "+
		"0 measures none")
	flag.IntVar(&s.scale, "scale", 0, "compare one map with a country of this `number` of copies, compiled by "+
		"caddy maps build; takes minutes, and room for ten times the copies in the system's temporary directory")
	flag.StringVar(&s.memory, "memory", "1GiB", "`size` of the memory that the copies of -scale are compiled in")
	flag.StringVar(&s.plots, "o", "build/eval", "`directory` for plots")
	flag.StringVar(&s.pictures, "pictures", "", "draw hard cases of Delaware into this `directory`, and nothing else")
	flag.StringVar(&s.only, "only", "", "evaluate one `part`: matching (by car), profiles (the others) or geocoding")
	flag.StringVar(&s.service, "service", "", "evaluate map matching by car at this `URL` of a running server, whose map "+
		"is that of -extract, or Porto, and nothing else")
	flag.StringVar(&s.region, "region", "", "measure 10,000 first lookups in this `file`, and nothing else")
	flag.BoolVar(&s.check, "check", false, "exit with status 1 where a bar is missed, and name it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := s.validate(flag.Args())
	if err == nil {
		err = run(ctx, s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		stop()
		os.Exit(1)
	}
}

func (s settings) validate(arguments []string) error {
	switch {
	case len(arguments) > 0:
		return fmt.Errorf("unknown argument %q", arguments[0])
	case s.drives < 1:
		return errors.New("-drives is at least 1")
	case s.points < 1:
		return errors.New("-points is at least 1")
	case s.rounds < 0:
		return errors.New("-rounds is at least 0")
	case s.scale < 0:
		return errors.New("-scale is at least 0")
	case s.scale > 0 && s.rounds == 0:
		return errors.New("-scale measures speed and needs -rounds of at least 1")
	case s.service != "" && s.data == "" && s.extract == "":
		return errors.New("-service needs -extract, the server's map, or -data, where that is Porto")
	case s.check && s.extract == "" && s.data == "" && s.only != onlyGeocoding && !s.barred():
		return fmt.Errorf("the bars that -check is about are for -drives %d and -seed %d", barredDrives, barredSeed)
	case s.extract != "" && s.only == onlyGeocoding:
		return errors.New("-extract is for map matching")
	case s.only != "" && s.only != onlyMatching && s.only != onlyProfiles && s.only != onlyGeocoding:
		return fmt.Errorf("-only: %q is none of %s, %s and %s", s.only, onlyMatching, onlyProfiles, onlyGeocoding)
	}
	return nil
}

func run(ctx context.Context, s settings) error {
	temporary, err := os.MkdirTemp("", "caddy-maps-eval")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	r := &report{out: os.Stdout}
	if s.service != "" {
		return evaluateService(ctx, s, r, temporary)
	}
	if s.region != "" {
		return r.count(geocodingeval.Lookups(ctx, os.Stdout, s.region, s.seed), s.check)
	}
	extract, err := dataset.Delaware(ctx)
	if err != nil {
		return err
	}
	if s.pictures != "" {
		return drawCases(ctx, s, extract, temporary)
	}
	if s.only != onlyGeocoding {
		if err := evaluateMatching(ctx, s, r, extract, temporary); err != nil {
			return err
		}
	}
	if s.extract == "" && (s.only == "" || s.only == onlyGeocoding) {
		return r.count(geocodingeval.Run(ctx, os.Stdout, geocodingeval.Options{Data: s.data, Points: s.points, Seed: s.seed,
			NoSpeed: s.rounds == 0}), s.check)
	}
	return r.count(nil, s.check)
}

// count adds the bars that geocoding has missed, and is an error where any is missed and that is to be checked.
func (r *report) count(err error, check bool) error {
	var missed geocodingeval.Missed
	if err != nil && !errors.As(err, &missed) {
		return err
	}
	if r.missed = append(r.missed, missed...); check && len(r.missed) > 0 {
		return fmt.Errorf("%w: %s", errMissed, strings.Join(r.missed, "; "))
	}
	return nil
}
