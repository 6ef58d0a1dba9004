package extract

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// locations are the positions of all nodes, by id: some twelve bytes a node, in mapped files. Nodes are added in any
// order; from finish on they have numbers, which rise with their ids, and any number of goroutines may ask.
type locations struct {
	// ids has of each node's id what it is beyond the beginning of its run.
	ids  *scratch.Array[uint32]
	at   *scratch.Array[packedPlace]
	runs *scratch.Array[nodeRun]
	// top[i] is the number of runs that begin before runs[0].id + i<<shift: few runs are left to search then.
	top   *scratch.Array[uint64]
	shift uint

	dir    *scratch.Dir
	last   int64 // id
	sorter *scratch.Sorter[locatedNode]
}

// nodeRun is some nodes whose ids are near each other.
type nodeRun struct {
	id    int64  // of the first
	first uint64 // its number
}

// runNodes is how many nodes a run has at most: so many ids lie in four lines of cache.
const runNodes = 64

// locatedNode is a node as it was read.
type locatedNode struct {
	id      int64
	at      packedPlace
	version int32
}

// packedPlace is a position in 1e-7 degrees, and whether the node is special: an entrance or a barrier.
type packedPlace uint64

const specialNode packedPlace = 1 << 32

func pack(lat, lon int32) packedPlace {
	return packedPlace(int64(lat)+maxLat7)<<33 | packedPlace(uint32(int64(lon)+maxLon7))
}

func (p packedPlace) unpack() (lat, lon int32) {
	return int32(int64(p>>33) - maxLat7), int32(int64(uint32(p)) - maxLon7)
}

func (p packedPlace) point() orb.Point {
	return toPoint(p.unpack())
}

// newLocations makes an empty store. Nodes that do not come in the order of their ids, as those of several files, are
// sorted on disk. Of several with one id the newest stays, and of these the one with the greatest position.
func newLocations(dir *scratch.Dir, sorted bool) *locations {
	l := &locations{dir: dir, ids: scratch.NewArray[uint32](dir, "node-ids"),
		at:   scratch.NewArray[packedPlace](dir, "node-locations"),
		runs: scratch.NewArray[nodeRun](dir, "node-runs"), top: scratch.NewArray[uint64](dir, "node-index")}
	if !sorted {
		l.sort()
	}
	return l
}

func (l *locations) sort() {
	const share = 8 // of all memory
	l.sorter = scratch.NewSorter(l.dir, "nodes", l.dir.Memory/share, func(a, b locatedNode) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(b.version, a.version), cmp.Compare(b.at, a.at))
	})
}

