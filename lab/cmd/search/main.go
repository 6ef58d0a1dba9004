// Command search makes queries from an extract, searches a region of it for them, and prints the recall and the speed:
//
//	search [-n 1000] [-seed 1] [-misses 5] [-check] [-region file] [-script Cyrillic] [extract.osm.pbf]
//
// Without an extract it takes Delaware. Without a region it compiles one. With -script all names of the extract are
// first written in another script.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/queries"
)

// bars are the least recalls, and the longest times.
var bars = map[string]float64{queries.KindAddress: .98, queries.KindTypo: .95, queries.KindNear: .95,
	queries.KindPOI: .95, queries.KindPlace: .95, queries.KindStreet: .97, queries.KindPrefix: .85}

const (
	barP50 = 500 * time.Microsecond
	barP99 = 5 * time.Millisecond
)

type settings struct {
	n, misses             int
	seed                  uint64
	kind                  string
	region, script, write string
	check                 bool
	out                   io.Writer
}

func main() {
	s := settings{out: os.Stdout}
	flag.IntVar(&s.n, "n", 1000, "`number` of queries of each kind")
	flag.Uint64Var(&s.seed, "seed", 1, "of the queries")
	flag.IntVar(&s.misses, "misses", 0, "print this `number` of failures of each kind")
	flag.StringVar(&s.kind, "kind", "", "only this `kind`")
	flag.StringVar(&s.region, "region", "", "region `file` to search; the map may be larger than the extract")
	flag.StringVar(&s.script, "script", "", "`script` of the names: Cyrillic, Greek, Arabic or Ethiopic")
	flag.StringVar(&s.write, "write", "", "write the extract in that script to this .osm.pbf `file`, and do nothing else")
	flag.BoolVar(&s.check, "check", false, "exit with 1 if a recall is below its bar")
	flag.Parse()
	missed, err := s.run(context.Background(), flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
	if missed && s.check {
		os.Exit(1)
	}
}

func (s *settings) run(ctx context.Context, extract string) (missed bool, err error) {
	if extract == "" {
		if extract, err = dataset.Delaware(ctx); err != nil {
			return false, err
		}
	}
	temporary, err := os.MkdirTemp("", "caddy-maps-search")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temporary)
	if s.script != "" {
		change, err := dataset.Script(s.script)
		if err != nil {
			return false, err
		}
		out := s.write
		if out == "" {
			out = filepath.Join(temporary, "native.osm.pbf")
		}
		if err := dataset.Rewrite(ctx, extract, out, change); err != nil || s.write != "" {
			return false, err
		}
		extract = out
	}
	path := s.region
	if path == "" {
		path = filepath.Join(temporary, "search.region")
		if _, err := compiler.Build(ctx, compiler.Options{Inputs: []string{extract}, Output: path, NoMap: true,
			NoRoutes: true}); err != nil {
			return false, err
		}
	}
	file, err := region.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Release()
	places, err := geocoding.Open(file)
	if err != nil {
		return false, err
	}
	index, err := search.Open(file, places)
	if err != nil {
		return false, err
	}
	x, err := queries.Read(ctx, extract)
	if err != nil {
		return false, err
	}
	if err := x.Locate(ctx, places); err != nil {
		return false, err
	}
	return s.evaluate(ctx, queries.New(x), index)
}

// rounds is how often each query is measured. The fastest counts: the others say what else the machine had to do.
const rounds = 3

func (s *settings) evaluate(ctx context.Context, g *queries.Generator, x geocoding.Searcher) (missed bool, err error) {
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "kind\tn\trecall@1\trecall@5\tp50 µs\tp99 µs\tB/query\tbar\t")
	for _, kind := range queries.Kinds() {
		if s.kind != "" && s.kind != kind {
			continue
		}
		all := g.Make(kind, s.n, s.seed)
		if len(all) == 0 {
			continue
		}
		m, err := s.measure(ctx, all, x)
		if err != nil {
			return false, err
		}
		n := float64(len(all))
		recall := float64(m.first) / n
		if kind == queries.KindPrefix || kind == queries.KindCrowd {
			recall = float64(m.five) / n
		}
		verdict := "-"
		if bar := bars[kind]; bar > 0 {
			verdict = fmt.Sprint("≥ ", bar)
			if recall < bar || m.p50 > barP50 || m.p99 > barP99 {
				verdict = verdict + " ✗"
				missed = missed || recall < bar // times depend on what else the machine does
			}
		}
		fmt.Fprintf(table, "%s\t%d\t%.3f\t%.3f\t%d\t%d\t%d\t%s\t\n", kind, len(all), float64(m.first)/n,
			float64(m.five)/n, m.p50.Microseconds(), m.p99.Microseconds(), m.bytes, verdict)
	}
	return missed, table.Flush()
}

// measured is what the queries of a kind gave.
type measured struct {
	first, five int // queries whose answer was the first, and among five
	p50, p99    time.Duration
	bytes       uint64 // allocated for a query
}

func (s *settings) measure(ctx context.Context, all []queries.Query, x geocoding.Searcher) (*measured, error) {
	m := new(measured)
	into := new(geocoding.Result)
	left := s.misses
	times := make([]time.Duration, len(all))
	for round := range rounds {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range all {
			q := &all[i]
			q.Into = into
			began := time.Now()
			r, err := x.Search(ctx, &q.Query)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", q.Text, err)
			}
			took := time.Since(began)
			if round > 0 {
				times[i] = min(times[i], took)
				continue
			}
			times[i] = took
			at := slices.IndexFunc(r.Places, func(p geocoding.Place) bool { return q.Found(&p) })
			if at == 0 {
				m.first++
			}
			if at >= 0 {
				m.five++
			}
			if at != 0 && (at < 0 || !q.Autocomplete) && left > 0 {
				left--
				s.miss(q, r)
			}
		}
		runtime.ReadMemStats(&after)
		m.bytes = (after.TotalAlloc - before.TotalAlloc) / uint64(len(all)) // of the last round, which only searches
	}
	slices.Sort(times)
	m.p50, m.p99 = times[len(times)/2], times[len(times)*99/100]
	return m, nil
}

// miss prints a query whose answer is missed.
func (s *settings) miss(q *queries.Query, r *geocoding.Result) {
	near := ""
	if q.Near != nil {
		near = fmt.Sprintf(" near %.5f,%.5f", q.Near[1], q.Near[0])
	}
	fmt.Fprintf(s.out, "%s: %q%s, expected %s\n", q.Kind, q.Text, near, q.Expected())
	for i := range r.Places[:min(3, len(r.Places))] {
		p := &r.Places[i]
		fmt.Fprintf(s.out, "    %s %s %q %s=%s %.5f,%.5f: %.3f = text %.3f + importance %.3f + proximity %.3f\n", p.ID,
			p.Name, p.DisplayName, p.Category, p.Type, p.Location[1], p.Location[0], p.Score.Total, p.Score.Text,
			p.Score.Importance, p.Score.Proximity)
	}
}
