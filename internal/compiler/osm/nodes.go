package osm

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// Nodes are the positions of all nodes: some twelve bytes a node, in mapped files. Nodes have numbers from 0 on, which
// rise with their ids. Any number of goroutines may ask.
type Nodes struct {
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

// packedPlace is a position in 1e-7 degrees, and whether a consumer noted the node.
type packedPlace uint64

const notedNode packedPlace = 1 << 32

func pack(lat, lon int32) packedPlace {
	return packedPlace(int64(lat)+maxLat7)<<33 | packedPlace(uint32(int64(lon)+maxLon7))
}

func (p packedPlace) unpack() (lat, lon int32) {
	return int32(int64(p>>33) - maxLat7), int32(int64(uint32(p)) - maxLon7)
}

func (p packedPlace) coord() Coord {
	lat, lon := p.unpack()
	return Coord{Lon: lon, Lat: lat}
}

// newNodes makes an empty store. Nodes that do not come in the order of their ids, as those of several files, are
// sorted on disk. Of several with one id the newest stays, and of these the one with the greatest position.
func newNodes(dir *scratch.Dir, sorted bool) *Nodes {
	l := &Nodes{dir: dir, ids: scratch.NewArray[uint32](dir, "node-ids"),
		at:   scratch.NewArray[packedPlace](dir, "node-locations"),
		runs: scratch.NewArray[nodeRun](dir, "node-runs"), top: scratch.NewArray[uint64](dir, "node-index")}
	if !sorted {
		l.sort()
	}
	return l
}

func (l *Nodes) sort() {
	const share = 8 // of all memory
	l.sorter = scratch.NewSorter(l.dir, "nodes", l.dir.Memory/share, func(a, b locatedNode) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(b.version, a.version), cmp.Compare(b.at, a.at))
	})
}

// add adds nodes.
func (l *Nodes) add(nodes []locatedNode) error {
	if len(nodes) == 0 {
		return nil // as while ways are read, when others look nodes up
	}
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
func (l *Nodes) follow(nodes []locatedNode) bool {
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
func (l *Nodes) unsorted() error {
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
func (l *Nodes) append(nodes []locatedNode) error {
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
func (l *Nodes) finish(ctx context.Context) error {
	if l.sorter != nil {
		if err := l.merge(ctx); err != nil {
			return err
		}
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
func (l *Nodes) merge(ctx context.Context) error {
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
func (l *Nodes) find(id int64, before uint64) (number uint64, ok bool) {
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

// Find returns the number of a node; false if the extracts lack it.
func (l *Nodes) Find(id int64) (number uint64, ok bool) { return l.find(id, 0) }

// At returns the position of a node.
func (l *Nodes) At(number uint64) Coord { return l.at.Slice()[number].coord() }

func (l *Nodes) noted(number uint64) bool { return l.at.Slice()[number]&notedNode != 0 }

// id returns the id of a node.
func (l *Nodes) id(number uint64) int64 {
	runs := l.runs.Slice()
	i, ok := slices.BinarySearchFunc(runs, number, func(r nodeRun, n uint64) int { return cmp.Compare(r.first, n) })
	if !ok {
		i--
	}
	return runs[i].id + int64(l.ids.Slice()[number])
}

// Len is how many nodes there are.
func (l *Nodes) Len() int { return l.ids.Len() }

func (l *Nodes) free() error {
	return errors.Join(l.ids.Free(), l.at.Free(), l.runs.Free(), l.top.Free())
}

const (
	maxLat7 = 90_0000000
	maxLon7 = 180_0000000
)

func toPoint(lat, lon int32) orb.Point { return orb.Point{float64(lon) / 1e7, float64(lat) / 1e7} }
