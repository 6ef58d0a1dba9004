package roadgraph

import "math"

// EarthRadius is the radius in metres of the sphere on which all lengths are measured.
const EarthRadius = 6371008.8

const (
	unit          = math.Pi / 180 * 1e-7 // radians in 1e-7 degrees
	metresPerUnit = unit * EarthRadius
	millimetres   = 1000.0
)

// Distance is the great-circle distance in metres between two positions in degrees.
func Distance(lat1, lon1, lat2, lon2 float64) float64 {
	const degree = math.Pi / 180
	sinLat := math.Sin((lat2 - lat1) * degree / 2)
	sinLon := math.Sin((lon2 - lon1) * degree / 2)
	a := sinLat*sinLat + math.Cos(lat1*degree)*math.Cos(lat2*degree)*sinLon*sinLon
	if a < 1e-6 { // up to 12 km the series of the arcsine is exact after two terms
		return 2 * EarthRadius * math.Sqrt(a) * (1 + a/6)
	}
	return 2 * EarthRadius * math.Asin(min(1, math.Sqrt(a)))
}

// plane is a flat map of the surroundings of a position, in metres east and north of it. Within the hundreds of metres it
// is used for it is right to a millimetre or so.
type plane struct {
	lat, lon float64 // of the origin, 1e-7 degrees
	perLon   float64 // metres in 1e-7 degrees of longitude; those of latitude are metresPerUnit
}

func newPlane(lat, lon float64) plane {
	return plane{lat: lat * 1e7, lon: lon * 1e7, perLon: metresPerUnit * math.Cos(lat*math.Pi/180)}
}

func (p *plane) xy(pt *Point) (x, y float64) {
	return (float64(pt.Lon) - p.lon) * p.perLon, (float64(pt.Lat) - p.lat) * metresPerUnit
}

// nearest is the place on the line from (ax, ay) to (bx, by) that is nearest to the origin: as a share of the line, and its
// squared distance.
func nearest(ax, ay, bx, by float64) (share, squared float64) {
	dx, dy := bx-ax, by-ay
	if n := dx*dx + dy*dy; n > 0 {
		share = min(max(-(ax*dx+ay*dy)/n, 0), 1)
	}
	x, y := ax+share*dx, ay+share*dy
	return share, x*x + y*y
}
