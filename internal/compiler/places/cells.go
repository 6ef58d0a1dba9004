package places

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/sections"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// cellLists are the entries that cells are divided by.
type cellLists struct {
	general                  *boxIndex
	cities, suburbs, hamlets *entryIndex
}

// lists finds the entries that cells are divided by.
func (c *compiler) cellLists() (*cellLists, error) {
	l := &cellLists{newBoxIndex(c.dir, "general"), newEntryIndex(c.dir, "cities"), newEntryIndex(c.dir, "suburbs"),
		newEntryIndex(c.dir, "hamlets")}
	entries, bounds := c.store.entries.Slice(), c.store.bounds.Slice()
	for n := range entries {
		if entries[n].group == groupSpecial {
			break
		}
		if err := l.general.add(bounds[n]); err != nil {
			return l, err
		}
	}
	for _, n := range c.store.settlements.Slice() {
		for _, list := range [...]struct {
			kind  placeKind
			index *entryIndex
		}{{placeCity, l.cities}, {placeSuburb, l.suburbs}, {placeHamlet, l.hamlets}} {
			if entries[n].place&list.kind != 0 {
				if err := list.index.add(n, bounds[n]); err != nil {
					return l, err
				}
			}
		}
	}
	return l, cmp.Or(l.general.seal(), l.cities.seal(), l.suburbs.seal(), l.hamlets.seal())
}

func (l *cellLists) free() error {
	return cmp.Or(l.general.free(), l.cities.free(), l.suburbs.free(), l.hamlets.free())
}

// rootJob is a root on its way through the dividers.
type rootJob struct {
	square  square
	key     uint32
	open    openSet
	context placefile.Enclosing
	done    chan *division
}

// divideAll divides the Earth into cells, and writes them in the order of the roots' keys. What can matter in a cell
// can matter in the one that it is a part of, so each only looks at what the larger one has found. Where all that
// costs more than a map of this size can need, the roots that are left have no cells: the trees know all that they do.
func (c *compiler) divideAll() error {
	covered := newCoverage(c.data.Tiles.Sorted())
	lists, err := c.cellLists()
	if err != nil {
		return err
	}
	roots, count := covered.roots()
	c.data.Progress.Start("cells", int64(count))
	left := c.data.Cost.Share(1)
	var steps atomic.Int64 // that may still be taken
	steps.Store(left)
	stop := make(chan struct{})
	jobs := make(chan *rootJob)
	workers := runtime.GOMAXPROCS(0)
	order := make(chan *rootJob, 4*workers)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(order)
		defer close(jobs)
		t := &rootTree{compiler: c, roots: roots, yield: func(j *rootJob) bool {
			for _, to := range [...]chan *rootJob{order, jobs} {
				select {
				case to <- j:
				case <-stop:
					return false
				}
			}
			return true
		}}
		t.begin()
	})
	for range workers {
		wg.Go(func() {
			d := &divider{compiler: c, covered: covered, finder: finder{store: c.store}}
			for j := range jobs {
				j.done <- d.divideRoot(j, lists, steps.Load())
			}
		})
	}
	var failed error
	for j := range order {
		out := <-j.done
		if left -= out.steps; left < 0 || failed != nil {
			break
		}
		steps.Store(left)
		c.data.Progress.Add(1)
		if out.node.Kind != placefile.ChildNone {
			failed = c.out.Root(out.root, out.node.Kind, out.node.Data)
		}
	}
	close(stop)
	wg.Wait()
	c.data.Progress.Finish()
	return cmp.Or(failed, lists.free())
}

// rootTree goes from the whole Earth down to the roots that touch what is covered.
type rootTree struct {
	*compiler
	roots []uint64 // the set of their keys
	sets  [33]openSet
	yield func(*rootJob) bool
}

// begin takes on all areas.
func (t *rootTree) begin() {
	all := &openSet{anchor: nowhere}
	for i, n := range t.survey.areas.items.Slice() {
		g := t.store.geometry(n)
		all.whole(uint32(i), &g)
	}
	t.descend(square{bits: 32}, 0, all, placefile.Enclosing{})
}

