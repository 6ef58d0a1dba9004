package coast

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// store keeps tiles.
type store struct {
	points *scratch.Array[mercator.Point]
	spans  *scratch.Array[span]
	nodes  *scratch.Array[node]
}

// span is a line or a ring.
type span struct {
	at, n uint64 // among the points
}

// node is a tile: its lines, and then its rings, are spans one after the other.
type node struct {
	key   uint64
	at    uint64 // among the spans
	lines uint32
	rings uint32
	land  bool
}

func newStore(dir *scratch.Dir, name string) *store {
	return &store{scratch.NewArray[mercator.Point](dir, name), scratch.NewArray[span](dir, name+"-spans"),
		scratch.NewArray[node](dir, name+"-tiles")}
}

func tileKey(z uint8, x, y uint32) uint64 { return uint64(z)<<56 | uint64(x)<<28 | uint64(y) }

func (s *store) add(z uint8, x, y uint32, t *tile) error {
	n := node{tileKey(z, x, y), uint64(s.spans.Len()), uint32(len(t.lines)), uint32(len(t.rings)), t.land}
	for _, l := range t.lines {
		if err := s.addSpan(l); err != nil {
			return err
		}
	}
	for _, r := range t.rings {
		if err := s.addSpan(r); err != nil {
			return err
		}
	}
	return s.nodes.Append(n)
}

func (s *store) addSpan(points []mercator.Point) error {
	if err := s.spans.Append(span{uint64(s.points.Len()), uint64(len(points))}); err != nil {
		return err
	}
	return s.points.Append(points...)
}

// sort makes the tiles ready to be found.
func (s *store) sort() {
	slices.SortFunc(s.nodes.Slice(), func(a, b node) int { return compareKey(a, b.key) })
}

func compareKey(n node, key uint64) int {
	switch {
	case n.key < key:
		return -1
	case n.key > key:
		return 1
	}
	return 0
}

// get returns a tile, or nil for one that is not kept.
func (s *store) get(z uint8, x, y uint32) *tile {
	i, found := slices.BinarySearchFunc(s.nodes.Slice(), tileKey(z, x, y), compareKey)
	if !found {
		return nil
	}
	n := s.nodes.Slice()[i]
	t := &tile{square: squareOf(z, x, y), land: n.land}
	spans, points := s.spans.Slice()[n.at:], s.points.Slice()
	for j := range n.lines + n.rings {
		p := points[spans[j].at:][:spans[j].n:spans[j].n]
		if j < n.lines {
			t.lines = append(t.lines, p)
		} else {
			t.rings = append(t.rings, geom.Ring(p))
		}
	}
	return t
}

func (s *store) free() error {
	for _, a := range []interface{ Free() error }{s.points, s.spans, s.nodes} {
		if err := a.Free(); err != nil {
			return err
		}
	}
	return nil
}
