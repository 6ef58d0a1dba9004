package geocoding

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// When a cell is small enough. Fewer features make larger files.
const (
	enoughFeatures = 28
	enoughAreas    = 2
	enoughPlaces   = 4
	placeBits      = 14 // cells no larger than that may have several settlements
)

// addCells fills the cells. What can matter in a cell can matter in the one that it is a part of, so each only looks at what the
// larger one has found.
func (b *builder) addCells(trees *fixedLists, tiles []uint32) {
	roots := map[uint32]*rootLists{}
	for _, tile := range tiles {
		tileRoots(tile, func(key uint32) { roots[key] = new(rootLists) })
	}
	b.gather(roots, trees)
	keys := make([]uint32, 0, len(roots))
	for key := range roots {
		keys = append(keys, key)
	}
	slices.Sort(keys)

	built := make([]*divider, len(keys))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(keys); i = int(next.Add(1)) - 1 {
				d := &divider{b: b, items: trees.areas, tiles: tiles, index: map[enclosing]uint32{}}
				d.root = d.divide(keys[i]&0xffff<<rootBits, keys[i]>>16<<rootBits, rootBits, roots[keys[i]].known())
				built[i] = d
			}
		})
	}
	wg.Wait()
	b.nodes = make([]uint32, 4) // so that no node has its children at 0
	contexts := map[enclosing]uint32{}
	for i, d := range built {
		if d.root != 0 {
			b.roots = append(b.roots, root{keys[i], b.join(d, contexts)})
		}
	}
}

// rootLists is what may matter in a root.
type rootLists struct{ features, areas, cities, suburbs []uint32 }

func (r *rootLists) known() known {
	return known{features: r.features, areas: r.areas, cities: r.cities, suburbs: r.suburbs}
}

// tileRoots calls a function with the key of each root that touches a coverage tile.
func tileRoots(tile uint32, yield func(uint32)) {
	west, south, east, north := tileBox(tile)
	for row := south >> rootBits; row <= north>>rootBits; row++ {
		for column := west >> rootBits; column <= east>>rootBits; column++ {
			yield(row<<16 | column)
		}
	}
}

// tileBox is at least the box of a coverage tile, counted from the south pole and the antimeridian.
func tileBox(tile uint32) (west, south, east, north uint32) {
	x, y := tile>>region.CoverageZoom, tile&(1<<region.CoverageZoom-1)
	bound := maptile.New(x, y, region.CoverageZoom).Bound()
	if y == 0 {
		bound.Max[1] = 90
	}
	if y == 1<<region.CoverageZoom-1 {
		bound.Min[1] = -90
	}
	from := func(degrees, half float64) uint32 {
		return uint32(min(max(math.Floor((degrees+half)*unitsPerDegree)-1, 0), 2*half*unitsPerDegree))
	}
	return from(bound.Min[0], 180), from(bound.Min[1], 90), from(bound.Max[0], 180) + 2, from(bound.Max[1], 90) + 2
}

// gather finds for each root what may matter in it. Where the antimeridian or a pole is near, cells would have to look across
// them: those roots stay without.
func (b *builder) gather(roots map[uint32]*rootLists, trees *fixedLists) {
	for key := range roots {
		column, row := key&0xffff, key>>16
		if column < 4 || column+5 > fullTurn>>rootBits || row < 50 || row+50 > halfTurn>>rootBits {
			delete(roots, key)
		}
	}
	spread := func(list []uint32, metres float64, add func(*rootLists, uint32)) {
		for _, n := range list {
			box := b.boxes[n]
			north := (metres + 1) / (earthRadius * radiansPerUnit) * 1.001
			farthest := max(math.Abs(float64(box.MinY)), math.Abs(float64(box.MaxY))) + north
			east := north / max(math.Cos(farthest*radiansPerUnit), 0.01) * 1.01
			limit := func(v, most float64) uint32 { return uint32(min(max(v, 0), most)) >> rootBits }
			west, last := limit(float64(box.MinX)+halfTurn-east, fullTurn), limit(float64(box.MaxX)+halfTurn+east, fullTurn)
			south, top := limit(float64(box.MinY)+halfTurn/2-north, halfTurn), limit(float64(box.MaxY)+halfTurn/2+north, halfTurn)
			if int(last-west+1)*int(top-south+1) > len(roots) {
				for key, r := range roots {
					if column, row := key&0xffff, key>>16; column >= west && column <= last && row >= south && row <= top {
						add(r, n)
					}
				}
				continue
			}
			for row := south; row <= top; row++ {
				for column := west; column <= last; column++ {
					if r := roots[row<<16|column]; r != nil {
						add(r, n)
					}
				}
			}
		}
	}
	spread(trees.general, cellReach, func(r *rootLists, n uint32) { r.features = append(r.features, n) })
	spread(trees.cities, maxCityDistance, func(r *rootLists, n uint32) { r.cities = append(r.cities, n) })
	spread(trees.suburbs, maxSuburbDistance, func(r *rootLists, n uint32) { r.suburbs = append(r.suburbs, n) })
	item := uint32(0)
	for i, n := range trees.areas {
		item = uint32(i)
		spread([]uint32{n}, 0, func(r *rootLists, _ uint32) { r.areas = append(r.areas, item) })
	}
}

