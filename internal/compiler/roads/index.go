package roads

import (
	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/sphere"
)

// leafWriter writes the snapping index. Its leaves lie in the order of the edges, which is that of the curve:
// neighbours in the index are then neighbours in the list of edges, too.
type leafWriter struct {
	w      *region.Writer
	names  *roadgraph.Index
	leaves *region.SectionWriter
	boxes  *scratch.Array[boxtree.Box] // of the groups
	group  []roadgraph.Leaf
	parts  []boxtree.Box // of the group's leaves
}

func newLeafWriter(w *region.Writer, dir *scratch.Dir, names *roadgraph.Index) *leafWriter {
	return &leafWriter{w: w, names: names, leaves: w.Spool(names.Leaves, sizeOf[roadgraph.Leaf]()),
		boxes: scratch.NewArray[boxtree.Box](dir, "road-boxes")}
}

// edge adds the leaves of an edge. A piece that crosses the antimeridian has a leaf at either side of it.
func (l *leafWriter) edge(number uint32, m mapdata.Modes, line []uint32, nodes []extract.Node) error {
	leaf, box := roadgraph.Leaf{Edge: number, Modes: m}, boxtree.Empty
	add := func() (err error) {
		if leaf.Pieces > 0 {
			err = l.add(leaf, box)
		}
		leaf.Pieces, box = 0, boxtree.Empty
		return err
	}
	var words [3]uint32
	for i, skip := 1, 0; i < len(line); i++ {
		a, b := nodes[line[i-1]], nodes[line[i]]
		across := int64(a.Lon)-int64(b.Lon) != -int64(sphere.Eastward(a.Lon, b.Lon))
		if across {
			if err := add(); err != nil {
				return err
			}
		}
		if leaf.Pieces == 0 {
			leaf.Skip = uint8(skip)
		}
		leaf.Pieces++
		box.ExtendTo(a.Lon, a.Lat)
		if across {
			west := boxtree.Box{MinX: -halfTurn, MinY: min(a.Lat, b.Lat), MaxX: min(a.Lon, b.Lon), MaxY: max(a.Lat, b.Lat)}
			if err := l.add(leaf, west); err != nil {
				return err
			}
			box = boxtree.Box{MinX: max(a.Lon, b.Lon), MinY: west.MinY, MaxX: halfTurn, MaxY: west.MaxY}
		} else {
			box.ExtendTo(b.Lon, b.Lat)
		}
		if across || leaf.Pieces == roadgraph.LeafShape {
			if err := add(); err != nil {
				return err
			}
		}
		skip += len(roadgraph.AppendShape(words[:0], a.Lat, a.Lon, b.Lat, b.Lon))
	}
	return add()
}

const halfTurn = 1_800_000_000 // 180° in 1e-7 degrees

// add adds a leaf to the group.
func (l *leafWriter) add(leaf roadgraph.Leaf, box boxtree.Box) error {
	l.group, l.parts = append(l.group, leaf), append(l.parts, box)
	if len(l.group) < boxtree.Fanout {
		return nil
	}
	return l.flush()
}

// flush writes the group.
func (l *leafWriter) flush() error {
	whole := boxtree.Empty
	for i := range l.parts {
		whole.Extend(l.parts[i])
	}
	for i := range l.group {
		leaf, box := &l.group[i], &l.parts[i]
		leaf.MinX, leaf.MaxX = parts(box.MinX, box.MaxX, whole.MinX, whole.MaxX)
		leaf.MinY, leaf.MaxY = parts(box.MinY, box.MaxY, whole.MinY, whole.MaxY)
	}
	if err := region.Append(l.leaves, l.group...); err != nil {
		return err
	}
	l.group, l.parts = l.group[:0], l.parts[:0]
	return l.boxes.Append(whole)
}

// parts are the bounds of a box in parts of the group's, rounded outwards.
func parts(from, to, groupFrom, groupTo int32) (uint8, uint8) {
	size := int64(groupTo) - int64(groupFrom)
	if size == 0 {
		return 0, roadgraph.BoxParts
	}
	low := (int64(from) - int64(groupFrom)) * roadgraph.BoxParts / size
	high := ((int64(to)-int64(groupFrom))*roadgraph.BoxParts + size - 1) / size
	return uint8(low), uint8(high)
}

// finish writes the boxes.
func (l *leafWriter) finish() error {
	if len(l.group) > 0 {
		if err := l.flush(); err != nil {
			return err
		}
	}
	// A sixteenth of the groups' boxes, and so on: little enough to be made in memory.
	above := boxtree.AppendLevels(nil, l.boxes.Slice())
	if err := l.boxes.Append(above...); err != nil {
		return err
	}
	if err := direct(l.w, l.names.Boxes, l.boxes.Slice()); err != nil {
		return err
	}
	return l.boxes.Free()
}

// direct writes a section at the end of the file.
func direct[T any](w *region.Writer, name string, data []T) error {
	s := w.Direct(name, sizeOf[T]())
	if err := region.Append(s, data...); err != nil {
		return err
	}
	return s.Close()
}
