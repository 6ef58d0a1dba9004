package extract

import (
	"slices"

	"github.com/paulmach/osm"
)

// square is a multipolygon relation that is a square, a platform, …: people walk along its outer ways, which need not
// say anything themselves.
type square struct {
	id      int64
	version int
	road    *Road
	ways    []int64
}

// addSquare notes a relation along whose outline somebody may travel.
func (c *collector) addSquare(r *osm.Relation) error {
	if r.Tags.Find("highway") == "" {
		return nil
	}
	tags := r.Tags
	if tags.Find("area") != "yes" {
		tags = append(slices.Clone(tags), osm.Tag{Key: "area", Value: "yes"})
	}
	s := square{id: int64(r.ID), version: r.Version, road: c.road(0, tags)}
	if s.road == nil {
		return nil
	}
	for _, m := range r.Members {
		if m.Type == osm.TypeWay && m.Role != "inner" {
			s.ways = append(s.ways, m.Ref)
		}
	}
	c.squares = append(c.squares, s)
	return c.cost.TakeMemory(costArea + costMember*int64(len(s.ways)))
}

// outlineSquares tells which ways are outlines; of several squares that share one the first is meant.
func (c *collector) outlineSquares() {
	c.squares = newest(c.squares, func(s *square) (int64, int) { return s.id, s.version })
	c.outlines = make(map[int64]*Road)
	for i := range c.squares {
		for _, way := range c.squares[i].ways {
			if c.outlines[way] == nil {
				c.outlines[way] = c.squares[i].road
			}
		}
	}
	c.squares = nil
}

// outline returns the road that a way is as a part of a square's outline, nil if it is not. A way that says itself that
// it is a road, or that it is closed, is what it says.
func (c *collector) outline(w *osm.Way) *Road {
	of := c.outlines[int64(w.ID)]
	if of == nil || w.Tags.Find("highway") != "" || isOutOfUse(w.Tags) {
		return nil
	}
	r := *of
	r.Way = int64(w.ID)
	return &r
}
