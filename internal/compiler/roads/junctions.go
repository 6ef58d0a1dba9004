package roads

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// nodeFlags say of a node for whom it is a junction, where exactly two pieces of road of a mode meet, and whether
// something blocks it.
type nodeFlags uint8

const (
	junctionBits = 0
	twoBits      = 3
	blockedBit   = nodeFlags(1 << 6)
)

// junction are the modes for which segments end at a node: where not exactly two pieces of road meet, where the mode
// cannot pass, where the two differ in anything that a segment has one value of, and where a turn restriction acts.
func (f nodeFlags) junction() mapdata.Modes { return mapdata.Modes(f>>junctionBits) & allModes }

// two are the modes of which exactly two pieces of road meet at a node.
func (f nodeFlags) two() mapdata.Modes { return mapdata.Modes(f>>twoBits) & allModes }

const allModes = mapdata.Car | mapdata.Bicycle | mapdata.Foot

// degrees are how many pieces of road of each mode meet at a node: two bits a mode, up to 3 for more.
type degrees uint8

func (d degrees) of(mode int) int { return int(d>>(2*mode)) & 3 }

// more counts one more piece of a road of some modes.
func (d degrees) more(m mapdata.Modes) degrees {
	for i := range modes {
		if m>>i&1 != 0 && d.of(i) < 3 {
			d += 1 << (2 * i)
		}
	}
	return d
}

// flags turn degrees into flags.
func (d degrees) flags() (f nodeFlags) {
	for i := range modes {
		switch d.of(i) {
		case 0:
		case 2:
			f |= 1 << (twoBits + i)
		default:
			f |= 1 << (junctionBits + i)
		}
	}
	return f
}

// markJunctions fills the flags of all nodes and finds which roads continue one another.
func (b *builder) markJunctions() error {
	flags, err := b.flags.Extend(len(b.nodes))
	if err != nil {
		return err
	}
	b.countDegrees(flags)
	if err := b.linkRoads(flags); err != nil {
		return err
	}
	for _, x := range b.barriers {
		flags[x.Node] |= blockedBit
		mark(flags, x.Node, x.Stops)
	}
	for i := range b.restrictions {
		r := &b.restrictions[i]
		if r.ViaNode != extract.NoNode {
			mark(flags, r.ViaNode, r.Modes)
			continue
		}
		for _, way := range r.ViaWays {
			for _, mode := range modes {
				if road, ok := b.find(way, mode&r.Modes); ok {
					nodes := b.nodesOf(road)
					mark(flags, nodes[0], mode)
					mark(flags, nodes[len(nodes)-1], mode)
				}
			}
		}
	}
	return nil
}

// mark makes a node a junction for those of some modes that come there.
func mark(flags []nodeFlags, node uint32, m mapdata.Modes) {
	f := flags[node]
	flags[node] |= nodeFlags(m&(f.two()|f.junction())) << junctionBits
}

func (b *builder) countDegrees(flags []nodeFlags) {
	var more [64][8]nodeFlags
	var of [64]nodeFlags
	for d := range degrees(64) {
		of[d] = d.flags()
		for m := range mapdata.Modes(8) {
			more[d][m] = nodeFlags(d.more(m))
		}
	}
	for i := range uint32(b.count()) {
		m := b.modes(i)
		nodes := b.nodesOf(i)
		for k := 1; k < len(nodes); k++ {
			if from, to := nodes[k-1], nodes[k]; from != to {
				flags[from] = more[flags[from]&63][m&7]
				flags[to] = more[flags[to]&63][m&7]
			}
		}
	}
	for i := range flags {
		flags[i] = of[flags[i]&63]
	}
}

// roadEnd is an end of a road at a node: twice the road's number, and 1 for its last node.
type roadEnd struct{ Node, End uint32 }

// noPartner stands for the end of a road on which no other one continues. Others are one more than their number.
const noPartner = 0

// linkRoads finds for each end of a road the end of the road on which it continues for any mode. Where modes differ in
// that, the first of them has its way, and the node is a junction for the others.
func (b *builder) linkRoads(flags []nodeFlags) error {
	partners, err := b.partners.Extend(2 * b.count())
	if err != nil {
		return err
	}
	ends := scratch.NewSorter(b.dir, "road-ends", b.memory, func(x, y roadEnd) int {
		return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.End, y.End))
	})
	for i := range uint32(b.count()) {
		nodes, m := b.nodesOf(i), b.modes(i)
		for end, node := range [2]uint32{nodes[0], nodes[len(nodes)-1]} {
			if flags[node].two()&m != 0 {
				if err := ends.Add(roadEnd{node, 2*i + uint32(end)}); err != nil {
					return err
				}
			}
		}
	}
	var group []uint32
	var node uint32
	link := func() {
		for _, mode := range modes {
			if flags[node].two()&mode != 0 && !b.link(partners, group, mode) {
				flags[node] |= nodeFlags(mode) << junctionBits
			}
		}
		group = group[:0]
	}
	err = ends.Each(func(e *roadEnd) error {
		if len(group) > 0 && e.Node != node {
			link()
		}
		node, group = e.Node, append(group, e.End)
		return nil
	})
	if len(group) > 0 {
		link()
	}
	return err
}

// link has the two of some ends of roads at a node that a mode may travel continue one another, and reports whether
// they do. Where no such road ends, one of them leads over the node.
func (b *builder) link(partners, ends []uint32, mode mapdata.Modes) bool {
	pair := [2]uint32{}
	n := 0
	for _, end := range ends {
		if b.modes(end>>1)&mode != 0 && n < 2 {
			pair[n] = end
			n++
		}
	}
	if n < 2 {
		return true
	}
	x, y := pair[0], pair[1]
	// One travels x's road along where that ends here, and y's where it begins here.
	if x>>1 != y>>1 && b.properties(x>>1, mode, x&1 == 1) != b.properties(y>>1, mode, y&1 == 0) {
		return false
	}
	if partners[x] == noPartner && partners[y] == noPartner {
		partners[x], partners[y] = y+1, x+1
	}
	return partners[x] == y+1
}
