package network

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// nodeFlags say of a node for whom it is a junction, where exactly two pieces of road of a mode meet, whether it is
// special, and whether restrictions are over it.
type nodeFlags uint8

const (
	junctionBits = 0
	twoBits      = 3
	specialBit   = nodeFlags(1 << 6)
	turnsBit     = nodeFlags(1 << 7)
)

// junction are the modes for which segments end at a node: where not exactly two pieces of road meet, where the mode
// cannot pass, where the two differ in anything that a segment has one value of, and where a turn restriction acts.
func (f nodeFlags) junction() mapdata.Modes { return mapdata.Modes(f>>junctionBits) & allModes }

// two are the modes of which exactly two pieces of road meet at a node.
func (f nodeFlags) two() mapdata.Modes { return mapdata.Modes(f>>twoBits) & allModes }

const allModes = mapdata.Car | mapdata.Bicycle | mapdata.Foot

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
	for i := range b.special {
		x := &b.special[i]
		flags[x.Node] |= specialBit
		mark(flags, x.Node, x.Stops)
	}
	for i := range b.data.Restrictions {
		r := &b.data.Restrictions[i]
		if r.ViaNode != NoNode {
			mark(flags, r.ViaNode, r.Modes)
			continue
		}
		for _, way := range r.ViaWays {
			for _, mode := range modes {
				if road, ok := b.find(way, mode&r.Modes); ok {
					nodes := b.data.NodesOf(road)
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

// countDegrees tells for each node of which modes two pieces of road meet there, and of which another number. Until all
// are counted the flags have two bits a mode: how many, up to 3 for more.
func (b *builder) countDegrees(flags []nodeFlags) {
	for i := range uint32(len(b.roads)) {
		nodes, m := b.data.NodesOf(i), b.modes(i)
		for k, node := range nodes {
			pieces := nodeFlags(2)
			if k == 0 || k == len(nodes)-1 {
				pieces = 1
			}
			for mode := 0; mode < 2*len(modes); mode += 2 {
				if m>>(mode/2)&1 != 0 {
					n := flags[node] >> mode & 3
					flags[node] += (min(n+pieces, 3) - n) << mode
				}
			}
		}
	}
	for i, counts := range flags {
		flags[i] = 0
		for mode := range modes {
			switch counts >> (2 * mode) & 3 {
			case 0:
			case 2:
				flags[i] |= 1 << (twoBits + mode)
			default:
				flags[i] |= 1 << (junctionBits + mode)
			}
		}
	}
}

// noPartner stands for the end of a road on which no other one continues. Others are one more than their number.
const noPartner = 0

// linkRoads finds for each end of a road the end of the road on which it continues for any mode. Where modes differ in
// that, the first of them has its way, and the node is a junction for the others.
func (b *builder) linkRoads(flags []nodeFlags) error {
	partners, err := b.partners.Extend(2 * len(b.roads))
	if err != nil {
		return err
	}
	// An end of a road is twice the road's number, and 1 for its last node. Above that is the node.
	ends := scratch.NewSorter(b.dir, "road-ends", b.memory, cmp.Compare[uint64])
	for i := range uint32(len(b.roads)) {
		nodes, m := b.data.NodesOf(i), b.modes(i)
		for end, node := range [2]uint32{nodes[0], nodes[len(nodes)-1]} {
			if flags[node].two()&m != 0 {
				if err := ends.Add(uint64(node)<<32 | uint64(2*i+uint32(end))); err != nil {
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
	err = ends.Each(func(e *uint64) error {
		if at := uint32(*e >> 32); len(group) > 0 && at != node {
			link()
		}
		node, group = uint32(*e>>32), append(group, uint32(*e))
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
