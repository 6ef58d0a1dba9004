package geometry

import (
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// A line or an outline is encoded as bytes, which are searched in place: in a region file, and while one is compiled.
//
// A run is up to MaxSegments consecutive segments: a byte that says of how many bits each coordinate's difference is
// (runWidth), how many segments there are (runSegments), and whether the last of them leads back to the start and is
// left out (runClosed); where it starts, as two unsigned varints counted from a corner; and for each segment two
// differences.
//
// What is one run is kept as that run, counted from the south-west corner of its box. All else is in parts: a byte
// with inParts, one with the shift of the boxes, and the number of parts in four; for each part its box, as four
// numbers of 16 bits counted from the corner and shifted, and where its run begins in these bytes, in four; the boxes
// of the levels over the parts, as boxtree lays them out; and the runs, each counted from the corner of its part's box.
const (
	runWidth    = 1<<2 - 1
	inParts     = 1 << 2
	runClosed   = 1 << 3
	runSegments = 4 // shift

	// How many bits each coordinate's difference has.
	width8, width12, width16, width32 = 0, 1, 2, 3

	// MaxSegments is how many segments a run has at most. Few make more boxes to look at, many make each visit longer.
	MaxSegments = 12

	partsHead  = 6
	boxBytes   = 8
	partBytes  = boxBytes + 4
	longestRun = 1 + 2*binary.MaxVarintLen32 + MaxSegments*8
)

// runBuffer has the vertices of a run.
type runBuffer [MaxSegments + 1]Coord

// encode makes the bytes of lines in a box.
func encode(lines [][]Coord, box geo.Box) (data []byte) {
	segments := 0
	for _, line := range lines {
		segments += len(line) - 1
	}
	corner := Coord{box.MinX, box.MinY}
	if len(lines) == 1 && segments <= MaxSegments {
		return appendRun(nil, lines[0], corner)
	}
	var runs [][]Coord
	for _, line := range lines {
		segments := len(line) - 1
		n := (segments + MaxSegments - 1) / MaxSegments
		for i := range n { // as even as can be
			runs = append(runs, line[segments*i/n:segments*(i+1)/n+1])
		}
	}
	width := max(int64(box.MaxX)-int64(box.MinX), int64(box.MaxY)-int64(box.MinY))
	shift := max(bits.Len64(uint64(width))-15, 0) // so that what is rounded up fits 16 bits too
	data = append(data, inParts, byte(shift))
	data = binary.LittleEndian.AppendUint32(data, uint32(len(runs)))
	boxes := make([]geo.Box, len(runs))
	for i, run := range runs {
		boxes[i] = BoxOf(run)
	}
	levels := geo.AppendTreeLevels(nil, boxes)
	payload := make([]byte, 0, segments*4)
	start := partsHead + partBytes*len(runs) + boxBytes*len(levels)
	for i, run := range runs {
		var from Coord
		data, from = appendBox(data, &boxes[i], corner, shift)
		data = binary.LittleEndian.AppendUint32(data, uint32(start+len(payload)))
		payload = appendRun(payload, run, from)
	}
	for i := range levels {
		data, _ = appendBox(data, &levels[i], corner, shift)
	}
	return append(data, payload...)
}

// appendBox adds a box, rounded so that it holds what it held, and returns its corner.
func appendBox(data []byte, b *geo.Box, corner Coord, shift int) ([]byte, Coord) {
	up := int64(1)<<shift - 1
	x, y := (int64(b.MinX)-int64(corner.X))>>shift, (int64(b.MinY)-int64(corner.Y))>>shift
	for _, v := range [...]int64{x, y, (int64(b.MaxX) - int64(corner.X) + up) >> shift,
		(int64(b.MaxY) - int64(corner.Y) + up) >> shift} {
		data = binary.LittleEndian.AppendUint16(data, uint16(v))
	}
	return data, Coord{int32(int64(corner.X) + x<<shift), int32(int64(corner.Y) + y<<shift)}
}

// uvarint reads an unsigned varint, and returns where the next thing begins.
func uvarint(data []byte, at int) (uint64, int) {
	if b := data[at]; b < 0x80 {
		return uint64(b), at + 1
	}
	v, n := binary.Uvarint(data[at:])
	if n <= 0 {
		Corrupt("a number has no end")
	}
	return v, at + n
}

// bytes returns up to n bytes from some position of the geometry's on.
func (g *Geometry) bytes(from, n int) []byte {
	if from+n <= len(g.data) || g.view == nil {
		return g.data[from:min(from+n, len(g.data))]
	}
	from += g.at
	return g.view.Range(from, min(from+n, g.view.Len()))
}

// parts describes the parts of a geometry.
type parts struct {
	shift  uint
	levels geo.Tree
}

// divided reports whether a geometry is in parts.
func divided(data []byte) bool { return data[0]&inParts != 0 }

// read reads how a geometry is divided.
func (p *parts) read(data []byte) {
	p.shift = uint(data[1])
	if n := binary.LittleEndian.Uint32(data[2:partsHead]); n > geo.TreeFanout {
		p.levels = geo.NewTree(n)
	} else {
		p.levels.Count[0] = n
	}
}

func (g *Geometry) corner() Coord { return Coord{g.Box.MinX, g.Box.MinY} }

// boxes reads boxes of a level, the lowest of which has those of the parts.
func (g *Geometry) boxes(p *parts, level int, from, to uint32, buffer *[geo.TreeFanout]geo.Box) []geo.Box {
	first, stride := partsHead+int(from)*partBytes, partBytes
	if level > 0 {
		first, stride = partsHead+int(p.levels.Count[0])*partBytes+int(p.levels.First[level]+from)*boxBytes, boxBytes
	}
	n := int(to - from)
	data := g.bytes(first, n*stride)
	for i := range buffer[:n] {
		v := binary.LittleEndian.Uint64(data[i*stride:])
		buffer[i] = geo.Box{
			MinX: g.Box.MinX + int32(v&0xffff<<p.shift), MinY: g.Box.MinY + int32(v>>16&0xffff<<p.shift),
			MaxX: g.Box.MinX + int32(v>>32&0xffff<<p.shift), MaxY: g.Box.MinY + int32(v>>48<<p.shift),
		}
	}
	return buffer[:n]
}

// part reads the run of a part, whose box is known.
func (g *Geometry) part(i uint32, box *geo.Box, buffer *runBuffer) []Coord {
	at := binary.LittleEndian.Uint32(g.bytes(partsHead+int(i)*partBytes+boxBytes, 4))
	return readRun(g.bytes(int(at), longestRun), Coord{box.MinX, box.MinY}, buffer)
}

// Lines yields each run of segments. A line is valid until the next one.
func (g *Geometry) Lines(yield func([]Coord) bool) { g.LinesIn(&g.Box)(yield) }

// LinesIn yields the runs of segments whose boxes overlap another. A line is valid until the next one.
func (g *Geometry) LinesIn(in *geo.Box) iter.Seq[[]Coord] {
	return func(yield func([]Coord) bool) {
		if g.Shape == Point || !g.Box.Overlaps(in) {
			return
		}
		var buffer runBuffer
		data := g.bytes(0, longestRun)
		if divided(data) {
			var p parts
			p.read(data)
			g.linesIn(in, &p, p.levels.Height, 0, p.levels.Count[p.levels.Height], &buffer, yield)
		} else {
			yield(readRun(data, g.corner(), &buffer))
		}
	}
}

// linesIn yields the runs below the nodes from, … of a level, and reports whether more are wanted.
func (g *Geometry) linesIn(in *geo.Box, p *parts, level int, from, to uint32, buffer *runBuffer,
	yield func([]Coord) bool) bool {
	var boxes [geo.TreeFanout]geo.Box
	for i := range g.boxes(p, level, from, to, &boxes) {
		if !boxes[i].Overlaps(in) {
			continue
		}
		var more bool
		if node := from + uint32(i); level > 0 {
			first, last := p.levels.Children(level, node)
			more = g.linesIn(in, p, level-1, first, last, buffer, yield)
		} else {
			more = yield(g.part(node, &boxes[i], buffer))
		}
		if !more {
			return false
		}
	}
	return true
}

// Of returns a geometry in a section of a region file: its shape, its box with an exact south-west corner, and its
// offset. data is the part of it that has been read.
func Of(shape Shape, box geo.Box, view *region.View[byte], at int, data []byte) Geometry {
	return Geometry{Shape: shape, Box: box, view: view, at: at, data: data}
}

// Bytes is the encoding of a geometry that New made. A position has none.
func (g *Geometry) Bytes() []byte { return g.data }

// Restore makes a geometry of what Bytes returned.
func Restore(shape Shape, box geo.Box, data []byte) Geometry {
	return Geometry{Shape: shape, Box: box, data: data}
}

// Corrupt panics with a *region.DamageError.
func Corrupt(problem string) { panic(&region.DamageError{Problem: problem}) }
