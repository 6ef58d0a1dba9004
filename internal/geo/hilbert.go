package geo

// Hilbert returns the place of a point on the Hilbert curve over a square of 2^32 by 2^32. Points near each other are
// mostly near on the curve.
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

// steps maps an orientation of a quadrant, four bits of x and four of y to the next eight bits of the place on the
// curve and, above them, the next orientation.
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

// HilbertOfPosition returns the place on the curve of a longitude and a latitude in 1e-7 degrees.
func HilbertOfPosition(lon, lat int32) uint64 { return Hilbert(uint32(lon)+1<<31, uint32(lat)+1<<31) }

// HilbertPoint returns the point at a place on the curve. It is the inverse of Hilbert.
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
