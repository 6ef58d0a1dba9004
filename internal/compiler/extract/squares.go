package extract

import (
	"slices"

	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// square is a multipolygon relation that is a square, a platform, …: people walk along its outer ways, which need not
// say anything themselves.
type square struct {
	id      int64
	version int32
	road    *namedRoad
	ways    []int64
}

// addSquare notes a relation along whose outline somebody may travel.
func (c *collector) addSquare(r *foundRelation, members []member) error {
	if r.tags.Find("highway") == "" {
		return nil
	}
	tags := r.tags
	if tags.Find("area") != "yes" {
		tags = append(slices.Clone(tags), osm.Tag{Key: "area", Value: "yes"})
	}
	road, ok := roadOf(tags)
	if !ok {
		return nil
	}
	s := square{id: r.id, version: r.version, road: road.clone()}
	for _, m := range members {
		if m.kind == mapdata.KindWay && m.role != "inner" {
			s.ways = append(s.ways, m.id)
		}
	}
	c.squares = append(c.squares, s)
	return c.cost.TakeMemory(costArea + costMember*int64(len(s.ways)))
}

// outlineSquares tells which ways are outlines; of several squares that share one the first is meant.
func (c *collector) outlineSquares() {
	c.squares = newest(c.squares, func(s *square) (int64, int32) { return s.id, s.version })
	c.outlines = make(map[int64]*namedRoad)
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
func (c *collector) outline(way int64, tags osm.Tags) *namedRoad {
	of := c.outlines[way]
	if of == nil || tags.Find("highway") != "" || isOutOfUse(tags) {
		return nil
	}
	return of
}
