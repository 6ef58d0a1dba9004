package extract

import (
	"cmp"

	"github.com/paulmach/osm"
)

// streetRelation is a relation associatedStreet or street: a street with its houses.
type streetRelation struct {
	id      int64
	version int
	name    string
	streets []int64 // ways, where the relation has no name
	houses  []member
}

// addStreet notes a relation of a street.
func (c *collector) addStreet(r *osm.Relation) error {
	s := streetRelation{id: int64(r.ID), version: r.Version, name: cmp.Or(r.Tags.Find("name"), r.Tags.Find("addr:street"))}
	for _, m := range r.Members {
		switch m.Role {
		case "house", "address", "":
			s.houses = append(s.houses, member{kindOf(m.Type), m.Ref})
		case "street":
			if m.Type == osm.TypeWay && s.name == "" {
				s.streets = append(s.streets, m.Ref)
			}
		}
	}
	c.streets = append(c.streets, s)
	return c.cost.TakeMemory(costMember * int64(1+len(r.Members)))
}

// assembleStreets returns the street of each house that a relation has. The name of a street without one is that of its
// first way with a name. Of several streets that claim a house, it is on the first by name.
func (c *collector) assembleStreets() map[member]string {
	streets := map[member]string{}
	for i := range c.streets {
		s := &c.streets[i]
		name := s.name
		for _, way := range s.streets {
			if w := c.find(way); name == "" && w != nil {
				name = w.tags.Get("name")
			}
		}
		if name == "" {
			continue
		}
		for _, house := range s.houses {
			if old, ok := streets[house]; !ok || name < old {
				streets[house] = name
			}
		}
	}
	return streets
}
