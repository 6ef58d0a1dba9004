package geocoding

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// cell is what is known around a position. The zero value knows nothing.
type cell struct {
	placefile.Cell
	root   *placefile.Root
	middle geometry.Offset // from the origin
}

// cellAt returns the cell of an origin.
func (x *Index) cellAt(o *geometry.Origin) (c cell) {
	px, py := math.Floor(o.X)+geometry.HalfTurn, math.Floor(o.Y)+geometry.HalfTurn/2
	if !(px >= 0 && px < geometry.FullTurn && py >= 0 && py <= geometry.HalfTurn) {
		return c
	}
	cx, cy := uint32(px), uint32(py)
	root := x.root(placefile.RootKey(cx>>placefile.RootBits, cy>>placefile.RootBits))
	if root == nil {
		return c
	}
	at, end := int(root.At)+int(root.Surroundings), int(root.At)+int(root.Length)
	size := placefile.RootBits
	kind := *x.cells.At(at)
	for at++; kind == placefile.ChildNode; {
		if size--; size < placefile.LeafBits {
			return c
		}
		var below int
		data := x.cells.Range(at, min(at+placefile.NodeBytes, end))
		kind, below = placefile.ReadNode(data, uint(cy>>size&1)<<1+uint(cx>>size&1))
		at += below
	}
	if kind != placefile.ChildCell {
		return c
	}
	c.Cell, c.root = placefile.ReadCell(x.cells.Range(at, min(at+placefile.CellBytes, end))), root
	half := float64(uint32(1) << size / 2)
	c.middle = geometry.Offset{
		Dx: float64(cx>>size<<size) + half - geometry.HalfTurn - o.X,
		Dy: float64(cy>>size<<size) + half - geometry.HalfTurn/2 - o.Y,
	}
	return c
}

// root finds a root, nil where there is none.
func (x *Index) root(key uint32) *placefile.Root {
	from, to := 0, x.roots.Len()
	for from < to {
		middle := int(uint(from+to) / 2)
		switch r := x.roots.At(middle); {
		case r.Key == key:
			return r
		case r.Key < key:
			from = middle + 1
		default:
			to = middle
		}
	}
	return nil
}

// knows reports whether the features of a cell are all that can be within some centimetres.
func (c *cell) knows(distance float64) bool {
	return c.Flags&placefile.CellFeatures != 0 &&
		(c.Flags&placefile.CellEnough != 0 || distance <= placefile.CellDistance*100)
}

// surroundings reads what is known of all of a cell.
func (x *Index) surroundings(c *cell, s *placefile.Surroundings) {
	at, end := int(c.root.At), int(c.root.At)+int(c.root.Surroundings)
	from := min(at+int(c.Surroundings), end)
	enclosing := placefile.ReadSurroundings(x.cells.Range(from, min(from+placefile.SurroundingBytes, end)), s)
	from = min(at+int(enclosing), end)
	s.Enclosing = placefile.ReadEnclosing(x.cells.Range(from, min(from+placefile.EnclosingBytes, end)))
}

// openCell adds the features of a cell to a search.
func (s *search) openCell(c *cell) {
	if c.Flags&placefile.CellEnough != 0 {
		// From the middle, MaxSize features are no farther than the cell's radius.
		away := geometry.Metres(s.o.Haversine(c.middle.Dx, c.middle.Dy))
		s.limit = min(s.limit, geometry.HaversineWithin(c.Radius+away+placefile.CellMargin))
	}
	var b batch
	c.Runs(c.root.Base, func(from, to uint32) {
		for n := from; n != to; n++ {
			s.add(&b, n)
		}
	})
	s.flush(&b)
}

// openList adds some features to a search.
func (s *search) openList(features []uint32) {
	var b batch
	for _, n := range features {
		s.add(&b, n)
	}
	s.flush(&b)
}

// batch is features on their way into a search.
type batch struct {
	n        int
	features [boxtree.Fanout]uint32
	boxes    [boxtree.Fanout]boxtree.Box
}

func (s *search) add(b *batch, feature uint32) {
	if b.n == len(b.boxes) {
		s.flush(b)
	}
	block := s.x.blocks.At(int(feature / placefile.Fanout))
	b.features[b.n], b.boxes[b.n] = feature, block.Box(int(feature%placefile.Fanout))
	b.n++
}

// flush puts the features that may be near enough into the queue.
func (s *search) flush(b *batch) {
	var bounds [boxtree.Fanout]float64
	s.o.Spend(b.n)
	s.o.Bounds(&bounds, b.boxes[:b.n])
	for i, h := range bounds[:b.n] {
		if h <= s.limit {
			s.queue.Push(h, candidate{node: b.features[i]})
		}
	}
	b.n = 0
}
