package objects

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// house is a member of a street relation that is a house.
type house struct {
	key    uint64 // of its record
	street uint32 // the number of the street's name
}

func compareHouses(a, b house) int { return cmp.Compare(a.key, b.key) }

// assembleStreets gives each house of a street relation its street. A relation without a name has that of its first way
// with a name. A house in several relations gets the first street by name.
func (d *Data) assembleStreets(ctx context.Context) error {
	var r Feature
	for i := range d.streets.Len() {
		row := d.streets.Read(i)
		name := readTags(&row, nil)[0].Value
		var houses []house
		for range row.Uvarint() {
			role, key := string(row.Text()), row.Uvarint()
			switch role {
			case "street":
				if name == 0 && d.find(key, &r) >= 0 {
					name = r.Tags.Get(d.Texts.Find("name"))
				}
			case "house", "address", "":
				houses = append(houses, house{key: key})
			}
		}
		for k := range houses {
			houses[k].street = name
		}
		if name != 0 {
			if err := d.houses.Append(houses...); err != nil {
				return err
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
		if !d.onStreet(r.Tags) {
			r.Tags = append(r.Tags, Tag{d.shared[0], h.street})
			if err := cmp.Or(ctx.Err(), d.replace(i, &r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// onStreet reports whether an address has a street or a place.
func (d *Data) onStreet(t Tags) bool { return t.Get(d.shared[0])|t.Get(d.shared[1]) != 0 }

// streetOf returns the name of the street that a relation gives to a way, or 0.
func (d *Data) streetOf(way int64) uint32 {
	houses := d.houses.Slice()
	i, ok := slices.BinarySearchFunc(houses, house{key: keyOf(region.KindWay, way)}, compareHouses)
	if !ok {
		return 0
	}
	return houses[i].street
}
