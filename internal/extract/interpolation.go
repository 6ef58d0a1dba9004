package extract

import (
	"cmp"
	"slices"
	"strconv"
)

// The limits of interpolations: what is beyond them is a slip of the mapper's.
const (
	maxHouseNumber = 99_999
	maxStep        = 100
)

// parseInterpolation returns the step between the houses of an addr:interpolation; false for alphabetic ones, which count
// in letters, and for values that are not understood.
func parseInterpolation(value string) (step int32, ok bool) {
	switch value {
	case "odd", "even":
		return 2, true
	case "all":
		return 1, true
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 1 || n > maxStep {
		return 0, false
	}
	return int32(n), true
}

// parseHouseNumber returns the number that a house number starts with (12a: 12), or 0.
func parseHouseNumber(value string) int32 {
	n := int32(0)
	for i := 0; i < len(value) && value[i] >= '0' && value[i] <= '9'; i++ {
		if n = n*10 + int32(value[i]-'0'); n > maxHouseNumber {
			return 0
		}
	}
	return n
}

// assembleInterpolations fills Interpolations: the lines with house numbers at two nodes at least.
func (c *collector) assembleInterpolations(data *Data) {
	for i := range c.ways {
		w := &c.ways[i]
		step, ok := parseInterpolation(w.interpolates)
		if !ok {
			continue
		}
		line := Interpolation{
			Way: w.id, Step: step,
			Street: w.tags.Get("addr:street"), City: w.tags.Get("addr:city"), Postcode: w.tags.Get("addr:postcode"),
		}
		numbered := 0
		nodes, _ := c.nodesOf(w)
		for _, node := range nodes {
			line.Line = append(line.Line, c.locations.point(node))
			tags := nodeTags(data.Features, c.locations.ids[node])
			number := parseHouseNumber(tags.Get("addr:housenumber"))
			if number > 0 {
				numbered++
				line.Street = cmp.Or(line.Street, tags.Get("addr:street"))
				line.City = cmp.Or(line.City, tags.Get("addr:city"))
				line.Postcode = cmp.Or(line.Postcode, tags.Get("addr:postcode"))
			}
			line.Numbers = append(line.Numbers, number)
		}
		if numbered >= 2 {
			data.Interpolations = append(data.Interpolations, line)
		}
	}
}

// nodeTags returns the tags of a node that is a feature.
func nodeTags(features []Feature, id int64) Tags {
	i, ok := slices.BinarySearchFunc(features, id, func(f Feature, id int64) int {
		return cmp.Or(cmp.Compare(f.Kind, KindNode), cmp.Compare(f.ID, id))
	})
	if !ok {
		return nil
	}
	return features[i].Tags
}
