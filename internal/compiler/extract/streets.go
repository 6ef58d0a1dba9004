package extract

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// house is an object that a relation of a street has as one of its houses.
type house struct {
	id     int64
	kind   mapdata.Kind
	street uint32 // the number of its name
}

func compareHouses(a, b house) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
}

// addStreet notes a relation associatedStreet or street: a street with its houses. Its record has the name, the ways of
// the street where it has none, and the houses.
func (c *collector) addStreet(r *foundRelation, members []member) error {
	name := valid(cmp.Or(r.tags.Find("name"), r.tags.Find("addr:street")))
	number, err := c.texts.Add(name)
	if err != nil {
		return err
	}
	row := binary.AppendUvarint(c.streets.begin(r.version), uint64(number))
	isStreet := func(m *member) bool { return m.role == "street" && m.kind == mapdata.KindWay && name == "" }
	isHouse := func(m *member) bool { return m.role == "house" || m.role == "address" || m.role == "" }
	row = appendMembers(row, members, isStreet)
	row = appendMembers(row, members, isHouse)
	if err := c.streets.end(r.id, 0, row); err != nil {
		return err
	}
	return c.cost.TakeMemory(costMember * int64(1+len(members)))
}

// appendMembers writes some members of a relation.
func appendMembers(row []byte, members []member, is func(*member) bool) []byte {
	n := uint64(0)
	for i := range members {
		if is(&members[i]) {
			n++
		}
	}
	row = binary.AppendUvarint(row, n)
	for i := range members {
		if is(&members[i]) {
			row = binary.AppendVarint(append(row, byte(members[i].kind)), members[i].id)
		}
	}
	return row
}

// assembleStreets tells the street of each house. The name of a street without one is that of its first way with a
// name. Of several streets that claim a house, it is on the first by name.
func (c *collector) assembleStreets() error {
	var w way
	for i := range c.streets.len() {
		d := c.streets.read(i)
		name := uint32(d.uvarint())
		for range d.uvarint() {
			d.byte() // a way
			if id := d.varint(); name == 0 && c.findWay(id, &w) {
				name = valueOf(w.tags, c.keys.name)
			}
		}
		if name == 0 {
			continue
		}
		for range d.uvarint() {
			kind := mapdata.Kind(d.byte())
			if err := c.houses.Append(house{d.varint(), kind, name}); err != nil {
				return err
			}
		}
	}
	houses := c.houses.Slice()
	slices.SortFunc(houses, func(a, b house) int {
		return cmp.Or(compareHouses(a, b), cmp.Compare(c.names.text(a.street), c.names.text(b.street)))
	})
	houses = slices.CompactFunc(houses, func(a, b house) bool { return compareHouses(a, b) == 0 })
	c.houses.Truncate(len(houses))
	return c.streets.Free()
}

// streetOf returns the number of the name of the street that a relation says an object is on, 0 if none does.
func (c *collector) streetOf(kind mapdata.Kind, id int64) uint32 {
	houses := c.houses.Slice()
	i, ok := slices.BinarySearchFunc(houses, house{id: id, kind: kind}, compareHouses)
	if !ok {
		return 0
	}
	return houses[i].street
}
