// Package sphere measures on the sphere that all lengths and distances of caddy-maps are on.
package sphere

import "math"

// Radius is the mean radius of the Earth in metres (IUGG).
const Radius = 6_371_008.8

// MetresPerUnit is the length of 1e-7 degrees of latitude in metres.
const MetresPerUnit = math.Pi / 180 * 1e-7 * Radius

// Distance is the great-circle distance in metres between two positions in degrees, the short way round.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	const degree = math.Pi / 180
	sinLat := math.Sin((lat2 - lat1) * degree / 2)
	sinLon := math.Sin((lon2 - lon1) * degree / 2)
	a := sinLat*sinLat + math.Cos(lat1*degree)*math.Cos(lat2*degree)*sinLon*sinLon
	if a < 1e-6 { // up to 12 km the series of the arcsine is exact after two terms
		return 2 * Radius * math.Sqrt(a) * (1 + a/6)
	}
	return 2 * Radius * math.Asin(min(1, math.Sqrt(a)))
}
