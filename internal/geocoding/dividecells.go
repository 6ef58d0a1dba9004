package geocoding

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/paulmach/orb"
)

// When a cell is small enough. Fewer features make larger files.
const (
	enoughFeatures = 28
	enoughAreas    = 2
	enoughPlaces   = 4
	placeBits      = 14 // cells no larger than that may have several settlements
)

// known is what is known of a cell before it is looked at: the lists of the larger one.
type known struct {
	features, areas, cities, suburbs, hamlets []uint32

	context                       enclosing
	settled                       bool // the settlements are those that the context allows
	oneCity, oneSuburb, oneHamlet bool // whatever the position in the cell
}

// divider divides one root.
type divider struct {
	b        *builder
	items    []uint32 // features of the tree of areas
	tiles    []uint32
	root     uint32
	nodes    []uint32
	cells    []uint32
	heads    []uint32 // where each cell begins
	contexts []enclosing
	index    map[enclosing]uint32
	queue    []measured
	size     uint32 // of the cell that is looked at
	cost     *extract.Budget
	err      error // of cost
}

// measured is a feature with its distance in metres, or a lower bound of it as a haversine.
type measured struct {
	n        uint32
	distance float64
}

// divide returns the node of a cell, given by its south-west corner and the logarithm of its width.
func (d *divider) divide(x, y uint32, bits int, k known) uint32 {
	size := uint32(1) << bits
	covered := d.covered(x, y, size)
	if covered == coveredNowhere || !d.affords(&k) {
		return 0
	}
	minX, minY := float64(x)-halfTurn, float64(y)-halfTurn/2
	half := float64(size / 2)
	o := newOrigin(orb.Point{(minX + half) / unitsPerDegree, (minY + half) / unitsPerDegree})
	cos := max(math.Cos(minY*radiansPerUnit), math.Cos((minY+2*half)*radiansPerUnit), o.cos)
	side := half * radiansPerUnit / 2
	radius := metres(side*side*(1+cos*cos)) + cellMargin // to the corners

	d.size = size
	var reach float64
	k.features, reach = d.nearest(&o, radius, k.features)
	k.areas = d.surround(&o, minX, minY, float64(size), &k)
	decided := k.context.code() != ([3]byte{}) &&
		!slices.ContainsFunc(k.areas, func(i uint32) bool { return k.context.decides(&d.b.areas[i]) })
	switch {
	case decided:
		d.settle(&o, radius, &k)
	case len(k.areas) == 0: // no polygon tells the country: smaller cells would know no more
		k.cities, k.suburbs, k.hamlets = nil, nil, nil
	}
	places := max(len(k.cities), len(k.suburbs), len(k.hamlets))
	small := len(k.features) <= enoughFeatures && (decided || len(k.areas) == 0) && len(k.areas) <= enoughAreas &&
		(places <= 1 || places <= enoughPlaces && bits <= placeBits)
	if small || bits == leafBits {
		return d.emit(covered == coveredAll, decided, reach, &k)
	}
	children := [4]uint32{}
	for i := range children {
		children[i] = d.divide(x+uint32(i)&1*size/2, y+uint32(i)>>1*size/2, bits-1, k)
	}
	if children == [4]uint32{} {
		return 0
	}
	d.nodes = append(d.nodes, children[:]...)
	return uint32(len(d.nodes)-4) << 1
}

// sortSteps is what it takes to put a feature in its place among those of a cell.
const sortSteps = 32

// affords reports whether what is known of a cell may be looked at.
func (d *divider) affords(k *known) bool {
	steps := sortSteps * int64(len(k.features)+len(k.cities)+len(k.suburbs)+len(k.hamlets))
	for _, i := range k.areas {
		steps += d.b.entries[d.items[i]].geometry.steps()
	}
	if d.err == nil {
		d.err = d.cost.Work(steps)
	}
	return d.err == nil
}

