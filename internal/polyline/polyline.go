// Package polyline reads lines in the encoded polyline format: pairs of latitude and longitude, each as the difference from
// the one before, in groups of five bits.
package polyline

import (
	"errors"

	"github.com/paulmach/orb"
)

// Precision is how many units a degree has.
const (
	Precision5 = 1e5
	Precision6 = 1e6 // OSRM's polyline6, Valhalla
)

// ErrMalformed: the text is no line in this format.
var ErrMalformed = errors.New("malformed polyline")

// Decode returns the points of a line. The error is ErrMalformed. Positions are not checked to be on the globe.
func Decode(text []byte, precision float64) (orb.LineString, error) {
	line := make(orb.LineString, 0, len(text)/4)
	var lat, lon int64
	for len(text) > 0 {
		for _, value := range []*int64{&lat, &lon} {
			difference, n := varint(text)
			if n == 0 {
				return nil, ErrMalformed
			}
			*value += difference
			text = text[n:]
		}
		line = append(line, orb.Point{float64(lon) / precision, float64(lat) / precision})
	}
	return line, nil
}

// varint reads a number and how many bytes it has, 0 where there is none.
func varint(text []byte) (value int64, n int) {
	const (
		first = 63 // the byte of a group of zeros
		more  = 0x20
		bits  = 5
		most  = 7 // groups: 35 bits are enough for 360 degrees
	)
	for n < len(text) && n < most {
		group := int64(text[n]) - first
		if group < 0 || group >= 2*more {
			return 0, 0
		}
		value |= group &^ more << (bits * n)
		n++
		if group&more == 0 {
			if value&1 == 1 {
				return ^(value >> 1), n
			}
			return value >> 1, n
		}
	}
	return 0, 0
}
