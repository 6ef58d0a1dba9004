package geometry

import "github.com/mapsedge/caddy-maps/internal/boxtree"

// Parts is how a line or an outline is divided: into runs of segments, and boxes over these, up to one box over all of
// it. One that is not divided is one part.
type Parts struct {
	tree     boxtree.Tree
	geometry *Geometry
	parts    parts
	whole    bool
}

// Run has room for the vertices of a run.
type Run = runBuffer

// Parts returns the parts of a geometry that is no position.
func (g *Geometry) Parts() Parts {
	data := g.bytes(0, partsHead)
	if !divided(data) {
		return Parts{tree: boxtree.New(1), geometry: g, whole: true}
	}
	p := Parts{geometry: g}
	p.parts.read(data)
	p.tree = p.parts.levels
	return p
}

// Len is how many parts there are. They are the nodes of level 0.
func (p *Parts) Len() uint32 { return p.tree.Count[0] }

// Top is the level of the one box over all parts.
func (p *Parts) Top() int { return p.tree.Height + 1 }

// Children are the nodes of the level below that a node is over: from the first up to the last, without it.
func (p *Parts) Children(level int, node uint32) (from, to uint32) {
	if level > p.tree.Height {
		return 0, p.tree.Count[p.tree.Height]
	}
	return p.tree.Children(level, node)
}

// Box is the box of a node of a level.
func (p *Parts) Box(level int, node uint32) boxtree.Box {
	if p.whole || level > p.tree.Height {
		return p.geometry.Box
	}
	var buffer [boxtree.Fanout]boxtree.Box
	return p.geometry.boxes(&p.parts, level, node, node+1, &buffer)[0]
}

// Line reads the vertices of a part.
func (p *Parts) Line(part uint32, buffer *Run) []Coord {
	if p.whole {
		return readRun(p.geometry.bytes(0, longestRun), p.geometry.corner(), buffer)
	}
	box := p.Box(0, part)
	return p.geometry.part(part, &box, buffer)
}
