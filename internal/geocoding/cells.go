package geocoding

import "math"

// A region file divides what it covers into cells: squares on the plane of longitude and latitude, halved until few features can
// be among the nearest of any position in them, and until the areas around them are the same everywhere in them. A cell holds
// all that matters in it, so that most requests look at some dozens of boxes instead of at a tree, and at no polygon at all.
// What a cell does not know is searched for in the trees.

const (
	// rootBits is the logarithm of the width of the largest cells in 1e-7 degrees: 0.105°, 11.7 km.
	rootBits = 20
	// leafBits is that of the smallest: 91 m.
	leafBits = 13
	// cellReach is how far, in metres, the features of a cell are known where there are fewer than MaxSize.
	cellReach = DefaultMaxDistance
)

// root is one of the largest cells.
type root struct {
	Key  uint32 // row<<16 | column, counted from the south pole and from the antimeridian
	Node uint32
}

// A node is 0 where nothing is known, else the index of the first of its four children (south-west, south-east, north-west,
// north-east) shifted left by one, or where its cell begins, shifted left by one, plus one.
const nodeIsCell = 1

// cellHead is how many words each cell begins with: its counts and flags, its context, and how far it is from its middle to the
// last of its nearest features, in metres as a float32.
const cellHead = 3

// The first word of a cell has how many features, open areas, and settlements that may be its city, its suburb and its
// hamlet it lists, and flags.
const (
	cellFeatureMask                 = 1<<8 - 1
	cellAreaShift, cellAreaMask     = 8, 1<<4 - 1
	cellCityShift, cellCityMask     = 12, 1<<4 - 1
	cellSuburbShift, cellSuburbMask = 16, 1<<4 - 1
	cellHamletShift, cellHamletMask = 20, 1<<4 - 1

	cellCovered  = 1 << 24 // all of it is covered by the region
	cellFeatures = 1 << 25 // its features are known
	cellEnough   = 1 << 26 // they are MaxSize or more: none is missing, however far one looks
	cellContext  = 1 << 27 // the areas around it and its settlements are known
	cellOneCity  = 1 << 28 // there is one city only, near enough to all of it
	cellOneSub   = 1 << 29 // there is one suburb only, near enough to all of it
	cellOneHam   = 1 << 30 // there is one hamlet only, near enough to all of it
)

// cell is what is known around a position. The zero value knows nothing.
type cell struct {
	flags    uint32
	context  uint32
	middle   position // from the origin
	reach    float64  // metres from the middle to the last of its nearest features
	features []uint32
	areas    []uint32 // items of the tree of areas: those that may or may not contain the position

	cities, suburbs, hamlets []uint32 // features
}

// cellAt returns the cell of an origin.
func (x *Index) cellAt(o *origin) (c cell) {
	px, py := math.Floor(o.x)+halfTurn, math.Floor(o.y)+halfTurn/2
	if !(px >= 0 && px < fullTurn && py >= 0 && py <= halfTurn) {
		return c
	}
	cx, cy := uint32(px), uint32(py)
	v, ok := x.rootNode(cy>>rootBits<<16 | cx>>rootBits)
	if !ok {
		return c
	}
	bits := rootBits
	for v != 0 && v&nodeIsCell == 0 {
		if bits--; bits < leafBits {
			return c
		}
		v = *x.nodes.At(int(v>>1 + (cy>>bits&1)<<1 + cx>>bits&1))
	}
	if v == 0 {
		return c
	}
	at := int(v >> 1)
	head := x.cells.Range(at, at+cellHead)
	c.flags, c.context, c.reach = head[0], head[1], float64(math.Float32frombits(head[2]))
	half := float64(uint32(1) << bits / 2)
	c.middle = position{float64(cx>>bits<<bits) + half - halfTurn - o.x, float64(cy>>bits<<bits) + half - halfTurn/2 - o.y}
	n := int(c.flags & cellFeatureMask)
	areas, cities := int(c.flags>>cellAreaShift&cellAreaMask), int(c.flags>>cellCityShift&cellCityMask)
	suburbs, hamlets := int(c.flags>>cellSuburbShift&cellSuburbMask), int(c.flags>>cellHamletShift&cellHamletMask)
	list := x.cells.Range(at+cellHead, at+cellHead+n+areas+cities+suburbs+hamlets)
	c.features, list = list[:n], list[n:]
	c.areas, list = list[:areas], list[areas:]
	c.cities, list = list[:cities], list[cities:]
	c.suburbs, c.hamlets = list[:suburbs], list[suburbs:]
	return c
}

// rootNode finds the node of a root.
func (x *Index) rootNode(key uint32) (node uint32, ok bool) {
	from, to := 0, x.roots.Len()
	for from < to {
		middle := int(uint(from+to) / 2)
		switch r := x.roots.At(middle); {
		case r.Key == key:
			return r.Node, true
		case r.Key < key:
			from = middle + 1
		default:
			to = middle
		}
	}
	return 0, false
}

// serves tells whether the features of a cell are all that can be within some centimetres.
func (c *cell) serves(reach float64) bool {
	return c.flags&cellFeatures != 0 && (c.flags&cellEnough != 0 || reach <= cellReach*100)
}

// openCell adds the features of a cell to a search.
func (s *search) openCell(c *cell) {
	if c.flags&cellEnough != 0 {
		// From the middle, MaxSize features are no farther than the cell's reach.
		away := metres(s.o.haversine(c.middle.dx, c.middle.dy))
		s.limit = min(s.limit, haversineWithin(c.reach+away+cellMargin))
	}
	s.openList(c.features)
}

// openList adds some features to a search.
func (s *search) openList(features []uint32) {
	var boxes [fanout]box
	var bounds [fanout]float64
	for len(features) > 0 {
		n := min(len(features), fanout)
		for i, f := range features[:n] {
			boxes[i] = *s.x.boxes.At(int(f))
		}
		s.o.bounds(&bounds, boxes[:n])
		for i, h := range bounds[:n] {
			if h <= s.limit {
				s.push(candidate{h, features[i], 0, 0})
			}
		}
		features = features[n:]
	}
}

// cellMargin, in metres, is more than distances are rounded by.
const cellMargin = 0.1
