package geo

import (
	"errors"
	"math"

	"github.com/paulmach/orb"
)

// Precision is the number of units of a degree in an encoded polyline.
const (
	Polyline5 = 1e5
	Polyline6 = 1e6 // OSRM's polyline6, Valhalla
)

// The encoded polyline format has pairs of latitude and longitude, each as the difference from the one before, in
// groups of five bits, the lowest first, each in one byte.
const (
	first = 63   // the byte of a group of zeros
	more  = 0x20 // set where another group follows
	bits  = 5
)

// ErrPolyline: the text is no encoded polyline.
var ErrPolyline = errors.New("malformed polyline")

// DecodePolyline decodes an encoded polyline. The error is ErrPolyline. Positions may be out of range.
func DecodePolyline(text []byte, precision float64) (orb.LineString, error) {
	line := make(orb.LineString, 0, len(text)/4)
	var lat, lon int64
	for len(text) > 0 {
		for _, value := range []*int64{&lat, &lon} {
			difference, n := varint(text)
			if n == 0 {
				return nil, ErrPolyline
			}
			*value += difference
			text = text[n:]
		}
		line = append(line, orb.Point{float64(lon) / precision, float64(lat) / precision})
	}
	return line, nil
}

// AppendPolyline appends a line as an encoded polyline. Its positions must be on the globe.
func AppendPolyline(dst []byte, line orb.LineString, precision float64) []byte {
	var lat, lon int64 // of the point before
	for _, p := range line {
		y, x := int64(math.Round(p[1]*precision)), int64(math.Round(p[0]*precision))
		dst = appendVarint(dst, y-lat)
		dst = appendVarint(dst, x-lon)
		lat, lon = y, x
	}
	return dst
}

// appendVarint appends a number, the sign as its lowest bit and negative ones inverted.
func appendVarint(dst []byte, value int64) []byte {
	v := uint64(value<<1) ^ uint64(value>>63)
	for ; v >= more; v >>= bits {
		dst = append(dst, byte(v&(more-1)|more)+first)
	}
	return append(dst, byte(v)+first)
}

// varint reads a number, and returns its size in bytes; 0 if there is none.
func varint(text []byte) (value int64, n int) {
	const most = 7 // groups: 35 bits are enough for 360 degrees
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
