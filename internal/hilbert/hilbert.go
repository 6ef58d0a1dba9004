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
