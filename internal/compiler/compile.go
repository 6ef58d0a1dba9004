package compiler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/basemap"
	"github.com/mapsedge/caddy-maps/internal/compiler/coast"
	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/places"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads"
	"github.com/mapsedge/caddy-maps/internal/compiler/routes"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/search"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// OpenStreetMap requires its licence and this attribution.
const (
	License     = "ODbL-1.0"
	Attribution = "© OpenStreetMap contributors"
)

// Options says what to compile.
type Options struct {
	// Inputs are the extracts, at least one: .osm.pbf, .osm, .osm.gz, .osm.bz2 or .osm.zst, recognized by their content.
	// Several become one region, in which objects that they share are there once.
	Inputs []string
	// Output is the region file. It replaces an existing file atomically, when it is complete.
	Output string
	// Memory is how many bytes of anonymous memory the build may take, for extracts of any size. 0 means DefaultMemory.
	// It does not change the result.
	Memory int64
	// Temp is the directory for temporary files, by default that of the output. They take up to eleven times the size of
	// the extracts.
	Temp string
	// NoMap leaves out the map, which vector tiles are rendered from.
	NoMap bool
	// NoRoutes leaves out what routes need beside the roads.
	NoRoutes bool
	// NoSearch leaves out the search index.
	NoSearch bool
	// Progress, if set, is called with the progress of a stage: done of total bytes or steps, equal at the stage's end.
	// Several goroutines call it, but never concurrently, and not after Build has returned.
	Progress func(stage string, done, total int64)
}

// Report describes the result of a build.
type Report struct {
	Counts    Counts
	Timestamp time.Time // of the extracts; zero when unknown
	Size      int64     // of the region file, in bytes
	Scratch   int64     // the most bytes that temporary files took
	// Read, Compile and Write are the durations of these parts of the build.
	Read, Compile, Write time.Duration
}

// Counts is how many objects were read, were made of them, and were left out.
type Counts struct {
	osm.Counts
	Roads, Restrictions, SkippedRestrictions int64
	Features, Addresses, Interpolations      int64
}

// Build compiles extracts into a region file. The same extracts make the same bytes. When it fails or ctx ends, it
// leaves nothing behind, and an existing file at the output stays as it is. The next build removes what a killed build
// left.
func Build(ctx context.Context, opts Options) (*Report, error) {
	if len(opts.Inputs) == 0 {
		return nil, errors.New("no extract given")
	}
	// An output that cannot be written is an error before the extracts are read, which takes minutes for a country.
	if err := files.CheckOutput(opts.Output, opts.Inputs...); err != nil {
		return nil, err
	}
	opts.Memory = cmp.Or(opts.Memory, DefaultMemory())
	defer LimitMemory(opts.Memory)()
	beside, err := scratch.Open(filepath.Dir(opts.Output), filepath.Base(opts.Output), opts.Memory)
	if err != nil {
		return nil, fmt.Errorf("output: %s cannot be written: %w", opts.Output, err)
	}
	defer beside.Close()
	temp := beside
	if opts.Temp != "" {
		if temp, err = scratch.Open(opts.Temp, filepath.Base(opts.Output), opts.Memory); err != nil {
			return nil, err
		}
		defer temp.Close()
	}
	w, err := region.Create(beside.Path(), func(name string) region.Spool { return scratch.NewStream(temp, name) })
	if err != nil {
		return nil, err
	}
	report, err := opts.build(ctx, w, temp)
	if err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	return report, nil
}

// part is a part of a region: the consumers that collect it from the extracts, and the function that writes its
// sections.
type part struct {
	name      string
	consumers []osm.Consumer
	stages    int // of write, for progress reports
	write     func(ctx context.Context, w *region.Writer, e *osm.Extracts, bar *pipeline.Bar) error
	count     func(*Counts)
}