// add adds nodes.
func (l *locations) add(nodes []locatedNode) error {
	if l.sorter == nil && !l.follow(nodes) {
		if err := l.unsorted(); err != nil {
			return err
		}
	}
	if l.sorter == nil {
		return l.append(nodes)
	}
	for i := range nodes {
		if err := l.sorter.Add(nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// follow says whether nodes come in the order of their ids after those that are there.
func (l *locations) follow(nodes []locatedNode) bool {
	last, any := l.last, l.ids.Len() > 0
	for i := range nodes {
		if any && nodes[i].id <= last {
			return false
		}
		last, any = nodes[i].id, true
	}
	return true
}

// unsorted begins to sort, with what is there already.
func (l *locations) unsorted() error {
	l.sort()
	for i := range uint64(l.ids.Len()) {
		if err := l.sorter.Add(locatedNode{id: l.id(i), at: l.at.Slice()[i]}); err != nil {
			return err
		}
	}
	l.ids.Truncate(0)
	l.at.Truncate(0)
	l.runs.Truncate(0)
	return nil
}

// append adds nodes that follow those that are there.
func (l *locations) append(nodes []locatedNode) error {
	first := uint64(l.ids.Len())
	ids, err := l.ids.Extend(len(nodes))
	if err != nil {
		return err
	}
	at, err := l.at.Extend(len(nodes))
	if err != nil {
		return err
	}
	var run nodeRun
	if n := l.runs.Len(); n > 0 {
		run = l.runs.Slice()[n-1]
	}
	for i := range nodes {
		number := first + uint64(i)
		beyond := uint64(nodes[i].id) - uint64(run.id)
		if number == 0 || number-run.first == runNodes || beyond > math.MaxUint32 {
			run, beyond = nodeRun{nodes[i].id, number}, 0
			if err := l.runs.Append(run); err != nil {
				return err
			}
		}
		ids[i], at[i] = uint32(beyond), nodes[i].at
		l.last = nodes[i].id
	}
	return nil
}

// finish prepares for looking up.
func (l *locations) finish(ctx context.Context) error {
	if l.sorter != nil {
		if err := l.merge(ctx); err != nil {
			return err
		}
	}
	if err := trimAll(l.ids, l.at, l.runs); err != nil {
		return err
	}
	runs := l.runs.Slice()
	if len(runs) == 0 {
		return nil
	}
	span := uint64(runs[len(runs)-1].id) - uint64(runs[0].id)
	for span>>l.shift > uint64(len(runs)) {
		l.shift++
	}
	top, err := l.top.Extend(int(span>>l.shift) + 2)
	if err != nil {
		return err
	}
	b := uint64(0)
	for i := range runs {
		for ; b <= (uint64(runs[i].id)-uint64(runs[0].id))>>l.shift; b++ {
			top[b] = uint64(i)
		}
	}
	for ; b < uint64(len(top)); b++ {
		top[b] = uint64(len(runs))
	}
	return nil
}

// merge takes the nodes out of the sorter.
func (l *locations) merge(ctx context.Context) error {
	part := make([]locatedNode, 0, 4096)
	last, any := int64(0), false
	err := l.sorter.Each(func(n *locatedNode) error {
		if any && n.id == last {
			return nil
		}
		last, any = n.id, true
		if part = append(part, *n); len(part) < cap(part) {
			return nil
		}
		err := cmp.Or(ctx.Err(), l.append(part))
		part = part[:0]
		return err
	})
	if err != nil {
		return err
	}
	l.sorter = nil
	return l.append(part)
}

// find returns the number of a node. It looks first at the one behind another number, since the nodes of a way are
// often made one after the other; any number may be given.
func (l *locations) find(id int64, before uint64) (number uint64, ok bool) {
	ids, runs := l.ids.Slice(), l.runs.Slice()
	if len(runs) == 0 || id < runs[0].id {
		return 0, false
	}
	b := (uint64(id) - uint64(runs[0].id)) >> l.shift
	top := l.top.Slice()
	if b >= uint64(len(top)-1) {
		b = uint64(len(top) - 2) // it may be in the last run
	}
	// The last run that begins at or before the id is the one before this part, or in it.
	lo, hi := top[b], top[b+1]
	for lo < hi {
		if middle := (lo + hi) / 2; runs[middle].id <= id {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	at := lo
	if at == 0 {
		return 0, false
	}
	run := runs[at-1]
	end := uint64(len(ids))
	if at < uint64(len(runs)) {
		end = runs[at].first
	}
	beyond := uint64(id) - uint64(run.id)
	if beyond > math.MaxUint32 {
		return 0, false
	}
	if next := before + 1; next >= run.first && next < end && ids[next] == uint32(beyond) {
		return next, true
	}
	k, ok := slices.BinarySearch(ids[run.first:end], uint32(beyond))
	return run.first + uint64(k), ok
}

// place returns where a node is.
func (l *locations) place(number uint64) packedPlace { return l.at.Slice()[number] }

// point returns where a node is, in degrees.
func (l *locations) point(number uint64) orb.Point { return l.place(number).point() }

// id returns the id of a node.
func (l *locations) id(number uint64) int64 {
	runs := l.runs.Slice()
	i, ok := slices.BinarySearchFunc(runs, number, func(r nodeRun, n uint64) int { return cmp.Compare(r.first, n) })
	if !ok {
		i--
	}
	return runs[i].id + int64(l.ids.Slice()[number])
}

// len is how many nodes there are.
func (l *locations) len() int { return l.ids.Len() }

// Free removes the files.
func (l *locations) Free() error {
	return freeAll(l.ids, l.at, l.runs, l.top)
}

// trimAll gives back what files have set aside.
func trimAll(files ...interface{ Trim() error }) error {
	for _, f := range files {
		if err := f.Trim(); err != nil {
			return err
		}
	}
	return nil
}

// freeAll removes files.
func freeAll(files ...interface{ Free() error }) error {
	for _, f := range files {
		if err := f.Free(); err != nil {
			return err
		}
	}
	return nil
}

const (
	maxLat7 = 90_0000000
	maxLon7 = 180_0000000
)

func toPoint(lat, lon int32) orb.Point { return orb.Point{float64(lon) / 1e7, float64(lat) / 1e7} }

// toFixed converts degrees to 1e-7 degrees; false if they are no position on earth.
func toFixed(lat, lon float64) (lat7, lon7 int32, ok bool) {
	if !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180) {
		return 0, 0, false
	}
	return int32(math.Round(lat * 1e7)), int32(math.Round(lon * 1e7)), true
}
