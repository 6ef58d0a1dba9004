package network

import (
	"cmp"
	"math"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// leafWriter writes the snapping index. Its leaves are in the order of the base edges, that of the Hilbert curve, so
// that neighbours in the index are also neighbours in the list of base edges.
type leafWriter struct {
	w      *region.Writer
	names  *roadgraph.Index
	leaves *region.SectionWriter
	groups *region.SectionWriter
	boxes  *scratch.Array[geo.Box] // of the groups
	group  []leaf
}

func newLeafWriter(w *region.Writer, dir *scratch.Dir, names *roadgraph.Index) *leafWriter {
	return &leafWriter{w: w, names: names, leaves: w.Spool(names.Leaves, sizeOf[roadgraph.Leaf]()),
		groups: w.Spool(names.Groups, sizeOf[uint32]()), boxes: scratch.NewArray[geo.Box](dir, "road-boxes")}
}

// add adds a leaf to the group.
func (l *leafWriter) add(one leaf) error {
	if n := len(l.group); n == geo.TreeFanout || n > 0 && one.edge-l.group[0].edge > math.MaxUint16 {
		if err := l.flush(geo.TreeFanout); err != nil {
			return err
		}
	}
	l.group = append(l.group, one)
	return nil
}

// flush writes the group with empty leaves up to a number of leaves.
func (l *leafWriter) flush(leaves int) error {
	whole := geo.EmptyBox
	for i := range l.group {
		whole.Extend(l.group[i].box)
	}
	var group [geo.TreeFanout]roadgraph.Leaf
	first := l.group[0].edge
	for i, one := range l.group {
		leaf, box := &group[i], &one.box
		leaf.BaseEdge, leaf.Skip = uint16(one.edge-first), uint8(one.skip)
		leaf.Info = roadgraph.NewLeafInfo(one.segments, one.modes)
		leaf.MinX, leaf.MaxX = parts(box.MinX, box.MaxX, whole.MinX, whole.MaxX)
		leaf.MinY, leaf.MaxY = parts(box.MinY, box.MaxY, whole.MinY, whole.MaxY)
	}
	l.group = l.group[:0]
	return cmp.Or(region.Append(l.leaves, group[:leaves]...), region.Append(l.groups, first), l.boxes.Append(whole))
}

// parts returns the bounds of a box in steps of its group's box, rounded outwards.
func parts(from, to, groupFrom, groupTo int32) (uint8, uint8) {
	size := int64(groupTo) - int64(groupFrom)
	if size == 0 {
		return 0, roadgraph.BoxSteps
	}
	low := (int64(from) - int64(groupFrom)) * roadgraph.BoxSteps / size
	high := ((int64(to)-int64(groupFrom))*roadgraph.BoxSteps + size - 1) / size
	return uint8(low), uint8(high)
}

// finish writes the boxes.
func (l *leafWriter) finish() error {
	if len(l.group) > 0 {
		if err := l.flush(len(l.group)); err != nil {
			return err
		}
	}
	// The levels take a sixteenth of the groups' boxes: small enough for memory.
	if err := l.boxes.Append(geo.AppendTreeLevels(nil, l.boxes.Slice())...); err != nil {
		return err
	}
	return cmp.Or(direct(l.w, l.names.Boxes, l.boxes.Slice()), l.boxes.Free())
}
