package roads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// ranks number the nodes of a set from 0 on, in their order.
type ranks struct {
	words  *scratch.Array[uint64] // a bit for each node
	before *scratch.Array[uint32] // how many nodes of the set come before each word
}

func newRanks(dir *scratch.Dir) *ranks {
	return &ranks{scratch.NewArray[uint64](dir, "road-nodes-set"), scratch.NewArray[uint32](dir, "road-nodes-ranks")}
}

// init prepares for so many nodes.
func (r *ranks) init(nodes int) error {
	_, err := r.words.Extend(nodes/64 + 1)
	return err
}

// add adds a node. Any number of goroutines may call it.
func (r *ranks) add(node uint64) { atomic.OrUint64(&r.words.Slice()[node/64], 1<<(node%64)) }

// finish counts, and returns how many nodes there are. The error says that they are too many.
func (r *ranks) finish() (n int, err error) {
	before, err := r.before.Extend(r.words.Len())
	if err != nil {
		return 0, err
	}
	for i, word := range r.words.Slice() {
		before[i] = uint32(n)
		n += bits.OnesCount64(word)
	}
	if n > network.NoNode {
		return 0, fmt.Errorf("the roads have %d nodes, and a region may have %d", n, uint32(network.NoNode))
	}
	return n, nil
}

// of returns the rank of a node; false if it is not in the set.
func (r *ranks) of(node uint64) (rank uint32, ok bool) {
	word, bit := r.words.Slice()[node/64], uint64(1)<<(node%64)
	return r.before.Slice()[node/64] + uint32(bits.OnesCount64(word&(bit-1))), word&bit != 0
}

func (r *ranks) free() error { return errors.Join(r.words.Free(), r.before.Free()) }

// placeNodes fills the nodes that roads use, and what there is at them, and tells the restrictions which nodes theirs
// are.
func (c *Consumer) placeNodes(ctx context.Context) error {
	n, err := c.used.finish()
	if err != nil {
		return err
	}
	nodes, err := c.data.Nodes.Extend(n)
	if err != nil {
		return err
	}
	words := c.used.words.Slice()
	const some = 1 << 12
	if err := inorder.Ranges(ctx, len(words), some, func(from, to int) (struct{}, error) {
		at := c.used.before.Slice()[from]
		for i := from; i < to; i++ {
			for word := words[i]; word != 0; word &= word - 1 {
				place := c.nodes.At(uint64(i*64 + bits.TrailingZeros64(word)))
				nodes[at] = network.Node{Lat: place.Lat, Lon: place.Lon}
				at++
			}
		}
		return struct{}{}, nil
	}, func(struct{}) error { return nil }); err != nil {
		return err
	}
	for _, s := range c.special.Slice() {
		if s.Node = c.rankOf(s.id); s.Node != network.NoNode {
			if err := c.data.Special.Append(s.Special); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(c.data.Special.Slice(), func(a, b network.Special) int { return cmp.Compare(a.Node, b.Node) })
	for i := range c.turns {
		t := &c.turns[i]
		if t.via = network.NoNode; len(t.viaWays) == 0 {
			t.via = c.rankOf(t.viaNode)
		}
	}
	return nil
}

// rankOf returns the number of a node among those of roads, or NoNode.
func (c *Consumer) rankOf(id int64) uint32 {
	if number, ok := c.nodes.Find(id); ok {
		if rank, ok := c.used.of(number); ok {
			return rank
		}
	}
	return network.NoNode
}
