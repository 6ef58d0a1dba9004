package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// line is a way that has its name in common with others: a part of a street, a river or a railway.
type line struct {
	document
	// Ways of one name, layer and place are parts of one line if they are near each other.
	place uint64
	names uint64 // where their list begins in the builder's lists of names
}

// maxGap is the greatest distance between two ways of a street, in 1e-7 degrees of latitude (about 1.1 km).
const maxGap = 100_000

// addLine adds a way with a name.
func (b *builder) addLine(p *place, d *document, names []uint32) error {
	place := uint64(p.around.City)
	if place == 0 {
		place = uint64(p.around.County) // farther ways do not become parts of one street
	}
	if city := b.cityAt(p.at); p.around.City == 0 && city != "" {
		entity, err := b.textEntity(city)
		if err != nil {
			return err
		}
		place = 1<<32 | uint64(entity)
	}
	l := line{document: *d, place: place, names: uint64(b.lists.Len())}
	return cmp.Or(b.lists.Append(appendNames(nil, names)...), b.lines.Add(l))
}

func appendNames(data []byte, names []uint32) []byte {
	data = append(data, byte(len(names)))
	for _, n := range names {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	return data
}

// namesAt returns a list of names.
func (b *builder) namesAt(at uint64) []uint32 {
	data := b.lists.Slice()[at:]
	names := make([]uint32, data[0])
	for i := range names {
		names[i] = binary.LittleEndian.Uint32(data[1+4*i:])
	}
	return names
}

func compareLines(a, b line) int {
	return cmp.Or(compareStreets(&a, &b), cmp.Compare(a.box.MinX, b.box.MinX), cmp.Compare(a.Feature, b.Feature))
}

// compareStreets compares what the ways of a street have in common.
func compareStreets(a, b *line) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.place, b.place))
}

// mergeLines makes a document of each street: of ways with the same name in the same city that are near each other.
func (b *builder) mergeLines(context.Context) error {
	var group []line
	err := b.lines.Each(func(l *line) error {
		if len(group) > 0 && compareStreets(&group[0], l) != 0 {
			if err := b.addGroup(group); err != nil {
				return err
			}
			group = group[:0]
		}
		group = append(group, *l)
		return nil
	})
	return cmp.Or(err, b.addGroup(group), b.lists.Free())
}

// addGroup divides ways, which are sorted from west to east, into streets.
func (b *builder) addGroup(group []line) error {
	parent := make([]int, len(group))
	var find func(i int) int
	find = func(i int) int {
		if parent[i] != i {
			parent[i] = find(parent[i])
		}
		return parent[i]
	}
	open := []int{} // ways that reach as far east as the current one
	for i := range group {
		parent[i] = i
		box := group[i].box
		box.MinX, box.MinY = box.MinX-maxGap, box.MinY-maxGap
		box.MaxX, box.MaxY = box.MaxX+maxGap, box.MaxY+maxGap
		open = slices.DeleteFunc(open, func(j int) bool { return group[j].box.MaxX < box.MinX })
		for _, j := range open {
			if box.Overlaps(&group[j].box) {
				parent[find(j)] = find(i)
			}
		}
		open = append(open, i)
	}
	streets := map[int][]int{}
	for i := range group {
		root := find(i)
		streets[root] = append(streets[root], i)
	}
	for i := range group { // in a fixed order
		if parts := streets[find(i)]; parts[0] == i {
			if err := b.addStreet(group, parts); err != nil {
				return err
			}
		}
	}
	return nil
}

// addStreet adds the document of a street: its way nearest to its middle, with the names of all.
func (b *builder) addStreet(group []line, parts []int) error {
	all, names := geo.EmptyBox, []uint32(nil)
	importance, category := uint8(0), uint8(0)
	for _, i := range parts {
		l := &group[i]
		all.Extend(l.box)
		importance, category = max(importance, l.Importance), max(category, l.Category)
		for _, n := range b.namesAt(l.names) {
			if !slices.Contains(names, n) && len(names) < 255 {
				names = append(names, n)
			}
		}
	}
	middle := middleOf(&all)
	best := slices.MinFunc(parts, func(i, j int) int {
		from := func(l *line) float64 { return geometry.Distance(geometry.Coord{X: l.X, Y: l.Y}, middle) }
		return cmp.Or(cmp.Compare(from(&group[i]), from(&group[j])), cmp.Compare(i, j))
	})
	d := group[best].document
	d.box, d.Importance, d.Category = all, importance, category
	return b.addDocument(&d, names)
}
