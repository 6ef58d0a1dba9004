package objects

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Interpolation is a way with addr:interpolation: a line between house numbers.
type Interpolation struct {
	Way  int64
	Line orb.LineString
	// Nodes are the ids of the line's nodes, and Numbers their house numbers, or NoNumber. Both are as long as Line.
	Nodes   []int64
	Numbers []int32
	// Step is the difference of consecutive house numbers: 1 (all), 2 (odd, even) or another whole number.
	Step int32
	// Parity restricts the numbers to odd or even ones, even if those at the ends are not.
	Parity Parity
	// Tags are the addr:* tags of all its houses: the way's own, and those that the houses at its nodes agree on.
	Tags Tags
}

// NoNumber means no house number. 0 is a house number.
const NoNumber = -1

// Parity is the parity of the house numbers of an interpolation.
type Parity uint8

// The parities.
const (
	AnyParity Parity = iota
	Odd
	Even
)

// Limits of interpolations. Values beyond them are mistakes.
const (
	maxHouseNumber = 99_999
	maxStep        = 100
)

// Interpolations is a list of interpolations in a temporary file.
type Interpolations struct{ *scratch.Records }

// Add adds an interpolation.
func (s Interpolations) Add(line *Interpolation) error {
	var coords []osm.Coord
	for _, p := range line.Line {
		coords = append(coords, osm.CoordOf(p))
	}
	row := appendInterpolation(appendTags(nil, line.Tags), line.Step, line.Parity, coords, line.Nodes, line.Numbers)
	return s.Records.Add(keyOf(region.KindWay, line.Way), row)
}

// appendInterpolation appends the part of a record after the tags.
func appendInterpolation(row []byte, step int32, parity Parity, line []osm.Coord, nodes []int64,
	numbers []int32) []byte {
	row = osm.AppendLine(binary.AppendVarint(append(row, byte(parity)), int64(step)), line)
	last := int64(0)
	for i, node := range nodes {
		row = binary.AppendVarint(binary.AppendVarint(row, node-last), int64(numbers[i]))
		last = node
	}
	return row
}

// All yields all interpolations in order.
func (s Interpolations) All(yield func(*Interpolation) bool) {
	for i := range s.Len() {
		var line Interpolation
		_, line.Way = objectOf(s.Key(i))
		row := s.Read(i)
		line.Tags = readTags(&row, nil)
		line.Parity, line.Step = Parity(row.Byte()), int32(row.Varint())
		last := int64(0)
		for _, c := range osm.ReadLine(&row, nil) {
			last += row.Varint()
			line.Line, line.Nodes = append(line.Line, c.Point()), append(line.Nodes, last)
			line.Numbers = append(line.Numbers, int32(row.Varint()))
		}
		if !yield(&line) {
			return
		}
	}
}

// parseInterpolation parses a value of addr:interpolation. It returns false for alphabetic interpolations, which count
// in letters, and for unknown values.
func parseInterpolation(value string) (step int32, parity Parity, ok bool) {
	switch value {
	case "":
		return 0, AnyParity, false
	case "odd":
		return 2, Odd, true
	case "even":
		return 2, Even, true
	case "all":
		return 1, AnyParity, true
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxStep {
		return 0, AnyParity, false
	}
	return int32(n), AnyParity, true
}

// parseHouseNumber returns the number at the start of a house number (12 for 12a), or NoNumber.
func parseHouseNumber(value string) int32 {
	n := int32(NoNumber)
	for i := 0; i < len(value) && value[i] >= '0' && value[i] <= '9'; i++ {
		if n = max(n, 0)*10 + int32(value[i]-'0'); n > maxHouseNumber {
			return NoNumber
		}
	}
	return n
}

// sharedKeys are the parts of an address that the houses of an interpolation have in common. The first two, street and
// place, are alternatives.
var sharedKeys = strings.Fields(`
	addr:street addr:place addr:suburb addr:quarter addr:neighbourhood addr:hamlet addr:city addr:town addr:village
	addr:municipality addr:county addr:state addr:province addr:postcode`)

// completed returns the tags of an address, with missing ones from another address. It adds no street or place if
// either is there.
func (d *Data) completed(t, from Tags) Tags {
	all := slices.Clone(t)
	for i, key := range d.shared {
		if value := from.Get(key); value != 0 && t.Get(key) == 0 && (i > 1 || !d.onStreet(t)) {
			all = append(all, Tag{key, value})
		}
	}
	return all
}

// agreed returns the parts of addresses that are equal in all addresses that have them.
func (d *Data) agreed(addresses []Tags) (shared Tags) {
	for _, key := range d.shared {
		var values []uint32
		for _, t := range addresses {
			if value := t.Get(key); value != 0 && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		if len(values) == 1 {
			shared = append(shared, Tag{key, values[0]})
		}
	}
	return shared
}

// assembleInterpolations fills Interpolations with the lines that have house numbers at two or more nodes. The houses
// at these nodes get missing parts of their addresses from the line.
func (d *Data) assembleInterpolations(ctx context.Context) error {
	if err := d.lines.Sort(ctx); err != nil {
		return err
	}
	for line := range d.lines.All {
		if err := cmp.Or(ctx.Err(), d.interpolate(line)); err != nil {
			return err
		}
	}
	return d.Interpolations.Sort(ctx)
}

// interpolate adds a line.
func (d *Data) interpolate(line *Interpolation) error {
	var houses []int // features
	var addresses []Tags
	var r Feature
	for k, node := range line.Nodes {
		i := d.find(keyOf(region.KindNode, node), &r)
		if i < 0 {
			continue
		}
		line.Numbers[k] = parseHouseNumber(d.Texts.Text(r.Tags.Get(d.Texts.Find("addr:housenumber"))))
		if line.Numbers[k] != NoNumber {
			houses, addresses = append(houses, i), append(addresses, slices.Clone(r.Tags))
		}
	}
	if len(houses) < 2 {
		return nil
	}
	if street := d.streetOf(line.Way); street != 0 && !d.onStreet(line.Tags) {
		line.Tags = append(line.Tags, Tag{d.shared[0], street})
	}
	line.Tags = d.completed(d.completed(nil, line.Tags), d.agreed(addresses))
	for k, i := range houses {
		d.Features.Read(i, &r)
		r.Tags = d.completed(addresses[k], line.Tags)
		if err := d.replace(i, &r); err != nil {
			return err
		}
	}
	return d.Interpolations.Add(line)
}
