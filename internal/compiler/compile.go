// Package compiler makes a region file of OpenStreetMap extracts: it reads them, compiles the map, the places and the
// roads in them, and writes all into one file.
package compiler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler/basemap"
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/memory"
	"github.com/mapsedge/caddy-maps/internal/compiler/places"
	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/newfile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// What OpenStreetMap asks for: its licence, and to be named.
const (
	License     = "ODbL-1.0"
	Attribution = "© OpenStreetMap contributors"
)

// Options is what to compile.
type Options struct {
	// Inputs are extracts: .osm.pbf, .osm, .osm.gz, .osm.bz2 or .osm.zst, told by their content. Several become one
	// region; what they share is in it once. At least one.
	Inputs []string
	// Output is the region file. A file that is there is replaced, at once and only by a whole one.
	Output string
	// Memory is how many bytes of anonymous memory the build may take, whatever the size of the extracts; 0 is
	// memory.Default. It does not change what is built.
	Memory int64
	// Temp is the directory for temporary files; "" is that of the output. They take up to about six times the extracts.
	Temp string
	// NoMap leaves out the map to look at, of which vector tiles are cut.
	NoMap bool
	// Progress, if set, is told how far a stage has come: done of total bytes or steps, equal at the stage's end. It is
	// called from several goroutines, but never concurrently, and no more when Build has returned.
	Progress func(stage string, done, total int64)
}

// Report is what was made.
type Report struct {
	Counts    extract.Counts
	Timestamp time.Time // of the extracts; zero when unknown
	Size      int64     // of the region file, in bytes
	Scratch   int64     // most bytes that temporary files took
	// Read, Compile and Write are how long each part took.
	Read, Compile, Write time.Duration
}

// Build compiles extracts into a region file. The same extracts make the same bytes. When it fails or ctx ends,
// nothing is left behind, and a file that was at the output before stands; what a killed build left is removed by the
// next one.
func Build(ctx context.Context, opts Options) (*Report, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.Memory = cmp.Or(opts.Memory, memory.Default())
	defer memory.Limit(opts.Memory)()
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

// build makes the file with a writer, and commits it.
func (o *Options) build(ctx context.Context, w *region.Writer, temp *scratch.Dir) (*Report, error) {
	report := &Report{}
	began := time.Now()
	bar := progress.New(o.Progress)
	defer bar.Stop() // what still runs when ctx ends
	data, err := extract.Read(ctx, temp, o.Inputs, extract.Options{Progress: bar, NoMap: o.NoMap})
	if err != nil {
		return nil, err
	}
	report.Counts, report.Timestamp = data.Counts, data.Timestamp
	report.Read = time.Since(began)

	began = time.Now()
	if err := compile(ctx, w, data, temp); err != nil {
		return nil, err
	}
	region.AddCoverage(w, data.Tiles.Sorted()) // places have added to them
	report.Compile = time.Since(began)

	began = time.Now()
	bar.Start("write", 1)
	if err := w.Commit(ctx, o.Output, o.meta(data)); err != nil {
		return nil, err
	}
	info, err := os.Stat(o.Output)
	if err != nil {
		return nil, err
	}
	report.Size, report.Scratch = info.Size(), temp.Peak()
	if err := temp.Release(); err != nil { // nobody reads them any more
		return nil, err
	}
	bar.Finish()
	report.Write = time.Since(began)
	return report, nil
}

// check refuses what cannot be written before anything is read: reading a country takes minutes.
func (o *Options) check() error {
	if len(o.Inputs) == 0 {
		return errors.New("no extract given")
	}
	return newfile.Check(o.Output, o.Inputs...)
}

// compile adds the map, places, then roads: one after the other, since each has temporary files of its own. When ctx
// ends, it returns at once; what still runs then touches no file that stays.
func compile(ctx context.Context, w *region.Writer, data *extract.Data, temp *scratch.Dir) error {
	result := make(chan error, 1)
	go func() {
		if data.Drawings != nil {
			if err := basemap.Write(ctx, w, data, temp); err != nil {
				result <- fmt.Errorf("map: %w", err)
				return
			}
		}
		if err := errors.Join(places.Write(w, data, temp), data.Features.Free()); err != nil {
			result <- fmt.Errorf("places: %w", err)
			return
		}
		if err := roads.Write(w, data, temp); err != nil {
			result <- fmt.Errorf("roads: %w", err)
			return
		}
		result <- nil
	}()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// meta is what the file says of itself. It names no directories and no time of its own, so that it depends on the
// extracts alone.
func (o *Options) meta(data *extract.Data) region.Meta {
	m := region.Meta{
		License: License, Attribution: Attribution, Timestamp: data.Timestamp,
		Bounds: region.Bounds{
			MinLat: data.Bounds.Min.Lat(),
			MinLon: data.Bounds.Min.Lon(),
			MaxLat: data.Bounds.Max.Lat(),
			MaxLon: data.Bounds.Max.Lon(),
		},
		Counts: map[string]int64{
			"nodes": data.Counts.Nodes, "ways": data.Counts.Ways, "relations": data.Counts.Relations,
			"roads": data.Counts.Roads, "restrictions": int64(len(data.Restrictions)), "features": data.Counts.Features,
			"addresses": data.Counts.Addresses, "interpolations": int64(data.Interpolations.Len()),
			"missingNodes": data.Counts.MissingNodes, "brokenAreas": data.Counts.BrokenAreas,
			"repairedRings": data.Counts.RepairedRings, "skippedRestrictions": data.Counts.SkippedRestrictions,
		},
	}
	for _, path := range o.Inputs {
		m.Sources = append(m.Sources, filepath.Base(path))
	}
	return m
}
