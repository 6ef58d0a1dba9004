package network

import (
	"math"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/sphere"
)

// distance is the great-circle distance in metres between two nodes.
func distance(a, b Node) float64 {
	return sphere.Distance(float64(a.Lat)*1e-7, float64(a.Lon)*1e-7, float64(b.Lat)*1e-7, float64(b.Lon)*1e-7)
}

// bearing is the direction in which the great circle from a to b leaves a, in 2^24ths of a turn clockwise from north.
func bearing(a, b Node) uint32 {
	const unit = math.Pi / 180 * 1e-7
	sinA, cosA := math.Sincos(float64(a.Lat) * unit)
	sinLon, cosLon := math.Sincos(float64(sphere.Eastward(a.Lon, b.Lon)) * unit)
	sinB, cosB := math.Sincos(float64(b.Lat) * unit)
	turn := math.Atan2(sinLon*cosB, cosA*sinB-sinA*cosB*cosLon) / (2 * math.Pi)
	return uint32(int32(math.Round(turn*(1<<bearingBits)))) & bearingMask
}

// angle is the change of direction in units of 180/128 degrees, to the right, between two edges that leave a node at
// these bearings, for who comes by the first of them.
func angle(in, out uint32) int8 {
	const turn = 1 << bearingBits
	change := int32((out-in-turn/2)<<(32-bearingBits)) >> (32 - bearingBits) // in (-turn/2, turn/2]
	return int8(min(max((change+1<<15)>>16, -127), 127))
}

func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
