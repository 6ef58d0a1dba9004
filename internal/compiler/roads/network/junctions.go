package network

import "github.com/mapsedge/caddy-maps/internal/region"

// nodeFlags say of a node for whom it is a junction, where exactly two pieces of road of a mode meet, whether it is
// special, and whether restrictions are over it.
type nodeFlags uint8

const (
	twoBits       = 3
	specialBit    = nodeFlags(1 << 6)
	restrictedBit = nodeFlags(1 << 7)
)

// junction are the modes for which segments end at a node: where not exactly two pieces of road meet, where the mode
// cannot pass, where the two differ in anything that a segment has one value of, and where a turn restriction acts.
func (f nodeFlags) junction() region.Modes { return region.Modes(f) & allModes }

// two are the modes of which exactly two pieces of road meet at a node.
func (f nodeFlags) two() region.Modes { return region.Modes(f>>twoBits) & allModes }

// mark makes a node a junction for those of some modes that come there.
func (f *nodeFlags) mark(m region.Modes) { *f |= nodeFlags(m & (f.two() | f.junction())) }

// count adds a piece of road of some modes. Until all are counted, the bits of each mode are how many, up to three.
func (f *nodeFlags) count(m region.Modes) {
	m &^= f.junction() & f.two()
	*f ^= nodeFlags(m&f.junction())<<twoBits ^ nodeFlags(m)
}

// markJunctions fills the flags of all nodes and finds which roads continue one another.
func (b *builder) markJunctions() {
	flags := b.flags
	for i := range uint32(len(b.roads)) {
		nodes, m := b.data.NodesOf(i), b.modes(i)
		for k, to := range nodes[1:] {
			flags[nodes[k]].count(m)
			flags[to].count(m)
		}
	}
	for i, f := range flags {
		flags[i] &^= nodeFlags(f.junction()) << twoBits
	}
	b.linkRoads()
	for i := range b.special {
		at := &flags[b.special[i].Node]
		*at |= specialBit
		at.mark(b.special[i].Stops)
	}
	for i := range b.data.Restrictions {
		r := &b.data.Restrictions[i]
		if r.ViaNode != NoNode {
			flags[r.ViaNode] |= restrictedBit
			flags[r.ViaNode].mark(r.Modes)
		}
		for _, way := range r.ViaWays {
			road := b.data.FirstOf(way)
			b.via[road] = true
			nodes := b.data.NodesOf(road)
			for _, node := range nodes {
				flags[node] |= restrictedBit
			}
			flags[nodes[0]].mark(r.Modes & b.modes(road))
			flags[nodes[len(nodes)-1]].mark(r.Modes & b.modes(road))
		}
	}
}

// noPartner marks the end of a road on which no other one continues. Others are one more than their number, which
// is twice the road's, and 1 for its last node.
const noPartner = 0

// linkRoads finds for each end of a road the end of the road on which it continues for any mode. Where modes differ in
// that, the first of them has its way, and the node is a junction for the others.
func (b *builder) linkRoads() {
	flags, waiting := b.flags, b.lastEnd
	for _, mode := range modes {
		for i := range uint32(len(b.roads)) {
			if b.modes(i)&mode == 0 {
				continue
			}
			nodes := b.data.NodesOf(i)
			for end, node := range [2]uint32{nodes[0], nodes[len(nodes)-1]} {
				this := 2*i + uint32(end)
				switch other := waiting[node]; {
				case flags[node].two()&mode == 0:
				case other == 0:
					waiting[node] = this + 1
				default:
					waiting[node] = 0
					if !b.link(other-1, this, mode) {
						flags[node].mark(mode)
					}
				}
			}
		}
	}
}

// link has two ends of roads that meet for a mode continue one another, and reports whether they do.
func (b *builder) link(x, y uint32, mode region.Modes) bool {
	// One travels x's road along where that ends here, and y's where it begins here.
	if x>>1 != y>>1 && b.inSegment(x>>1, mode, x&1 == 0) != b.inSegment(y>>1, mode, y&1 == 1) {
		return false
	}
	partners := b.partners
	if partners[x] == noPartner && partners[y] == noPartner {
		partners[x], partners[y] = y+1, x+1
	}
	return partners[x] == y+1
}

// inSegment is a road with no more than what is the same all along a segment of a mode.
func (b *builder) inSegment(road uint32, mode region.Modes, against bool) Road {
	r := b.roads[road]
	r.Way, r.FirstNode, r.Details = 0, 0, 0
	if against {
		r.Attributes = reversed(r.Attributes)
	}
	for _, of := range [...]*region.Modes{&r.Forward, &r.Backward, &r.DestinationForward, &r.DestinationBackward,
		&r.PrivateForward, &r.PrivateBackward} {
		*of &= mode
	}
	if mode != region.Car {
		r.SpeedForward, r.SpeedBackward = 0, 0
	}
	if mode != region.Bicycle {
		r.BicycleSpeed = 0
	}
	if mode != region.Foot {
		r.FootSpeed = 0
	}
	return r
}