// descend looks at a square whose first root has a key; false if no more are wanted.
func (t *rootTree) descend(sq square, key uint32, larger *openSet, context placefile.Enclosing) bool {
	levels := sq.bits - placefile.RootBits
	if !t.any(key, levels) {
		return true
	}
	set := &t.sets[sq.bits]
	if levels == 0 {
		// A root narrows its own set, from that of the square of four.
		return t.yield(&rootJob{square: sq, key: key, open: larger.clone(), context: context, done: make(chan *division, 1)})
	}
	set.narrow(larger, &sq, t.areaShape, func(item uint32) { t.surround(&context, item) })
	for i := range 4 {
		if !t.descend(sq.child(i), key|uint32(i)<<(2*(levels-1)), set, context) {
			return false
		}
	}
	return true
}

func (s *openSet) clone() openSet {
	return openSet{anchor: s.anchor, areas: slices.Clone(s.areas), parts: slices.Clone(s.parts)}
}

// any tells whether there is a root in a square of some levels.
func (t *rootTree) any(key uint32, levels int) bool {
	if levels < 3 {
		return t.roots[key/64]>>(key%64)&(1<<(1<<(2*levels))-1) != 0
	}
	words := t.roots[key/64 : key/64+1<<(2*levels-6)]
	return slices.ContainsFunc(words, func(w uint64) bool { return w != 0 })
}

// divideRoot divides a root, in at most some steps.
func (d *divider) divideRoot(j *rootJob, lists *cellLists, limit int64) *division {
	d.finder.steps, d.limit = 0, limit
	top := &d.lists[placefile.RootBits+1]
	top.features = d.around(top.features[:0], j, lists.general, nil, placefile.CellDistance)
	top.cities = d.around(top.cities[:0], j, lists.cities.boxIndex, lists.cities.items.Slice(), placefile.MaxCityDistance)
	top.suburbs = d.around(top.suburbs[:0], j, lists.suburbs.boxIndex, lists.suburbs.items.Slice(),
		placefile.MaxSuburbDistance)
	top.hamlets = d.around(top.hamlets[:0], j, lists.hamlets.boxIndex, lists.hamlets.items.Slice(),
		placefile.MaxSuburbDistance)
	d.middles[placefile.RootBits+1] = geometry.NewOrigin(j.square.middle())
	base := uint32(0)
	if len(top.features) > 0 {
		base = top.features[0].n // they are in order
	}
	d.root = sections.NewRoot(j.key, base)
	node := d.divide(j.square, known{features: top.features, cities: top.cities, suburbs: top.suburbs,
		hamlets: top.hamlets, open: &j.open, context: j.context})
	return &division{d.root, node, d.finder.steps}
}

// around returns the entries that may be within some metres of a position in a root.
func (d *divider) around(list []nearby, j *rootJob, index *boxIndex, items []uint32, metres float64) []nearby {
	size := int64(1) << placefile.RootBits
	root := boxtree.Box{MinX: int32(j.square.minX()), MinY: int32(j.square.minY()), MaxX: int32(j.square.minX() + size),
		MaxY: int32(j.square.minY() + size)}
	wide := surely(root, metres+cellWidth)
	bounds := d.store.bounds.Slice()
	d.finder.steps += index.each(&wide, func(from, to int) {
		for i := from; i < to; i++ {
			n := uint32(i)
			if items != nil {
				n = items[i]
			}
			if b := &bounds[n]; b.Overlaps(&wide) && reaches(b, &j.square, metres) {
				list = append(list, nearby{n, 0, math.Inf(1)})
			}
		}
	})
	d.finder.steps += int64(len(list))
	return list
}

// cellWidth is more than that of a root, in metres.
const cellWidth = 12_000

// reaches tells whether a box with some metres around it comes into a root.
func reaches(b *boxtree.Box, root *square, metres float64) bool {
	wide := surely(*b, metres)
	row := func(y int32) int64 { return (int64(y) + geometry.HalfTurn/2) >> placefile.RootBits }
	column := func(x int32) int64 { return (int64(x) + geometry.HalfTurn) >> placefile.RootBits }
	x, y := int64(root.x>>placefile.RootBits), int64(root.y>>placefile.RootBits)
	return column(wide.MinX) <= x && x <= column(wide.MaxX) && row(wide.MinY) <= y && y <= row(wide.MaxY)
}