// parts lists all parts. They are independent of each other.
func (o *Options) parts(dir *scratch.Dir) ([]part, error) {
	found, err := objects.NewData(dir)
	if err != nil {
		return nil, err
	}
	network, err := roads.New(dir)
	if err != nil {
		return nil, err
	}
	all := []part{{
		name: "places", consumers: []osm.Consumer{found}, stages: 2,
		write: func(ctx context.Context, w *region.Writer, e *osm.Extracts, bar *pipeline.Bar) error {
			covered := *e.Tiles
			found.Tiles, found.Progress = &covered, bar
			importance, err := places.Write(w, found, dir)
			if err = errors.Join(err, found.Features.Free(), found.Drives.Free()); err != nil {
				return err
			}
			region.AddCoverage(w, covered.Sorted()) // to which places.Write has added
			if o.NoSearch {
				return importance.Free()
			}
			return search.Write(ctx, w, dir, importance)
		},
		count: func(c *Counts) {
			c.Features, c.Addresses = found.Counts.Features, found.Counts.Addresses
			c.Interpolations = int64(found.Interpolations.Len())
		},
	}, {
		name: "roads", consumers: []osm.Consumer{network}, stages: 5,
		write: func(ctx context.Context, w *region.Writer, _ *osm.Extracts, bar *pipeline.Bar) error {
			junctions, err := network.Write(ctx, w, bar)
			if err != nil || o.NoRoutes {
				return errors.Join(err, junctions.Free())
			}
			return routes.Write(ctx, w, dir, junctions, bar)
		},
		count: func(c *Counts) {
			n := &network.Counts
			c.Roads, c.Restrictions, c.SkippedRestrictions = n.Roads, n.Restrictions, n.SkippedRestrictions
		},
	}}
	if o.NoMap {
		return all, nil
	}
	shore := coast.New(dir)
	drawn, err := basemap.New(dir, shore)
	if err != nil {
		return nil, err
	}
	return append(all, part{
		name: "map", consumers: []osm.Consumer{shore, drawn}, stages: 1,
		write: func(ctx context.Context, w *region.Writer, e *osm.Extracts, bar *pipeline.Bar) error {
			return drawn.Write(ctx, w, e.Tiles, bar)
		},
		count: func(c *Counts) { c.TooLarge += drawn.Skipped() },
	}), nil
}

// build writes the file and commits it.
func (o *Options) build(ctx context.Context, w *region.Writer, temp *scratch.Dir) (*Report, error) {
	report := &Report{}
	began := time.Now()
	bar := pipeline.NewBar(o.Progress)
	defer bar.Stop() // for goroutines that still run when ctx has ended
	parts, err := o.parts(temp)
	if err != nil {
		return nil, err
	}
	var consumers []osm.Consumer
	for i := range parts {
		consumers = append(consumers, parts[i].consumers...)
	}
	extracts, err := osm.Read(ctx, temp, o.Inputs, bar, consumers...)
	if err != nil {
		return nil, err
	}
	report.Timestamp, report.Counts.Counts = extracts.Timestamp, extracts.Counts
	for i := range parts {
		parts[i].count(&report.Counts)
	}
	report.Read = time.Since(began)

	began = time.Now()
	if err := write(ctx, w, parts, extracts, bar); err != nil {
		return nil, err
	}
	report.Compile = time.Since(began)

	began = time.Now()
	bar.Start("write", 1)
	if err := w.Commit(ctx, o.Output, o.meta(extracts, &report.Counts)); err != nil {
		return nil, err
	}
	info, err := os.Stat(o.Output)
	if err := cmp.Or(err, temp.Release()); err != nil { // the sections are committed
		return nil, err
	}
	report.Size, report.Scratch = info.Size(), temp.Peak()
	bar.Finish()
	report.Write = time.Since(began)
	return report, nil
}

// write writes all parts concurrently. When ctx ends, it returns at once. Goroutines that still run then touch only
// temporary files.
func write(ctx context.Context, w *region.Writer, parts []part, e *osm.Extracts, bar *pipeline.Bar) error {
	var stages []int
	for i := range parts {
		stages = append(stages, parts[i].stages)
	}
	bars := bar.Split("compile", stages...)
	all, inner := errgroup.WithContext(ctx)
	for i, p := range parts {
		all.Go(func() error {
			if err := p.write(inner, w, e, bars[i]); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			return nil
		})
	}
	result := make(chan error, 1)
	go func() { result <- all.Wait() }()
	select {
	case err := <-result:
		bar.Finish()
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// meta is the file's description of itself. It depends only on the extracts: it has no directories, and no time of the
// build.
func (o *Options) meta(e *osm.Extracts, c *Counts) region.Meta {
	low, high := e.Bounds.Min, e.Bounds.Max
	m := region.Meta{
		License: License, Attribution: Attribution, Timestamp: e.Timestamp,
		Bounds: region.Bounds{MinLat: low.Lat(), MinLon: low.Lon(), MaxLat: high.Lat(), MaxLon: high.Lon()},
		Counts: map[string]int64{
			"nodes": c.Nodes, "ways": c.Ways, "relations": c.Relations, "roads": c.Roads, "restrictions": c.Restrictions,
			"features": c.Features, "addresses": c.Addresses, "interpolations": c.Interpolations,
			"missingNodes": c.MissingNodes, "tooLarge": c.TooLarge, "brokenAreas": c.BrokenAreas,
			"repairedRings": c.RepairedRings, "skippedRestrictions": c.SkippedRestrictions,
		},
	}
	for _, path := range o.Inputs {
		m.Sources = append(m.Sources, filepath.Base(path))
	}
	return m
}
