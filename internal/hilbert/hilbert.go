// Package hilbert orders positions along a Hilbert curve over the whole Earth, so that what is near on the ground is
// near in a file.
package hilbert

// Of is the place on the curve of a point of a square of 2^32 by 2^32.
func Of(x, y uint32) uint64 {
	var d uint64
	for s := uint32(1) << 31; s > 0; s >>= 1 {
		var rx, ry uint32
		if x&s != 0 {
			rx = 1
		}
		if y&s != 0 {
			ry = 1
		}
		d += uint64(s) * uint64(s) * uint64(3*rx^ry)
		if ry == 0 { // turn the quadrant so that the curve in it starts where the one before ended
			if rx == 1 {
				x, y = ^x, ^y
			}
			x, y = y, x
		}
	}
	return d
}

// OfPosition is the place on the curve of a longitude and a latitude in 1e-7 degrees.
func OfPosition(lon, lat int32) uint64 { return Of(uint32(lon)+1<<31, uint32(lat)+1<<31) }

// At is the point at a place on the curve: At(Of(x, y)) is x, y.
func At(d uint64) (x, y uint32) {
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