// emit appends a cell.
func (d *divider) emit(covered, decided bool, reach float64, k *known) uint32 {
	flags := uint32(0)
	if covered {
		flags |= cellCovered
	}
	if len(k.features) <= cellFeatureMask {
		flags |= cellFeatures | uint32(len(k.features))
		if reach < math.MaxFloat32 {
			flags |= cellEnough
		}
	} else {
		k.features = nil
	}
	context := uint32(0)
	if decided && len(k.areas) <= cellAreaMask && len(k.cities) <= cellCityMask && len(k.suburbs) <= cellSuburbMask &&
		len(k.hamlets) <= cellHamletMask {
		flags |= cellContext | uint32(len(k.areas))<<cellAreaShift | uint32(len(k.cities))<<cellCityShift |
			uint32(len(k.suburbs))<<cellSuburbShift | uint32(len(k.hamlets))<<cellHamletShift
		if k.oneCity {
			flags |= cellOneCity
		}
		if k.oneSuburb {
			flags |= cellOneSub
		}
		if k.oneHamlet {
			flags |= cellOneHam
		}
		var has bool
		if context, has = d.index[k.context]; !has {
			context = uint32(len(d.contexts))
			d.index[k.context] = context
			d.contexts = append(d.contexts, k.context)
		}
	} else {
		k.areas, k.cities, k.suburbs, k.hamlets = nil, nil, nil, nil
	}
	at := uint32(len(d.cells))
	lists := [...][]uint32{k.features, k.areas, k.cities, k.suburbs, k.hamlets}
	words := cellHead + 4 // with its share of the nodes
	for _, list := range lists {
		words += len(list)
	}
	d.err = cmp.Or(d.err, d.cost.TakeMemory(costWord*int64(words)))
	d.heads = append(d.heads, at)
	d.cells = append(d.cells, flags, context, math.Float32bits(float32(reach)))
	for _, list := range lists {
		d.cells = append(d.cells, list...)
	}
	return at<<1 | nodeIsCell
}

// nearest returns the features that can be among the MaxSize nearest of a position within some metres of the origin, and how
// far the last of the origin's own MaxSize is. By the triangle inequality these are all that are not farther from the
// origin than that and twice the metres. Where there are fewer within reach, they are those within cellReach.
func (d *divider) nearest(o *origin, radius float64, features []uint32) (kept []uint32, reach float64) {
	most := cellReach + radius + cellMargin
	d.bound(o, most, features)
	found := make([]measured, 0, 64)
	var best [MaxSize]measured
	count := 0
	threshold := func() float64 {
		if count < MaxSize {
			return most
		}
		return min(most, best[MaxSize-1].distance+2*radius+cellMargin)
	}
	for _, m := range d.queue {
		limit := haversineWithin(threshold())
		if m.distance > limit {
			break
		}
		h := d.measure(o, m.n, limit)
		if h > limit {
			continue
		}
		distance := metres(h)
		found = append(found, measured{m.n, distance})
		// Houses of one interpolation line are one object.
		ref := d.b.entries[m.n].ref
		i := slices.IndexFunc(best[:count], func(o measured) bool { return d.b.entries[o.n].ref == ref })
		switch {
		case i >= 0 && best[i].distance <= distance:
			continue
		case i >= 0:
		case count < MaxSize:
			i = count
			count++
		case distance < best[MaxSize-1].distance:
			i = MaxSize - 1
		default:
			continue
		}
		best[i] = measured{m.n, distance}
		slices.SortFunc(best[:count], func(a, b measured) int { return cmp.Compare(a.distance, b.distance) })
	}
	last := threshold()
	for _, m := range found {
		if m.distance <= last {
			kept = append(kept, m.n)
		}
	}
	slices.Sort(kept)
	if count < MaxSize || best[MaxSize-1].distance+2*radius+cellMargin > most {
		return kept, math.Inf(1)
	}
	return kept, best[MaxSize-1].distance
}

// bound fills the queue with the features that may be within some metres, nearest first as far as their boxes tell.
func (d *divider) bound(o *origin, within float64, features []uint32) {
	o.within(within)
	limit := haversineWithin(within)
	d.queue = d.queue[:0]
	var boxes [fanout]box
	var bounds [fanout]float64
	for chunk := range slices.Chunk(features, fanout) {
		for i, n := range chunk {
			boxes[i] = d.b.boxes[n]
		}
		o.bounds(&bounds, boxes[:len(chunk)])
		for i, n := range chunk {
			if bounds[i] <= limit {
				d.queue = append(d.queue, measured{n, bounds[i]})
			}
		}
	}
	slices.SortFunc(d.queue, func(a, b measured) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.n, b.n)) })
}

