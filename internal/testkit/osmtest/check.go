package osmtest

import (
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
)

// T is a test that may fail: of package testing or of rapid.
type T interface {
	Helper()
	Errorf(string, ...any)
}

// Multi returns polygons in degrees.
func Multi(polygons []osm.Polygon) orb.MultiPolygon {
	mp := make(orb.MultiPolygon, len(polygons))
	for i, p := range polygons {
		for _, r := range p {
			ring := make(orb.Ring, len(r))
			for k, c := range r {
				ring[k] = c.Point()
			}
			mp[i] = append(mp[i], ring)
		}
	}
	return mp
}

// AreaOf returns an area in square degrees.
func AreaOf(mp orb.MultiPolygon) float64 { return planar.Area(mp) }

// CheckRings fails if rings are open or run the wrong way round.
func CheckRings(t T, mp orb.MultiPolygon) {
	t.Helper()
	for i, polygon := range mp {
		for k, r := range polygon {
			if !r.Closed() || (r.Orientation() == orb.CCW) != (k == 0) {
				t.Errorf("polygon %d, ring %d is open, or runs the wrong way round: %v", i, k, r)
			}
		}
	}
}

// Check checks what holds for all objects, whatever they were read from.
func (r *Recorder) Check(t T) {
	t.Helper()
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Tags.Len() == 0 {
			t.Errorf("node %d has no tags", n.ID)
		}
	}
	for i := range r.Ways {
		w := &r.Ways[i]
		if len(w.Nodes) < 2 || len(w.Numbers) != len(w.Nodes) || len(w.Coords) != len(w.Nodes) {
			t.Errorf("way %d: %d nodes, %d numbers, %d positions", w.ID, len(w.Nodes), len(w.Numbers), len(w.Coords))
			continue
		}
		lacks := 0
		for k, n := range w.Numbers {
			if n == osm.Missing {
				lacks++
			}
			if k > 0 && w.Nodes[k] == w.Nodes[k-1] {
				t.Errorf("way %d: node %d twice in a row", w.ID, w.Nodes[k])
			}
			if first := slices.Index(w.Nodes, w.Nodes[k]); w.Numbers[first] != n || w.Coords[first] != w.Coords[k] {
				t.Errorf("way %d: node %d is two", w.ID, w.Nodes[k])
			}
		}
		if lacks != w.Lacks || w.IsArea != osm.IsArea(w.Tags) {
			t.Errorf("way %d lacks %d, said to be %d; an area: %v", w.ID, lacks, w.Lacks, w.IsArea)
		}
	}
	for i := range r.Areas {
		a := &r.Areas[i]
		if len(a.Polygons) == 0 {
			t.Errorf("area %d/%d is empty", a.Kind, a.ID)
		}
		CheckRings(t, Multi(a.Polygons))
	}
}
