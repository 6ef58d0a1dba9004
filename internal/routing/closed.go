package routing

import (
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// closed is the edges that one request must not use. Cells that have some are not passed by their matrices: the search
// goes through smaller ones, and through their leaf cells arc by arc.
type closed struct {
	edges  map[uint32]bool
	cells  [Levels]map[uint32]bool
	leaves map[uint32]*leaf
	local  local
}

// leaf returns a leaf cell with its closed edges.
func (c *closed) leaf(m *metric, number uint32, b *leafBuilder) *leaf {
	l := c.leaves[number]
	if l == nil {
		l = b.build(m.Overlay, number, m.cache.model, c.edges)
		c.leaves[number] = l
	}
	return l
}

// without returns the metric without the roads that meet some polygons. It is for one request. spend is told of the
// work, and its error is returned.
func (m *metric) without(polygons orb.MultiPolygon, spend func(work int64) error) (*metric, error) {
	c := &closed{edges: map[uint32]bool{}, leaves: map[uint32]*leaf{}}
	for level := range c.cells {
		c.cells[level] = map[uint32]bool{}
	}
	var edges []uint32
	var shape []roadgraph.Point
	for _, polygon := range polygons {
		b := polygon.Bound()
		edges = m.Graph.Within(geo.Box{MinX: units(b.Min[0], math.Floor), MinY: units(b.Min[1], math.Floor),
			MaxX: units(b.Max[0], math.Ceil), MaxY: units(b.Max[1], math.Ceil)}, edges[:0])
		for _, edge := range edges {
			shape = m.Graph.Shape(edge, shape[:0])
			if err := spend(1 + int64(len(shape)*points(polygon))/pointsPerWork); err != nil {
				return nil, err
			}
			if !c.edges[edge] && meets(polygon, shape) {
				c.edges[edge] = true
				first, last := m.ends(edge)
				for _, leaf := range [...]uint32{first, last} {
					c.cells[0][leaf] = true
					for i, parent := range m.leaves.At(int(leaf)).Parents {
						c.cells[i+1][parent] = true
					}
				}
			}
		}
	}
	return &metric{Overlay: m.Overlay, matrices: closedMatrices{m.matrices, m, c}, cache: m.cache, closed: c}, nil
}

// pointsPerWork is how many pairs of points are compared in the time in which a search settles an arc.
const pointsPerWork = 64

// points returns the number of points of a polygon.
func points(polygon orb.Polygon) (n int) {
	for _, ring := range polygon {
		n += len(ring)
	}
	return n
}

// units returns degrees as 1e-7 degrees.
func units(degrees float64, round func(float64) float64) int32 {
	return int32(round(min(max(degrees, -180), 180) * 1e7))
}

// meets reports whether a line of points has a point in a polygon, or crosses its border.
func meets(polygon orb.Polygon, shape []roadgraph.Point) bool {
	for i := range shape {
		if planar.PolygonContains(polygon, shape[i].Location()) {
			return true
		}
		for _, ring := range polygon {
			for k := 1; i > 0 && k < len(ring); k++ {
				if crosses(shape[i-1].Location(), shape[i].Location(), ring[k-1], ring[k]) {
					return true
				}
			}
		}
	}
	return false
}

// crosses reports whether two segments cross.
func crosses(a, b, c, d orb.Point) bool {
	side := func(p, q, r orb.Point) float64 { return (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0]) }
	return side(a, b, c)*side(a, b, d) <= 0 && side(c, d, a)*side(c, d, b) <= 0 &&
		max(min(a[0], b[0]), min(c[0], d[0])) <= min(max(a[0], b[0]), max(c[0], d[0])) &&
		max(min(a[1], b[1]), min(c[1], d[1])) <= min(max(a[1], b[1]), max(c[1], d[1]))
}

// closedMatrices are those of a metric, apart from leaf cells with closed edges.
type closedMatrices struct {
	source
	m *metric
	c *closed
}

func (m closedMatrices) row(b *buffer, cell, entry, exits int) (costs, lengths []uint32) {
	costs, lengths = m.source.row(b, cell, entry, exits)
	if cell >= m.m.NumLeaves() || !m.c.cells[0][uint32(cell)] {
		return costs, lengths
	}
	l := m.c.leaf(m.m, uint32(cell), new(leafBuilder))
	t := l.treeFrom(entry, &m.c.local)
	costs, lengths = make([]uint32, exits), slices.Clone(lengths)
	for k, exit := range l.exits {
		if costs[k] = t.costs[exit]; lengths != nil {
			lengths[k] = l.lengthTo(t.before, exit, 0)
		}
	}
	return costs, lengths
}

func (m closedMatrices) column(b *buffer, cell, exit, entries, exits int) (costs, lengths []uint32) {
	if cell >= m.m.NumLeaves() || !m.c.cells[0][uint32(cell)] {
		return m.source.column(b, cell, exit, entries, exits)
	}
	for entry := range entries {
		c, l := m.row(b, cell, entry, exits)
		if costs = append(costs, c[exit]); l != nil {
			lengths = append(lengths, l[exit])
		}
	}
	return costs, lengths
}
