// Package routes divides the junctions of a region into cells, and writes the sections that package routing defines and
// reads. Begin at Write, which does these steps:
//
//  1. join junctions that need not be parted to groups (groups.go);
//  2. divide the groups (partition.go, flow.go);
//  3. find the edges of each mode that are isolated (isolated.go);
//  4. write which cells the base edges are in (cells.go);
//  5. write what crosses the borders of cells, for each mode (boundary.go), and what it costs (weights.go).
//
// Data that grows with the extract is in flat arrays in temporary files; see package scratch.
package routes

import (
	"cmp"
	"context"
	"errors"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
)

// modes are all modes.
var modes = [...]region.Modes{region.Car, region.Bicycle, region.Foot}

// builder makes the sections.
type builder struct {
	w   *region.Writer
	dir *scratch.Dir
	bar *pipeline.Bar

	edges     region.View[roadgraph.BaseEdge]
	states    region.View[roadgraph.State]
	controls  region.View[roadgraph.Control]
	junctions []uint32 // at the first and the last node of each base edge

	// The following fields grow with the extract, and are in temporary files; see zeros.
	free   []func() error
	failed error

	isolated []uint8        // for each base edge, the modes for which its edge is isolated
	leafOf   []uint32       // the leaf cell of each junction
	leaves   []routing.Leaf // one more than there are
	counts   [routing.Levels]int
}

// Write adds the sections to a region file, after those of the roads. It frees junctions, which network.Write has
// returned. The same input gives the same bytes. It reports two stages to the bar.
func Write(ctx context.Context, w *region.Writer, dir *scratch.Dir, junctions *scratch.Array[uint32],
	bar *pipeline.Bar) error {
	b := &builder{w: w, dir: dir, bar: bar, junctions: junctions.Slice(), free: []func() error{junctions.Free}}
	err := b.write(ctx)
	for _, f := range b.free {
		err = errors.Join(err, f())
	}
	return err
}

func (b *builder) write(ctx context.Context) error {
	if len(b.junctions) == 0 {
		return nil
	}
	draft, err := b.w.Draft("roads.")
	if err != nil {
		return err
	}
	defer draft.Release()
	if err := cmp.Or(open(draft, roadgraph.BaseEdgesSection, &b.edges), open(draft, roadgraph.StatesSection, &b.states),
		open(draft, roadgraph.ControlsSection, &b.controls)); err != nil {
		return err
	}
	b.isolated = zeros[uint8](b, "isolated", len(b.junctions)/2)
	if b.failed != nil {
		return b.failed
	}
	b.bar.Start("cells", 1)
	if err := b.partition(ctx); err != nil {
		return err
	}
	for _, mode := range modes {
		if err := b.findIsolated(ctx, draft, mode); err != nil {
			return err
		}
	}
	b.bar.Finish()
	b.bar.Start("routes", int64(len(modes)))
	if err := cmp.Or(b.writeEdges(), b.writeMembers()); err != nil {
		return err
	}
	for _, mode := range modes {
		if err := b.writeMode(ctx, mode); err != nil {
			return err
		}
		b.bar.Add(1)
	}
	b.bar.Finish()
	return ctx.Err()
}

func open[T any](f *region.File, name string, v *region.View[T]) (err error) {
	*v, err = region.Section[T](f, name)
	return err
}

// zeros makes an array of zeros in a temporary file. It stores an error in failed.
func zeros[T any](b *builder, name string, n int) []T {
	a := scratch.NewArray[T](b.dir, "route-"+name)
	data, err := a.Extend(n)
	b.failed = cmp.Or(b.failed, err)
	b.free = append(b.free, a.Free)
	return data
}

// direct writes a section at the end of the file.
func direct[T any](w *region.Writer, name string, data []T) error {
	s := w.Direct(name, sizeOf[T]())
	return cmp.Or(region.Append(s, data...), s.Close())
}

func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// baseEdges returns the number of base edges.
func (b *builder) baseEdges() uint32 { return uint32(len(b.junctions) / 2) }

// ends returns the leaf cells of the first and the last node of consecutive base edges.
func (b *builder) ends(first, last uint32) (from, to uint32) {
	return b.leafOf[b.junctions[2*first]], b.leafOf[b.junctions[2*last+1]]
}

// runOf returns the last base edge of the edge of a mode that begins with a base edge, and the flags of its first one.
// It returns false if no edge begins there.
func (b *builder) runOf(mode region.Modes, base uint32) (last uint32, flags roadgraph.BaseEdgeFlags, ok bool) {
	flags = b.edges.At(int(base)).Flags
	if flags.Open()&flags.Modes(roadgraph.BeginsEdgeSet)&mode == 0 {
		return base, flags, false
	}
	for last = base; ; last++ {
		after := b.edges.At(int(last) + 1).Flags
		if after.Open()&^after.Modes(roadgraph.BeginsEdgeSet)&mode == 0 {
			return last, flags, true
		}
	}
}
