package osm

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Nodes has the positions of all nodes, in mapped files with some twelve bytes a node. It numbers the nodes from 0 on
// in the order of their ids. Reading is safe for concurrent use.
type Nodes struct {
	blocks *scratch.Array[nodeBlock] // those with any node, by id
	at     *scratch.Array[place]

	dir    *scratch.Dir
	last   int64 // id
	sorter *scratch.Sorter[locatedNode]
}

// nodeBlock is the nodes of 64 consecutive ids.
type nodeBlock struct {
	id    int64  // the first of the ids
	first uint64 // the number of the first node
	has   uint64 // a bit for each id that has a node
}

// locatedNode is a node as it was read.
type locatedNode struct {
	id      int64
	at      place
	version int32
}

// place is a position in 1e-7 degrees. Its latitude is doubled, and odd if a consumer noted the node.
type place struct{ lon, lat2 int32 }

func placeOf(lon, lat int32) place { return place{lon, 2 * lat} }
func (p place) coord() Coord       { return Coord{Lon: p.lon, Lat: p.lat2 >> 1} }
func (p place) noted() bool        { return p.lat2&1 != 0 }

// newNodes makes an empty store. Nodes that do not come in the order of their ids, such as those of several files, are
// sorted on disk. Of several with one id it keeps the newest, and of equal versions the most northern, then eastern
// one.
func newNodes(dir *scratch.Dir, sorted bool) *Nodes {
	l := &Nodes{dir: dir, blocks: scratch.NewArray[nodeBlock](dir, "node-ids"),
		at: scratch.NewArray[place](dir, "node-locations")}
	if !sorted {
		l.sort()
	}
	return l
}

func (l *Nodes) sort() {
	const share = 8 // of all memory
	l.sorter = scratch.NewSorter(l.dir, "nodes", l.dir.Memory/share, func(a, b locatedNode) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(b.version, a.version), cmp.Compare(b.at.lat2, a.at.lat2),
			cmp.Compare(b.at.lon, a.at.lon))
	})
}

// add adds nodes.
func (l *Nodes) add(nodes []locatedNode) error {
	for i := range nodes {
		n := &nodes[i]
		if l.sorter == nil && l.Len() > 0 && n.id <= l.last {
			if err := l.unsorted(); err != nil {
				return err
			}
		}
		add := l.append
		if l.sorter != nil {
			add = l.sorter.Add
		}
		if err := add(*n); err != nil {
			return err
		}
	}
	return nil
}

// unsorted begins to sort, and moves the nodes that are there to the sorter.
func (l *Nodes) unsorted() error {
	l.sort()
	for _, b := range l.blocks.Slice() {
		for at := l.at.Slice()[b.first:]; b.has != 0; b.has &= b.has - 1 {
			if err := l.sorter.Add(locatedNode{id: b.id + int64(bits.TrailingZeros64(b.has)), at: at[0]}); err != nil {
				return err
			}
			at = at[1:]
		}
	}
	l.blocks.Truncate(0)
	l.at.Truncate(0)
	return nil
}

// append adds a node with a greater id than all others.
func (l *Nodes) append(n locatedNode) error {
	id := n.id &^ 63
	if i := l.blocks.Len(); i == 0 || l.blocks.Slice()[i-1].id != id {
		if err := l.blocks.Append(nodeBlock{id: id, first: uint64(l.Len())}); err != nil {
			return err
		}
	}
	l.blocks.Slice()[l.blocks.Len()-1].has |= 1 << (n.id - id)
	l.last = n.id
	return l.at.Append(n.at)
}

// finish prepares for lookups.
func (l *Nodes) finish(ctx context.Context) error {
	if l.sorter == nil {
		return nil
	}
	return l.sorter.Each(func(n *locatedNode) error {
		if l.Len() > 0 && n.id == l.last {
			return nil
		}
		return cmp.Or(ctx.Err(), l.append(*n))
	})
}

// found is a cache of blocks to be tried first: the last one, and recent ones by the last bits of their ids. The nodes
// of neighbouring ways often have similar ids.
type found struct {
	last   int
	recent [256]int
}

// find returns the number of a node.
func (l *Nodes) find(id int64, f *found) (number uint64, ok bool) {
	blocks, of := l.blocks.Slice(), id&^63
	if len(blocks) == 0 {
		return 0, false
	}
	recent := &f.recent[of>>6&int64(len(f.recent)-1)]
	if blocks[*recent].id != of {
		*recent = search(blocks, of, f.last)
	}
	f.last = *recent
	b := &blocks[f.last]
	bit := uint64(1) << (id - of)
	return b.first + uint64(bits.OnesCount64(b.has&(bit-1))), b.id == of && b.has&bit != 0
}

// search returns the index of the last block that does not begin after an id, or 0. It is an exponential search from an
// index.
func search(blocks []nodeBlock, id int64, from int) int {
	lo, hi := from, from+1
	for step := 1; lo > 0 && blocks[lo].id > id; step *= 2 {
		lo, hi = max(lo-step, 0), lo
	}
	for step := 1; hi < len(blocks) && blocks[hi].id <= id; step *= 2 {
		lo, hi = hi, min(hi+step, len(blocks))
	}
	for lo+1 < hi {
		if middle := (lo + hi) / 2; blocks[middle].id <= id {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}

// Find returns the number of a node, or false if it is not in the extracts.
func (l *Nodes) Find(id int64) (number uint64, ok bool) { return l.find(id, new(found)) }

// At returns the position of a node.
func (l *Nodes) At(number uint64) Coord { return l.at.Slice()[number].coord() }

// Len returns the number of nodes.
func (l *Nodes) Len() int { return l.at.Len() }

// cover returns the bounds of the nodes, and the tiles with any node.
func (l *Nodes) cover() (orb.Bound, *Tiles) {
	// Computing the tile of a position is slow. So it is done once for each small cell in a single tile. A cache has
	// recent cells by the last bits of their numbers.
	const cellBits, kept = 15, 128
	var cells [kept][kept]struct {
		cell    Coord
		inATile bool
	}
	tileOf := func(c Coord) uint32 { return region.CoverageTile(c.Point()) }
	tiles := new(Tiles)
	low, high := Coord{Lon: math.MaxInt32, Lat: math.MaxInt32}, Coord{Lon: math.MinInt32, Lat: math.MinInt32}
	for _, at := range l.at.Slice() {
		c := at.coord()
		low = Coord{Lon: min(low.Lon, c.Lon), Lat: min(low.Lat, c.Lat)}
		high = Coord{Lon: max(high.Lon, c.Lon), Lat: max(high.Lat, c.Lat)}
		cell := Coord{Lon: c.Lon >> cellBits, Lat: c.Lat >> cellBits}
		last := &cells[cell.Lon&(kept-1)][cell.Lat&(kept-1)]
		if last.cell == cell && last.inATile {
			continue
		}
		tiles.Add(tileOf(c))
		if last.cell != cell {
			corner := Coord{Lon: cell.Lon << cellBits, Lat: cell.Lat << cellBits}
			opposite := Coord{Lon: corner.Lon + 1<<cellBits - 1, Lat: corner.Lat + 1<<cellBits - 1}
			last.cell, last.inATile = cell, tileOf(corner) == tileOf(opposite)
		}
	}
	if l.Len() == 0 {
		return orb.Bound{}, tiles
	}
	return orb.Bound{Min: low.Point(), Max: high.Point()}, tiles
}

func (l *Nodes) free() error { return errors.Join(l.blocks.Free(), l.at.Free()) }
