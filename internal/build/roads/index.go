package roads

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// writeIndex fills leaves and boxes.
func writeIndex(t *tables, c curve) {
	type item struct {
		roadgraph.Leaf
		at uint64
	}
	var items []item
	for i := range len(t.segments) - 1 {
		first, end := t.segments[i].FirstPoint, t.segments[i+1].FirstPoint
		for p := first; p+1 < end; p += roadgraph.LeafPieces {
			b := emptyBox
			for q := p; q < end && q <= p+roadgraph.LeafPieces; q++ {
				extend(&b, t.points[q].Lat, t.points[q].Lon)
			}
			mid := c.at((float64(b.MinLat)+float64(b.MaxLat))/2, (float64(b.MinLon)+float64(b.MaxLon))/2)
			items = append(items, item{roadgraph.Leaf{Box: b, Segment: uint32(i), Point: p}, mid})
		}
	}
	slices.SortFunc(items, func(x, y item) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.Point, y.Point)) })
	t.leaves = make([]roadgraph.Leaf, len(items))
	for i := range items {
		t.leaves[i] = items[i].Leaf
	}

	levels := roadgraph.LevelsOf(len(t.leaves))
	t.boxes = make([]roadgraph.Box, roadgraph.BoxCount(levels))
	for l := len(levels) - 1; l >= 0; l-- {
		for i := range levels[l].Count {
			b := emptyBox
			for k := i * roadgraph.FanOut; k < (i+1)*roadgraph.FanOut; k++ {
				switch {
				case l == len(levels)-1 && k < len(t.leaves):
					join(&b, &t.leaves[k].Box)
				case l < len(levels)-1 && k < levels[l+1].Count:
					join(&b, &t.boxes[levels[l+1].First+k])
				}
			}
			t.boxes[levels[l].First+i] = b
		}
	}
}

var emptyBox = roadgraph.Box{
	MinLat: math.MaxInt32, MinLon: math.MaxInt32, MaxLat: math.MinInt32, MaxLon: math.MinInt32,
}

func extend(b *roadgraph.Box, lat, lon int32) {
	join(b, &roadgraph.Box{MinLat: lat, MinLon: lon, MaxLat: lat, MaxLon: lon})
}

func join(b, o *roadgraph.Box) {
	b.MinLat, b.MinLon = min(b.MinLat, o.MinLat), min(b.MinLon, o.MinLon)
	b.MaxLat, b.MaxLon = max(b.MaxLat, o.MaxLat), max(b.MaxLon, o.MaxLon)
}
