// Package hilbert orders positions along a Hilbert curve over the whole Earth, so that what is near on the ground is
// near in a file.
package geo

// Hilbert is the place on the curve of a point of a square of 2^32 by 2^32.
func Hilbert(x, y uint32) uint64 {
	var d uint64
	var state uint16
	for shift := 28; shift >= 0; shift -= 4 {
		step := steps[state<<8|uint16(x>>shift&15)<<4|uint16(y>>shift&15)]
		d = d<<8 | uint64(step&0xff)
		state = step >> 8
	}
	return d
}

// steps has for each of the four ways in which a quadrant may be turned, and for four bits of x and four of y, the
// next eight bits of the place on the curve, and above them how the quadrant is turned that they lead to.
var steps = func() (table [4 << 8]uint16) {
	for i := range table {
		swapped, inverted := i>>8&1, i>>9
		d := 0
		for bit := 3; bit >= 0; bit-- {
			rx, ry := i>>(4+bit)&1^inverted, i>>bit&1^inverted
			if swapped == 1 {
				rx, ry = ry, rx
			}
			d = d<<2 | (3*rx ^ ry)
			if ry == 0 { // turn the quadrant so that the curve in it starts where the one before ended
				inverted ^= rx
				swapped ^= 1
			}
		}
		table[i] = uint16(inverted<<9 | swapped<<8 | d)
	}
	return table
}()

// HilbertOfPosition is the place on the curve of a longitude and a latitude in 1e-7 degrees.
func HilbertOfPosition(lon, lat int32) uint64 { return Hilbert(uint32(lon)+1<<31, uint32(lat)+1<<31) }

// HilbertPoint is the point at a place on the curve: At(Of(x, y)) is x, y.
func HilbertPoint(d uint64) (x, y uint32) {
	for shift := 0; shift < 64; shift += 2 {
		s := uint32(1) << (shift / 2)
		rx := uint32(d>>(shift+1)) & 1
		ry := (uint32(d>>shift) ^ rx) & 1
		if ry == 0 { // the quadrant was turned: see Of
			if rx == 1 {
				x, y = s-1-x, s-1-y
			}
			x, y = y, x
		}
		x, y = x+rx*s, y+ry*s
	}
	return x, y
}
