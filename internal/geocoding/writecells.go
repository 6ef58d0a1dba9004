package geocoding

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// addCells fills the cells. What can matter in a cell can matter in the one that it is a part of, so each only looks at what the
// larger one has found. Where that costs more than a map of this size can need, there are none: the trees know all
// that they do.
func (b *builder) addCells(trees *fixedLists, tiles []uint32) {
	cost := b.cost.Again()
	roots := map[uint32]*rootLists{}
	for _, tile := range tiles {
		tileRoots(tile, func(key uint32) { roots[key] = new(rootLists) })
	}
	if cost.TakeMemory(costRoot*int64(len(roots))) != nil || b.gather(roots, trees, cost) != nil {
		return
	}
	keys := make([]uint32, 0, len(roots))
	for key := range roots {
		keys = append(keys, key)
	}
	slices.Sort(keys)

	built := make([]*divider, len(keys))
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(keys) && !failed.Load(); i = int(next.Add(1)) - 1 {
				d := &divider{b: b, items: trees.areas, tiles: tiles, index: map[enclosing]uint32{}, cost: cost}
				d.root = d.divide(keys[i]&0xffff<<rootBits, keys[i]>>16<<rootBits, rootBits, roots[keys[i]].known())
				built[i] = d
				if d.err != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() {
		return
	}
	b.nodes = make([]uint32, 4) // so that no node has its children at 0
	contexts := map[enclosing]uint32{}
	for i, d := range built {
		if d.root != 0 {
			b.roots = append(b.roots, root{keys[i], b.join(d, contexts)})
		}
	}
}

// What cells cost while they are made, in bytes.
const (
	costRoot = 1024
	costWord = 8 // a number of a list, or of a cell
)

// rootLists is what may matter in a root.
type rootLists struct{ features, areas, cities, suburbs, hamlets []uint32 }

func (r *rootLists) known() known {
	return known{features: r.features, areas: r.areas, cities: r.cities, suburbs: r.suburbs, hamlets: r.hamlets}
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
func (b *builder) gather(roots map[uint32]*rootLists, trees *fixedLists, cost *extract.Budget) error {
	for key := range roots {
		column, row := key&0xffff, key>>16
		if column < 4 || column+5 > fullTurn>>rootBits || row < 50 || row+50 > halfTurn>>rootBits {
			delete(roots, key)
		}
	}
	spread := func(list []uint32, metres float64, add func(*rootLists, uint32)) error {
		for _, n := range list {
			box := b.boxes[n]
			north := (metres + 1) / (earthRadius * radiansPerUnit) * 1.001
			farthest := max(math.Abs(float64(box.MinY)), math.Abs(float64(box.MaxY))) + north
			east := north / max(math.Cos(farthest*radiansPerUnit), 0.01) * 1.01
			limit := func(v, most float64) uint32 { return uint32(min(max(v, 0), most)) >> rootBits }
			west, last := limit(float64(box.MinX)+halfTurn-east, fullTurn), limit(float64(box.MaxX)+halfTurn+east, fullTurn)
			south, top := limit(float64(box.MinY)+halfTurn/2-north, halfTurn), limit(float64(box.MaxY)+halfTurn/2+north, halfTurn)
			reached := min(int(last-west+1)*int(top-south+1), len(roots))
			if err := cost.TakeMemory(costWord * int64(reached)); err != nil {
				return err
			}
			if reached == len(roots) {
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
		return nil
	}
	item := uint32(0)
	for i, n := range trees.areas {
		item = uint32(i)
		if err := spread([]uint32{n}, 0, func(r *rootLists, _ uint32) { r.areas = append(r.areas, item) }); err != nil {
			return err
		}
	}
	return cmp.Or(
		spread(trees.general, cellReach, func(r *rootLists, n uint32) { r.features = append(r.features, n) }),
		spread(trees.cities, maxCityDistance, func(r *rootLists, n uint32) { r.cities = append(r.cities, n) }),
		spread(trees.suburbs, maxSuburbDistance, func(r *rootLists, n uint32) { r.suburbs = append(r.suburbs, n) }),
		spread(trees.hamlets, maxSuburbDistance, func(r *rootLists, n uint32) { r.hamlets = append(r.hamlets, n) }),
	)
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