// known is what is known of a cell before it is looked at: the lists of the larger one.
type known struct {
	features, areas, cities, suburbs []uint32
	context                          enclosing
	settled                          bool // the settlements are those that the context allows
	oneCity, oneSuburb               bool // whatever the position in the cell
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
	if covered == coveredNowhere {
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
		k.cities, k.suburbs = nil, nil
	}
	places := max(len(k.cities), len(k.suburbs))
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
	if decided && len(k.areas) <= cellAreaMask && len(k.cities) <= cellCityMask && len(k.suburbs) <= cellSuburbMask {
		flags |= cellContext | uint32(len(k.areas))<<cellAreaShift | uint32(len(k.cities))<<cellCityShift |
			uint32(len(k.suburbs))<<cellSuburbShift
		if k.oneCity {
			flags |= cellOneCity
		}
		if k.oneSuburb {
			flags |= cellOneSub
		}
		var has bool
		if context, has = d.index[k.context]; !has {
			context = uint32(len(d.contexts))
			d.index[k.context] = context
			d.contexts = append(d.contexts, k.context)
		}
	} else {
		k.areas, k.cities, k.suburbs = nil, nil, nil
	}
	at := uint32(len(d.cells))
	d.heads = append(d.heads, at)
	d.cells = append(d.cells, flags, context, math.Float32bits(float32(reach)))
	d.cells = append(append(append(append(d.cells, k.features...), k.areas...), k.cities...), k.suburbs...)
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

// settle leaves the settlements that can be the city or the suburb of a position in a cell whose context is known.
func (d *divider) settle(o *origin, radius float64, k *known) {
	in := within{settlements: true, state: k.context.Feature[roleState], city: k.context.Feature[roleCity], country: k.context.code()}
	if k.context.Feature[roleCity] != 0 {
		k.cities = nil
	}
	k.cities, k.oneCity = d.settlements(o, radius, maxCityDistance, k.cities, &in, k.settled)
	in.sameCity = true
	k.suburbs, k.oneSuburb = d.settlements(o, radius, maxSuburbDistance, k.suburbs, &in, k.settled)
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

// join appends the cells of a root to those before, and returns its node.
func (b *builder) join(d *divider, contexts map[enclosing]uint32) uint32 {
	firstNode, firstCell := uint32(len(b.nodes)), uint32(len(b.cells))
	move := func(v uint32) uint32 {
		switch {
		case v == 0:
			return 0
		case v&nodeIsCell != 0:
			return v + firstCell<<1
		}
		return v + firstNode<<1
	}
	for _, v := range d.nodes {
		b.nodes = append(b.nodes, move(v))
	}
	for _, at := range d.heads {
		if d.cells[at]&cellContext == 0 {
			continue
		}
		e := d.contexts[d.cells[at+1]]
		n, has := contexts[e]
		if !has {
			n = uint32(len(b.contexts))
			contexts[e] = n
			b.contexts = append(b.contexts, e)
		}
		d.cells[at+1] = n
	}
	b.cells = append(b.cells, d.cells...)
	return move(d.root)
}

// How much of a cell the region covers.
const (
	coveredNowhere = iota
	coveredPartly
	coveredAll
)

func (d *divider) covered(x, y, size uint32) int {
	from := region.CoverageTile(cellCorner(x, y+size)) // tiles count from the north
	to := region.CoverageTile(cellCorner(x+size, y))
	const mask = 1<<region.CoverageZoom - 1
	some, all := false, true
	for column := from >> region.CoverageZoom; column <= to>>region.CoverageZoom; column++ {
		for row := from & mask; row <= to&mask; row++ {
			_, has := slices.BinarySearch(d.tiles, column<<region.CoverageZoom|row)
			some, all = some || has, all && has
		}
	}
	switch {
	case all:
		return coveredAll
	case some:
		return coveredPartly
	}
	return coveredNowhere
}

func cellCorner(x, y uint32) orb.Point {
	return orb.Point{(float64(x) - halfTurn) / unitsPerDegree, (float64(y) - halfTurn/2) / unitsPerDegree}
}
