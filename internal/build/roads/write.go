// Package roads compiles the roads of an extract into the networks that package roadgraph reads.
package roads

import (
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Write compiles the roads of an extract and adds them to a region file: a network each for cars, bicycles and people on
// foot. The same input gives the same bytes.
func Write(w *region.Writer, d *extract.Data) error {
	texts := newTexts()
	for _, mode := range []mapdata.Modes{mapdata.Car, mapdata.Bicycle, mapdata.Foot} {
		t, err := build(d, mode, texts)
		if err != nil {
			return err
		}
		names := roadgraph.SectionsOf(mode)
		region.Add(w, names.Segments, t.segments)
		region.Add(w, names.Points, t.points)
		region.Add(w, names.Ways, t.ways)
		region.Add(w, names.Arcs, t.arcs)
		region.Add(w, names.Turns, t.turns)
		region.Add(w, names.Copies, t.copies)
		region.Add(w, names.Leaves, t.leaves)
		region.Add(w, names.Boxes, t.boxes)
	}
	region.Add(w, roadgraph.NamesSection, texts.data)
	return nil
}

// tables are the arrays of one network.
type tables struct {
	segments []roadgraph.Segment
	points   []roadgraph.Point
	ways     []roadgraph.WayRun
	arcs     []roadgraph.Arc
	turns    []roadgraph.Turn
	copies   []uint32
	leaves   []roadgraph.Leaf
	boxes    []roadgraph.Box
}

// build makes the network of one mode.
func build(d *extract.Data, mode mapdata.Modes, texts *texts) (*tables, error) {
	b := newBuilder(d, mode)
	if len(b.edges) == 0 {
		return &tables{}, nil
	}
	b.markJunctions()
	b.traceSegments()
	b.sortSegments()
	t := &tables{}
	if err := b.writeSegments(t, texts); err != nil {
		return nil, err
	}
	if err := b.writeTurns(t); err != nil {
		return nil, err
	}
	writeIndex(t, b.curve)
	return t, nil
}

// writeSegments fills the segments, their shapes and their arcs.
func (b *builder) writeSegments(t *tables, texts *texts) error {
	total := 0
	for i := range b.segments {
		total += len(b.segments[i].nodes)
	}
	if total > math.MaxUint32 || len(b.segments) > math.MaxInt32/2 {
		return fmt.Errorf("the extract has too many roads: %d points in %d segments", total, len(b.segments))
	}
	t.points = make([]roadgraph.Point, 0, total)
	t.segments = make([]roadgraph.Segment, 0, len(b.segments)+1)
	t.arcs = make([]roadgraph.Arc, 0, 2*len(b.segments)+1)
	for i := range b.segments {
		s := &b.segments[i]
		p := &s.properties
		segment := roadgraph.Segment{FirstPoint: uint32(len(t.points)), Name: texts.add(p.name), Ref: texts.add(p.ref), Class: p.class,
			Flags: p.flags, Layer: p.layer}
		t.addWay(len(t.points), b.data.Roads[s.first].Way)
		for _, c := range s.changes {
			t.addWay(len(t.points)+int(c.node), b.data.Roads[c.road].Way)
		}
		length := 0.0
		for k, node := range s.nodes {
			n := &b.data.Nodes[node]
			point := roadgraph.Point{Lat: n.Lat, Lon: n.Lon}
			if k > 0 {
				length += pointDistance(&t.points[len(t.points)-1], &point) * millimetres
			}
			point.Offset = uint32(min(math.Round(length), maxMillimetres))
			t.points = append(t.points, point)
		}
		segment.Length = t.points[len(t.points)-1].Offset
		t.segments = append(t.segments, segment)
		ends := [2]*roadgraph.Point{&t.points[len(t.points)-1], &t.points[segment.FirstPoint]}
		for dir, speed := range [2]uint8{p.speedForward, p.speedBackward} {
			t.arcs = append(t.arcs, roadgraph.Arc{
				Length: segment.Length, Duration: duration(segment.Length, speed), Base: uint32(2*i + dir),
				EndLat: ends[dir].Lat, EndLon: ends[dir].Lon,
			})
		}
	}
	t.segments = append(t.segments, roadgraph.Segment{FirstPoint: uint32(len(t.points))})
	return nil
}

// duration is the time in milliseconds for a length in millimetres at a speed in km/h.
func duration(length uint32, speed uint8) uint32 {
	return uint32(min(math.Round(float64(length)*3.6/float64(max(speed, 1))), math.MaxUint32))
}

// addWay begins a run of a way at a point, unless that is of the same way as the points before.
func (t *tables) addWay(point int, way int64) {
	if n := len(t.ways); n == 0 || t.ways[n-1].Way() != way {
		t.ways = append(t.ways, roadgraph.NewWayRun(uint32(point), way))
	}
}

// texts is the table of names, each kept once.
type texts struct {
	data   []byte
	places map[string]uint32
}

// newTexts starts a table whose text 0 is empty.
func newTexts() *texts {
	return &texts{data: []byte{0, 0}, places: map[string]uint32{"": 0}}
}

// add returns the number of a text. OpenStreetMap's values have at most 255 characters.
func (t *texts) add(text string) uint32 {
	if len(text) > math.MaxUint16 {
		text = text[:math.MaxUint16]
	}
	if at, ok := t.places[text]; ok {
		return at
	}
	at := uint32(len(t.data))
	t.data = append(t.data, byte(len(text)), byte(len(text)>>8))
	t.data = append(t.data, text...)
	t.places[text] = at
	return at
}
