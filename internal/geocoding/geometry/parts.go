package geometry

import "github.com/mapsedge/caddy-maps/internal/boxtree"

// Parts is how a line or an outline is divided: into runs of segments, and boxes over these. One that is not divided is
// one part.
type Parts struct {
	boxtree.Tree
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
		return Parts{Tree: boxtree.New(1), geometry: g, whole: true}
	}
	p := readParts(data)
	return Parts{Tree: p.levels, geometry: g, parts: p}
}

// Box is the box of a node of a level, and of level 0 that of a part.
func (p *Parts) Box(level int, node uint32) boxtree.Box {
	if p.whole {
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
