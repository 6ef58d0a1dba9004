package extract

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/maptile/schema"

	"github.com/paulmach/osm"
)

// border is a way that is a part of a boundary, and the lowest admin_level among those that it is a part of.
type border struct {
	way   int64
	level int64
}

// borderLevel returns the admin_level of a boundary that the map shows, else 0.
func (c *collector) borderLevel(tags osm.Tags) recordFlags {
	if level := tags.Find("admin_level"); c.withMap && len(level) == 1 && tags.Find("boundary") == "administrative" {
		if _, ok := schema.Boundary(int(level[0]) - '0'); ok {
			return recordFlags(level[0] - '0')
		}
	}
	return 0
}

// findBorders fills borders. The areas are those that count by then.
func (c *collector) findBorders() error {
	for i := range c.areas.len() {
		level := c.areas.flags(i) / areaLevel
		if level == 0 {
			continue
		}
		for _, m := range c.readArea(i).members {
			if err := c.borders.Append(border{m.way, int64(level)}); err != nil {
				return err
			}
		}
	}
	all := c.borders.Slice()
	slices.SortFunc(all, func(a, b border) int {
		return cmp.Or(cmp.Compare(a.way, b.way), cmp.Compare(a.level, b.level))
	})
	c.borders.Truncate(len(slices.CompactFunc(all, func(a, b border) bool { return a.way == b.way })))
	return nil
}

// levelOf returns the lowest admin_level of the boundaries that a way is a part of, 0 if there is none.
func (c *collector) levelOf(way int64) int {
	all := c.borders.Slice()
	i, ok := slices.BinarySearchFunc(all, way, func(b border, way int64) int { return cmp.Compare(b.way, way) })
	if !ok {
		return 0
	}
	return int(all[i].level)
}
