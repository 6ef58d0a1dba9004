package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/dataset"
)

// side is one of the two builds that are compared, and what it has compiled.
type side struct {
	name, binary string
	region       string // the file that it answers from
}

// regions are an extract, compiled by both builds and in this process.
type regions struct {
	old, new side
	path     string // of what is compiled in this process
	network  *dataset.Network
}

// compile compiles an extract, and prints what that took.
func compile(ctx context.Context, out io.Writer, s *settings, extract, scratch string) (*regions, error) {
	r := &regions{old: side{name: "OLD", binary: s.old}, new: side{name: "NEW", binary: s.new}}
	for _, by := range []*side{&r.old, &r.new} {
		by.region = filepath.Join(scratch, by.name+".region")
		b, err := testregion.Command(by.binary)(ctx, extract, by.region)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "%s: %.1f s, %.1f s of processor time, %d MB of memory, %d MB of temporary files, "+
			"a file of %.2f MB\n", by.name, b.Took.Seconds(), b.Processor.Seconds(), b.Anonymous>>20, b.Scratch>>20,
			float64(b.Region)/1e6)
	}
	fmt.Fprintln(out)
	build := func(ctx context.Context, extract, output string) (testregion.Build, error) {
		r.path = output
		return testregion.InProcess(ctx, extract, output)
	}
	var err error
	if r.network, err = dataset.Compile(ctx, build, extract, scratch); err != nil {
		return nil, err
	}
	return r, nil
}

// bounds is the box that the extract covers.
func (r *regions) bounds() (orb.Bound, error) {
	file, err := region.Open(r.path)
	if err != nil {
		return orb.Bound{}, err
	}
	defer file.Release()
	info, err := file.Info()
	b := info.Bounds
	return orb.Bound{Min: orb.Point{b.MinLon, b.MinLat}, Max: orb.Point{b.MaxLon, b.MaxLat}}, err
}
