package places

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/sections"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// When a cell is small enough. Fewer features make larger files.
const (
	enoughFeatures = 34
	enoughAreas    = 2
	enoughPlaces   = 4
	placeBits      = 14 // cells no larger than that may have several settlements
)

// known is what is known of a cell before it is looked at: the lists of the larger one.
type known struct {
	features, cities, suburbs, hamlets []nearby
	open                               *openSet

	context                       placefile.Enclosing
	settled                       bool // the settlements are those that the context allows
	oneCity, oneSuburb, oneHamlet bool // whatever the position in the cell
}

// divider divides one root after the other.
type divider struct {
	*compiler
	covered *coverage
	finder  finder
	limit   int64 // of the steps that the finder and the divider itself may take
	middles [placefile.RootBits + 2]geometry.Origin
	sets    [placefile.RootBits + 1]openSet
	lists   [placefile.RootBits + 2]struct{ features, cities, suburbs, hamlets []nearby }
	root    *sections.Root
	numbers []uint32 // of the features of a cell
}

// division is how a root is divided.
type division struct {
	root  *sections.Root
	node  placefile.Child
	steps int64
}

// divide returns the node of a cell.
func (d *divider) divide(sq square, k known) (c placefile.Child) {
	f := &d.finder
	covered := d.covered.of(&sq)
	if covered == coveredNowhere || f.steps > d.limit {
		return c
	}
	f.origin = geometry.NewOrigin(sq.middle())
	d.middles[sq.bits] = f.origin
	larger := &d.middles[sq.bits+1]
	f.shift = geometry.Metres(f.origin.Haversine(larger.X-f.origin.X, larger.Y-f.origin.Y)) + slack
	f.radius = sq.radius(&f.origin)

	mine := &d.lists[sq.bits]
	var reach float64
	var surelyMore bool
	mine.features, reach, surelyMore = f.features(mine.features[:0], k.features, &sq)
	k.features = mine.features
	f.steps += d.sets[sq.bits].narrow(k.open, &sq, d.areaShape, func(item uint32) { d.surround(&k.context, item) })
	k.open = &d.sets[sq.bits]

	areas := d.store.areas.Slice()
	decided := k.context.Code() != ([3]byte{}) &&
		!slices.ContainsFunc(k.open.areas, func(a openArea) bool { return k.context.Decides(&areas[a.item]) })
	switch {
	case decided:
		d.settle(&sq, &k)
	case len(k.open.areas) == 0: // no polygon tells the country: smaller cells would know no more
		k.cities, k.suburbs, k.hamlets = nil, nil, nil
	}
	places := max(len(k.cities), len(k.suburbs), len(k.hamlets))
	small := !surelyMore && len(k.features) <= enoughFeatures && (decided || len(k.open.areas) == 0) &&
		len(k.open.areas) <= enoughAreas && (places <= 1 || places <= enoughPlaces && sq.bits <= placeBits)
	if small || sq.bits == placefile.LeafBits {
		return d.cell(covered == coveredAll, decided, reach, &k)
	}
	var children [4]placefile.Child
	for i := range children {
		children[i] = d.divide(sq.child(i), k)
		if children[i].Kind != placefile.ChildNone {
			c.Kind = placefile.ChildNode
		}
	}
	if c.Kind == placefile.ChildNode {
		c.Data = placefile.AppendNode(nil, &children)
	}
	return c
}

// radius is how far it is, in metres, from a cell's middle to its corners, and a little more.
func (s *square) radius(middle *geometry.Origin) float64 {
	minY, half := float64(s.minY()), float64(int64(1)<<s.bits/2)
	cos := max(math.Cos(minY*geometry.RadiansPerUnit), math.Cos((minY+2*half)*geometry.RadiansPerUnit), middle.Cos)
	side := half * geometry.RadiansPerUnit / 2
	return geometry.Metres(side*side*(1+cos*cos)) + placefile.CellMargin
}

// areaShape is the geometry of an item of the tree of areas.
func (c *compiler) areaShape(item uint32) geometry.Geometry {
	return c.store.geometry(c.survey.areas.items.Slice()[item])
}

// surround adds an area that contains all of a cell to its context.
func (c *compiler) surround(context *placefile.Enclosing, item uint32) {
	n := c.survey.areas.items.Slice()[item]
	context.Add(n, &c.store.areas.Slice()[item], float32(c.store.entry(n).extent))
}

// costCell is what a cell costs beside its bytes, with its share of the nodes.
const costCell = 128

// cell encodes a cell.
func (d *divider) cell(covered, decided bool, reach float64, k *known) placefile.Child {
	var c placefile.Cell
	if covered {
		c.Flags |= placefile.CellCovered
	}
	features := slices.Clone(d.numbersOf(k.features))
	if len(features) <= placefile.MaxCellFeatures {
		c.Flags |= placefile.CellFeatures
		if reach < math.MaxFloat32 {
			c.Flags, c.Radius = c.Flags|placefile.CellEnough, reach
		}
	} else {
		features = nil
	}
	var around *placefile.Surroundings
	if decided && max(len(k.open.areas), len(k.cities), len(k.suburbs), len(k.hamlets)) <= placefile.MaxListed {
		c.Flags |= placefile.CellContext
		around = &placefile.Surroundings{Enclosing: k.context, Cities: slices.Clone(d.numbersOf(k.cities)),
			Suburbs: slices.Clone(d.numbersOf(k.suburbs)), Hamlets: slices.Clone(d.numbersOf(k.hamlets)),
			OneCity: k.oneCity, OneSuburb: k.oneSuburb, OneHamlet: k.oneHamlet}
		items := d.survey.areas.items.Slice()
		for _, a := range k.open.areas {
			around.Areas = append(around.Areas, items[a.item])
		}
	}
	before := d.root.Size()
	child := placefile.Child{Kind: placefile.ChildCell, Data: d.root.Cell(&c, features, around)}
	d.finder.steps += int64(costCell + len(child.Data) + d.root.Size() - before)
	return child
}

// numbersOf returns the features of a list in ascending order.
func (d *divider) numbersOf(list []nearby) []uint32 {
	d.numbers = d.numbers[:0]
	for _, c := range list {
		d.numbers = append(d.numbers, c.n)
	}
	slices.Sort(d.numbers)
	return d.numbers
}
