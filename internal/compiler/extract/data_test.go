package extract

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"
)

// checkData checks what holds for all Data, whatever it was read from.
func checkData(t interface {
	Helper()
	Errorf(string, ...any)
}, d *content) {
	t.Helper()
	if !slices.IsSortedFunc(d.Roads, func(a, b road) int { return cmp.Compare(a.Way, b.Way) }) {
		t.Errorf("roads are not sorted")
	}
	if !slices.IsSorted(d.Tiles) {
		t.Errorf("tiles are not sorted")
	}
	for _, r := range d.Roads {
		if len(r.Nodes) < 2 || r.Forward|r.Backward == 0 ||
			min(r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed) < 1 ||
			!r.Ferry && min(r.SpeedForward, r.SpeedBackward) < minSpeed ||
			r.DestinationForward&^r.Forward != 0 || r.DestinationBackward&^r.Backward != 0 {
			t.Errorf("road %+v", r)
		}
		for i, n := range r.Nodes {
			if int(n) >= len(d.Nodes) || i > 0 && n == r.Nodes[i-1] {
				t.Errorf("way %d: node %d", r.Way, n)
			}
		}
	}
	for _, r := range d.Restrictions {
		if (r.ViaNode == NoNode) == (len(r.ViaWays) == 0) || r.ViaNode != NoNode && int(r.ViaNode) >= len(d.Nodes) ||
			r.Modes == 0 {
			t.Errorf("restriction %+v", r)
		}
	}
	for i, f := range d.Features {
		if i > 0 {
			before := d.Features[i-1]
			if cmp.Or(cmp.Compare(before.Kind, f.Kind), cmp.Compare(before.ID, f.ID)) >= 0 {
				t.Errorf("feature %d/%d is out of order", f.Kind, f.ID)
			}
		}
		if !slices.IsSortedFunc(f.Tags, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) }) {
			t.Errorf("feature %d/%d: tags %v", f.Kind, f.ID, f.Tags)
		}
		switch g := f.Geometry.(type) {
		case orb.Point:
		case orb.LineString:
			if len(g) < 2 {
				t.Errorf("feature %d/%d: line of %d points", f.Kind, f.ID, len(g))
			}
		case orb.Polygon, orb.MultiPolygon:
			if mp := multi(g); len(mp) > 0 {
				checkRings(t, mp)
			} else {
				t.Errorf("feature %d/%d is empty", f.Kind, f.ID)
			}
		default:
			t.Errorf("feature %d/%d is a %T", f.Kind, f.ID, g)
		}
	}
	for _, line := range d.Interpolations {
		if len(line.Line) != len(line.Numbers) || line.Step < 1 {
			t.Errorf("interpolation %+v", line)
		}
	}
}