// measure returns the haversine to a feature, as exact as the search does.
func (d *divider) measure(o *origin, n uint32, limit float64) float64 {
	g := &d.b.entries[n].geometry
	if g.contains(o) {
		return 0
	}
	h, _ := g.nearest(o, limit)
	return h
}

// surround adds the areas that contain all of a cell to its context, and returns those that its inside may be on either side of.
func (d *divider) surround(o *origin, minX, minY, size float64, k *known) (open []uint32) {
	for _, i := range k.areas {
		e := &d.b.entries[d.items[i]]
		switch {
		case e.geometry.meets(minX, minY, size):
			open = append(open, i)
		case e.geometry.contains(o):
			k.context.add(d.items[i], &d.b.areas[i], d.b.features[d.items[i]].Name, float32(e.extent))
		}
	}
	return open
}

// settle leaves the settlements that can be the city, the suburb or the hamlet of a position in a cell whose context is
// known.
func (d *divider) settle(o *origin, radius float64, k *known) {
	in := within{settlements: true, state: k.context.Feature[roleState], city: k.context.Feature[roleCity], country: k.context.code()}
	if k.context.Feature[roleCity] != 0 {
		k.cities = nil
	}
	k.cities, k.oneCity = d.settlements(o, radius, maxCityDistance, k.cities, &in, k.settled)
	in.sameCity = true
	k.suburbs, k.oneSuburb = d.settlements(o, radius, maxSuburbDistance, k.suburbs, &in, k.settled)
	k.hamlets, k.oneHamlet = d.settlements(o, radius, maxSuburbDistance, k.hamlets, &in, k.settled)
	k.settled = true
}

// settlements returns those of a list that can be the nearest within reach, and whether there is but one that surely is.
func (d *divider) settlements(o *origin, radius, reach float64, list []uint32, in *within, settled bool) (kept []uint32, one bool) {
	if len(list) == 0 {
		return nil, false
	}
	most := reach + radius + cellMargin
	d.bound(o, most, list)
	nearest := math.Inf(1)
	var found []measured
	for _, m := range d.queue {
		limit := haversineWithin(min(most, nearest+2*radius+cellMargin))
		if m.distance > limit {
			break
		}
		if !settled && !in.allows(&d.b.places[d.b.features[m.n].Place-1]) {
			continue
		}
		if h := d.measure(o, m.n, limit); h <= limit {
			found = append(found, measured{m.n, metres(h)})
			nearest = min(nearest, metres(h))
		}
	}
	for _, m := range found {
		if m.distance <= min(most, nearest+2*radius+cellMargin) && !d.dominated(o, radius, m, found) {
			kept = append(kept, m.n)
		}
	}
	return kept, len(kept) == 1 && nearest+radius+cellMargin <= reach
}

// dominated tells whether a settlement that is a point is farther than another one from all of a cell. Positions as far from one
// point as from another lie on a great circle, which over a small cell is a straight line but for centimetres: so what is
// nearer at all four corners is nearer everywhere between them.
func (d *divider) dominated(o *origin, radius float64, m measured, others []measured) bool {
	const smallCell, margin = 2000, 1 // metres
	if radius > smallCell || o.cos < polarCosine || d.b.entries[m.n].geometry.shape != shapePoint {
		return false
	}
	for _, other := range others {
		if other.distance < m.distance && d.b.entries[other.n].geometry.shape == shapePoint &&
			d.nearerAtCorners(o, other.n, m.n, margin) {
			return true
		}
	}
	return false
}

func (d *divider) nearerAtCorners(o *origin, a, b uint32, margin float64) bool {
	for _, corner := range d.corners(o) {
		at := newOrigin(corner)
		if metres(d.measure(&at, a, 1))+margin > metres(d.measure(&at, b, 1)) {
			return false
		}
	}
	return true
}

// corners are those of the cell whose middle the origin is.
func (d *divider) corners(o *origin) [4]orb.Point {
	half := float64(d.size / 2)
	var corners [4]orb.Point
	for i := range corners {
		x, y := o.x-half+float64(i&1)*2*half, o.y-half+float64(i>>1)*2*half
		corners[i] = orb.Point{x / unitsPerDegree, y / unitsPerDegree}
	}
	return corners
}
