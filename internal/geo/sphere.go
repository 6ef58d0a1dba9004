package geo

import "math"

// EarthRadius is the mean radius of the Earth in metres (IUGG).
const EarthRadius = 6_371_008.8

// MetresPerUnit is the length of 1e-7 degrees of latitude in metres.
const MetresPerUnit = math.Pi / 180 * 1e-7 * EarthRadius

// Distance returns the great-circle distance in metres between two positions in degrees.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	const degree = math.Pi / 180
	sinLat := sine((lat2 - lat1) * degree / 2)
	sinLon := sine((lon2 - lon1) * degree / 2)
	a := sinLat * sinLat
	// The product of the cosines of both latitudes, with a single call.
	a += ((math.Cos((lat1+lat2)*degree)+1)/2 - a) * sinLon * sinLon
	if a < 1e-6 { // up to 12 km the series of the arcsine is exact after two terms
		return 2 * EarthRadius * math.Sqrt(a) * (1 + a/6)
	}
	return 2 * EarthRadius * math.Asin(min(1, math.Sqrt(a)))
}

// sine is math.Sin, faster for small angles.
func sine(x float64) float64 {
	if square := x * x; square < 1e-4 { // the next term is below the precision of a float64
		return x * (1 - square/6*(1-square/20*(1-square/42)))
	}
	return math.Sin(x)
}
