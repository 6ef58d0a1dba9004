package objects

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// house is an object that a relation of a street has as one of its houses.
type house struct {
	key    uint64 // of its record
	street uint32 // the number of its name
}

func compareHouses(a, b house) int { return cmp.Compare(a.key, b.key) }

// assembleStreets tells each house its street. The name of a street without one is that of its first way with a name.
// Of several streets that claim a house, it is on the first by name.
func (d *Data) assembleStreets(ctx context.Context) error {
	var r FeatureRecord
	var tags []TagNumbers
	for i := range d.streets.Len() {
		row := d.streets.Read(i)
		tags = readTags(&row, tags[:0])
		name := tags[0].Value
		for range row.Uvarint() {
			if way := takeKey(&row); name == 0 && d.find(way, &r) >= 0 {
				name = d.Texts.Find(d.names.tags(nil, r.Tags).Get("name"))
			}
		}
		for range row.Uvarint() {
			if h := (house{takeKey(&row), name}); name != 0 {
				if err := d.houses.Append(h); err != nil {
					return err
				}
			}
		}
	}
	houses := d.houses.Slice()
	slices.SortFunc(houses, func(a, b house) int {
		return cmp.Or(compareHouses(a, b), bytes.Compare(d.Texts.Bytes(a.street), d.Texts.Bytes(b.street)))
	})
	houses = slices.CompactFunc(houses, func(a, b house) bool { return a.key == b.key })
	d.houses.Truncate(len(houses))
	for _, h := range houses {
		i := d.find(h.key, &r)
		if i < 0 {
			continue
		}
		if tags := d.names.tags(nil, r.Tags); !tags.onStreet() {
			tags = tags.with(Tag{"addr:street", d.names.text(h.street)})
			if err := cmp.Or(ctx.Err(), d.Features.replace(i, &r, tags)); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeKey reads a key of a record that addMembers wrote.
func takeKey(row *scratch.Reader) uint64 {
	key := binary.LittleEndian.Uint64(row.Rest)
	row.Rest = row.Rest[8:]
	return key
}

// find reads a feature by its key, and returns which it is, or -1 for none.
func (d *Data) find(key uint64, r *FeatureRecord) int {
	i, ok := d.Features.records.Find(key)
	if !ok {
		return -1
	}
	d.Features.Read(uint64(i), r)
	return i
}

// streetOf returns the name of the street that a relation says a way is on, "" if none does.
func (d *Data) streetOf(way int64) string {
	houses := d.houses.Slice()
	i, ok := slices.BinarySearchFunc(houses, house{key: keyOf(mapdata.KindWay, way)}, compareHouses)
	if !ok {
		return ""
	}
	return d.names.text(houses[i].street)
}
