package streets

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// lines finds the segments of lines that are near a box.
type lines struct {
	coords *scratch.Array[geometry.Coord]
	sorter *scratch.Sorter[sortedPart]
	parts  *Index[part] // along the curve
}

// part is consecutive segments of a line: a range of coords.
type part struct {
	line     uint32 // the owner's number of the line
	segments uint32
	first    uint64
}

type sortedPart struct {
	order uint64
	part
}

func newLines(dir *scratch.Dir, name string) lines {
	return lines{
		coords: scratch.NewArray[geometry.Coord](dir, name+"-coords"),
		parts:  NewIndex[part](dir, name+"-parts"),
		sorter: scratch.NewSorter(dir, name+"-parts", dir.SortMemory(), func(a, b sortedPart) int {
			return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.first, b.first))
		}),
	}
}

// add adds the lines of a geometry.
func (l *lines) add(number uint32, g *geometry.Geometry) (err error) {
	for line := range g.Lines {
		box, first := geometry.BoxOf(line), uint64(l.coords.Len())
		err = cmp.Or(err, l.coords.Append(line...),
			l.sorter.Add(sortedPart{box.Order(), part{number, uint32(len(line) - 1), first}}))
	}
	return err
}

// seal ends the adding.
func (l *lines) seal() error {
	err := l.sorter.Each(func(p *sortedPart) error { return l.parts.Add(p.part, geometry.BoxOf(l.of(&p.part))) })
	return cmp.Or(err, l.parts.Seal())
}

// of returns the positions of a part.
func (l *lines) of(p *part) []geometry.Coord {
	return l.coords.Slice()[p.first : p.first+uint64(p.segments)+1]
}

// segments yields the segments of a part that may touch a box.
func (l *lines) segments(p *part, b *geo.Box, yield func(from, to geometry.Coord)) {
	line := l.of(p)
	for k := 1; k < len(line); k++ {
		if edge := geometry.BoxOf(line[k-1 : k+1]); edge.Overlaps(b) {
			yield(line[k-1], line[k])
		}
	}
}

// Free removes the files.
func (l *lines) Free() error { return cmp.Or(l.coords.Free(), l.parts.Free()) }
