package extract

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// The limits of interpolations: what is beyond them is a slip of the mapper's.
const (
	maxHouseNumber = 99_999
	maxStep        = 100
)

// parseInterpolation returns the step between the houses of an addr:interpolation, and which numbers they have; false
// for alphabetic ones, which count in letters, and for values that are not understood.
func parseInterpolation(value string) (step int32, parity Parity, ok bool) {
	switch value {
	case "odd":
		return 2, Odd, true
	case "even":
		return 2, Even, true
	case "all":
		return 1, AnyParity, true
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < 1 || n > maxStep {
		return 0, AnyParity, false
	}
	return int32(n), AnyParity, true
}

// parseHouseNumber returns the number that a house number starts with (12a: 12), or NoNumber.
func parseHouseNumber(value string) int32 {
	n := int32(NoNumber)
	for i := 0; i < len(value) && value[i] >= '0' && value[i] <= '9'; i++ {
		if n = max(n, 0)*10 + int32(value[i]-'0'); n > maxHouseNumber {
			return NoNumber
		}
	}
	return n
}

// sharedKeys are the parts of an address that the houses of an interpolation have in common.
var sharedKeys = []string{
	"addr:street", "addr:place", "addr:suburb", "addr:quarter", "addr:neighbourhood", "addr:hamlet", "addr:city",
	"addr:town",
	"addr:village", "addr:municipality", "addr:county", "addr:state", "addr:province", "addr:postcode",
}

// onStreet tells whether an address says where its house number belongs.
func (t Tags) onStreet() bool { return t.Get("addr:street") != "" || t.Get("addr:place") != "" }

// completed returns the tags of an address with those of another one that it lacks. A street or a place is not added
// where either is there.
func (t Tags) completed(from Tags) Tags {
	settled := t.onStreet()
	for _, key := range sharedKeys {
		value := from.Get(key)
		if value == "" || t.Get(key) != "" || settled && (key == "addr:street" || key == "addr:place") {
			continue
		}
		t = t.with(Tag{key, value})
	}
	return t
}

// agreed returns the parts of an address that are the same in all that have them.
func agreed(addresses []Tags) Tags {
	var shared Tags
	for _, key := range sharedKeys {
		value := ""
		for _, t := range addresses {
			v := t.Get(key)
			if v != "" && value != "" && v != value {
				value = ""
				break
			}
			if v != "" {
				value = v
			}
		}
		if value != "" {
			shared = shared.with(Tag{key, value})
		}
	}
	return shared
}

// assembleInterpolations fills Interpolations: the lines with house numbers at two nodes at least. The houses at these
// nodes get what they lack of the line's address.
func (c *collector) assembleInterpolations(data *Data, streets map[member]string) {
	for i := range c.ways {
		w := &c.ways[i]
		step, parity, ok := parseInterpolation(w.interpolates)
		if !ok {
			continue
		}
		line := Interpolation{Way: w.id, Step: step, Parity: parity}
		own := Tags(nil).completed(w.tags)
		if street := streets[member{mapdata.KindWay, w.id}]; street != "" && !own.onStreet() {
			own = own.with(Tag{"addr:street", c.strings.intern(street)})
		}
		var houses []*Feature
		var addresses []Tags
		nodes, _ := c.nodesOf(w)
		for _, node := range nodes {
			id, number := c.locations.ids[node], int32(NoNumber)
			if f := nodeFeature(data.Features, id); f != nil {
				if number = parseHouseNumber(f.Tags.Get("addr:housenumber")); number != NoNumber {
					houses, addresses = append(houses, f), append(addresses, f.Tags)
				}
			}
			line.Line, line.Nodes = append(line.Line, c.locations.point(node)), append(line.Nodes, id)
			line.Numbers = append(line.Numbers, number)
		}
		if len(houses) < 2 {
			continue
		}
		line.Tags = own.completed(agreed(addresses))
		for _, f := range houses {
			f.Tags = f.Tags.completed(line.Tags)
		}
		data.Interpolations = append(data.Interpolations, line)
	}
}

// nodeFeature returns a node that is a feature, or nil.
func nodeFeature(features []Feature, id int64) *Feature {
	i, ok := slices.BinarySearchFunc(features, id, func(f Feature, id int64) int {
		return cmp.Or(cmp.Compare(f.Kind, mapdata.KindNode), cmp.Compare(f.ID, id))
	})
	if !ok {
		return nil
	}
	return &features[i]
}
