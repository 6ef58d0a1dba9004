package extract

import (
	"context"
	"slices"
	"strconv"
	"strings"

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

// with returns the tags and one more.
func (t Tags) with(tag Tag) Tags {
	i, _ := slices.BinarySearchFunc(t, tag.Key, func(t Tag, key string) int { return strings.Compare(t.Key, key) })
	return slices.Insert(slices.Clone(t), i, tag)
}

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
func (c *collector) assembleInterpolations(ctx context.Context, data *Data) error {
	var w way
	return loop(ctx, nil, c.ways.len(), func(i int) error {
		if c.ways.flags(i)&wayInterpolates == 0 {
			return nil
		}
		c.readWay(i, &w)
		return c.interpolate(&w, data)
	})
}

// interpolate adds the line of a way.
func (c *collector) interpolate(w *way, data *Data) error {
	line := Interpolation{Way: w.id, Step: w.step, Parity: w.parity}
	var houses []int // of nodeFeatures
	var addresses []Tags
	for _, node := range w.known() {
		id, number := c.locations.id(node), int32(NoNumber)
		if i, ok := c.nodeFeatures.find(id); ok {
			tags := c.nodeTags(i)
			if number = parseHouseNumber(tags.Get("addr:housenumber")); number != NoNumber {
				houses, addresses = append(houses, i), append(addresses, tags)
			}
		}
		line.Line, line.Nodes = append(line.Line, c.locations.point(node)), append(line.Nodes, id)
		line.Numbers = append(line.Numbers, number)
	}
	if len(houses) < 2 {
		return nil
	}
	own := Tags(nil).completed(c.names.tags(nil, c.onItsStreet(mapdata.KindWay, w.id, w.tags)))
	line.Tags = own.completed(agreed(addresses))
	for k, i := range houses {
		tags := addresses[k].completed(line.Tags)
		if len(tags) == len(addresses[k]) {
			continue
		}
		row, err := appendTags(c.nodeFeatures.begin(0), c.texts, tags)
		if err != nil {
			return err
		}
		if _, classes := c.readNode(i, nil); classes != nil {
			row = appendClasses(row, classes)
		}
		if err := c.nodeFeatures.replace(i, row); err != nil {
			return err
		}
	}
	return data.Interpolations.Add(&line)
}

// nodeTags returns the tags of a node, with the street that a relation says it is on.
func (c *collector) nodeTags(i int) Tags {
	tags, _ := c.readNode(i, nil)
	return c.names.tags(nil, c.onItsStreet(mapdata.KindNode, c.nodeFeatures.id(i), tags))
}
