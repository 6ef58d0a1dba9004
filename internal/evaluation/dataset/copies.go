package dataset

import (
	"fmt"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/extract"
)

// gap is the space between two copies, 1e-7 degrees.
const gap = 500_000

// Shift is by how many degrees of longitude each copy lies east of the one before: pure shifts in longitude, so that all
// lengths and angles stay as they are.
func Shift(data *extract.Data) float64 { return float64(shift(data)) / 1e7 }

func shift(data *extract.Data) int64 {
	west, east := int64(1800_000_000), int64(-1800_000_000)
	for i := range data.Nodes {
		west, east = min(west, int64(data.Nodes[i].Lon)), max(east, int64(data.Nodes[i].Lon))
	}
	return east - west + gap
}

// Repeat makes a country of n copies of an extract's roads, side by side. Only cars may use them: the networks of other
// modes of travel would treble what it takes, and show nothing else.
func Repeat(data *extract.Data, n int) (*extract.Data, error) {
	by := shift(data)
	if east := data.Bounds.Max.Lon() + float64(by)/1e7*float64(n-1); east > 180 {
		return nil, fmt.Errorf("%d copies do not fit: the last one would reach to longitude %.1f", n, east)
	}
	out := &extract.Data{Bounds: data.Bounds}
	out.Bounds.Max[0] += float64(by) / 1e7 * float64(n-1)
	ids := lastIDs(data)
	for k := range n {
		first, ids := int32(len(out.Nodes)), ids.times(int64(k))
		for _, node := range data.Nodes {
			node.ID += ids.node
			node.Lon = int32(int64(node.Lon) + by*int64(k))
			out.Nodes = append(out.Nodes, node)
		}
		for _, road := range data.Roads {
			road.Way += ids.way
			road.Forward, road.Backward = road.Forward&extract.Car, road.Backward&extract.Car
			road.Nodes = slices.Clone(road.Nodes)
			for i := range road.Nodes {
				road.Nodes[i] += first
			}
			out.Roads = append(out.Roads, road)
		}
		for _, r := range data.Restrictions {
			r.Relation += ids.relation
			r.From, r.To = r.From+ids.way, r.To+ids.way
			if r.ViaNode >= 0 {
				r.ViaNode += first
			}
			r.ViaWays = slices.Clone(r.ViaWays)
			for i := range r.ViaWays {
				r.ViaWays[i] += ids.way
			}
			out.Restrictions = append(out.Restrictions, r)
		}
	}
	return out, nil
}

// identifiers are one of each kind.
type identifiers struct{ node, way, relation int64 }

func (i identifiers) times(n int64) identifiers {
	return identifiers{i.node * n, i.way * n, i.relation * n}
}

// lastIDs are the largest identifiers in an extract: each copy's own ones lie beyond those of the copy before.
func lastIDs(data *extract.Data) (last identifiers) {
	for i := range data.Nodes {
		last.node = max(last.node, data.Nodes[i].ID)
	}
	for i := range data.Roads {
		last.way = max(last.way, data.Roads[i].Way)
	}
	for i := range data.Restrictions {
		r := &data.Restrictions[i]
		last.relation = max(last.relation, r.Relation)
		last.way = max(last.way, r.From, r.To)
	}
	return last
}

// Thin is data without a share of its smaller roads, always the same ones. Turn restrictions go with them.
func Thin(d *extract.Data, share float64) *extract.Data {
	thin := *d
	thin.Roads, thin.Restrictions = nil, nil
	for _, r := range d.Roads {
		mixed := uint64(r.Way) * 0x9E3779B97F4A7C15 >> 40
		if r.Class < extract.Unclassified || float64(mixed)/(1<<24) >= share {
			thin.Roads = append(thin.Roads, r)
		}
	}
	return &thin
}
