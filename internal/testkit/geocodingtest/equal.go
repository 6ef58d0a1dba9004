package geocodingtest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// Equal compares an answer of at most size hits with all hits within reach: the same features at the same distances to
// the centimetre, ordered by whole centimetres, size and id. If rounding may differ, either order is right. It returns
// what is wrong, or "".
func Equal(got, all []Hit, size int) string {
	if len(got) != min(len(all), size) {
		return fmt.Sprintf("%d results, want %d", len(got), min(len(all), size))
	}
	last := -1
	left := slices.Clone(all)
	for i, g := range got {
		at := slices.IndexFunc(all, func(h Hit) bool { return h.ID == g.ID })
		if at < 0 {
			return fmt.Sprintf("result %d, %s at %g m, is not what looking at everything finds", i, g.ID, g.Distance)
		}
		want := all[at]
		if math.Abs(want.Distance-g.Distance) > 0.005+tolerance {
			return fmt.Sprintf("result %d is %s at %g m, which is at %.4f m", i, g.ID, g.Distance, want.Distance)
		}
		if last >= 0 && (at == last || want.before(&all[last])) {
			return fmt.Sprintf("result %d, %s at %g m, comes before result %d, %s at %g m", i, g.ID, g.Distance, i-1,
				got[i-1].ID, got[i-1].Distance)
		}
		last = at
		left = slices.DeleteFunc(left, func(h Hit) bool { return h.ID == g.ID })
	}
	for _, h := range left {
		if last >= 0 && h.before(&all[last]) {
			return fmt.Sprintf("%s at %.4f m is missing before %s at %.4f m", h.ID, h.Distance, all[last].ID, all[last].Distance)
		}
	}
	return ""
}

// tolerance is the greatest difference of two computed distances in metres.
const tolerance = 1e-4

// before reports whether a hit has to come before another with any rounding.
func (h *Hit) before(other *Hit) bool {
	low, high := h.centimetres()
	otherLow, otherHigh := other.centimetres()
	if low != high || otherLow != otherHigh || low != otherLow {
		return high < otherLow
	}
	size, otherSize := extent(h.geometry), extent(other.geometry)
	if !orb.Equal(h.geometry, other.geometry) {
		// The sphere's areas are not the plane's, so two that are much the same may come in either order.
		return size < 0.98*otherSize
	}
	return compareIDs(h.ID, other.ID) < 0
}

// centimetres is what the distance may round to.
func (h *Hit) centimetres() (low, high float64) {
	return math.Round((h.Distance - tolerance) * 100), math.Round((h.Distance + tolerance) * 100)
}

// extent is the size of a geometry: of an area about its square metres, of a line a thousandth of its length: lines
// come before areas.
func extent(g orb.Geometry) float64 {
	switch g := g.(type) {
	case orb.LineString:
		length := 0.0
		for i := 1; i < len(g); i++ {
			length += Haversine(g[i-1], g[i])
		}
		return length / 1000
	case orb.Polygon:
		const metres = 6371008.8 * math.Pi / 180 // of a degree
		return planar.Area(g) * metres * metres * math.Cos(g.Bound().Center()[1]*math.Pi/180)
	case orb.MultiPolygon:
		sum := 0.0
		for _, polygon := range g {
			sum += extent(polygon)
		}
		return sum
	}
	return 0
}

// compareIDs orders ids as answers do: by their number, then by their kind.
func compareIDs(a, b string) int {
	parse := func(id string) (kind int, number int64) {
		name, digits, _ := strings.Cut(id, ":")
		number, _ = strconv.ParseInt(digits, 10, 64)
		return slices.Index([]string{"node", "way", "relation"}, name), number
	}
	kind, number := parse(a)
	otherKind, otherNumber := parse(b)
	return cmp.Or(cmp.Compare(number, otherNumber), cmp.Compare(kind, otherKind))
}
