package network

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// nodeFlags are the modes for which a node is a junction (3 bits), the modes with exactly two segments there (3 bits),
// whether it is special, and whether turn restrictions involve it.
type nodeFlags uint8

const (
	twoBits       = 3
	specialBit    = nodeFlags(1 << 6)
	restrictedBit = nodeFlags(1 << 7)
)

// junction returns the modes whose edges end at a node, because of any of these:
//
//   - It does not have exactly two segments of the mode.
//   - A barrier stops the mode.
//   - An attribute of the road changes, such as name, class, access or speed.
//   - It is a via node of a turn restriction, or an end of a via way.
func (f nodeFlags) junction() region.Modes { return region.Modes(f) & allModes }

// two returns the modes with exactly two segments at a node.
func (f nodeFlags) two() region.Modes { return region.Modes(f>>twoBits) & allModes }

// mark makes a node a junction for those of some modes that have segments there.
func (f *nodeFlags) mark(m region.Modes) { *f |= nodeFlags(m & (f.two() | f.junction())) }

// count adds a segment of some modes. Until all are counted, the two bits of a mode are a counter up to three.
func (f *nodeFlags) count(m region.Modes) {
	m &^= f.junction() & f.two()
	*f ^= nodeFlags(m&f.junction())<<twoBits ^ nodeFlags(m)
}

// markJunctions fills the flags of all nodes, and finds the roads that continue one another.
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

// noPartner marks the end of a road that no other road continues. Other partners are 1 plus the number of an end, which
// is twice the road's number, plus 1 for its last node.
const noPartner = 0

// linkRoads finds for each end of a road the end of the road that continues it for some mode. If modes differ, the
// first one takes precedence, and the node is a junction for the others.
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

// link makes two ends of roads that meet for a mode partners, and reports whether they are.
func (b *builder) link(x, y uint32, mode region.Modes) bool {
	// x's road is travelled forward if its last node is here, and y's if its first node is.
	if x>>1 != y>>1 && b.edgeAttributes(x>>1, mode, x&1 == 0) != b.edgeAttributes(y>>1, mode, y&1 == 1) {
		return false
	}
	partners := b.partners
	if partners[x] == noPartner && partners[y] == noPartner {
		partners[x], partners[y] = y+1, x+1
	}
	return partners[x] == y+1
}

// edgeAttributes returns a road with only the attributes that are constant along an edge of a mode.
func (b *builder) edgeAttributes(road uint32, mode region.Modes, against bool) Road {
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

// numberJunctions gives each end of a base edge the number of its junction. Ends are at the same one if they are
// joined, or if one base edge continues the other for some mode.
func (b *builder) numberJunctions(to *scratch.Array[uint32]) error {
	numbers, err := to.Extend(2 * b.edgeCount)
	if err != nil {
		return err
	}
	const none = 0 // until the end, all numbers are greater by one
	count := uint32(0)
	for end := range uint32(len(numbers)) {
		after := b.edgeFlags[end>>1+1]
		goesOn := end&1 == 1 && after.Open()&^after.Modes(roadgraph.BeginsEdgeSet) != 0
		if numbers[end] == none && goesOn {
			numbers[end] = numbers[end+1]
		}
		if numbers[end] == none {
			count++
			numbers[end] = count
		}
		if next := b.ends[end].Next; next > end {
			numbers[next] = numbers[end]
		}
		if goesOn {
			numbers[end+1] = numbers[end]
		}
	}
	for i := range numbers {
		numbers[i]--
	}
	return nil
}
