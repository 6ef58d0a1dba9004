package roadgraph

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

const (
	unit        = math.Pi / 180 * 1e-7 // radians in 1e-7 degrees
	halfTurn    = 1_800_000_000        // 180°
	millimetres = 1000.0
	// polar is the latitude beyond which an equirectangular projection is too inexact: 0.1 m wrong at 100 m.
	polar = 850_000_000
)

// plane is a flat map around a position, in metres east and north of it. Within some hundred metres its error is about
// a millimetre; near the poles a centimetre.
type plane struct {
	lat, lon float64 // of the origin, 1e-7 degrees
	perLon   float64 // metres in 1e-7 degrees of longitude; those of latitude are geo.MetresPerUnit
	polar    bool
}

func newPlane(lat, lon float64) plane {
	return plane{lat: lat * 1e7, lon: lon * 1e7, perLon: geo.MetresPerUnit * math.Cos(lat*math.Pi/180),
		polar: math.Abs(lat*1e7) > polar}
}

func (p *plane) xy(at position) (x, y float64) {
	dx := float64(at.lon) - p.lon
	if math.Abs(dx) > halfTurn {
		dx -= math.Copysign(2*halfTurn, dx)
	}
	if p.polar {
		return p.orthographic(float64(at.lat), dx)
	}
	return dx * p.perLon, (float64(at.lat) - p.lat) * geo.MetresPerUnit
}

// orthographic is the orthographic projection around the plane's origin. It works at any latitude, but is slow.
func (p *plane) orthographic(lat, dLon float64) (x, y float64) {
	sinLat, cosLat := math.Sincos(lat * unit)
	sin0, cos0 := math.Sincos(p.lat * unit)
	sinLon, cosLon := math.Sincos(dLon * unit)
	return geo.EarthRadius * cosLat * sinLon, geo.EarthRadius * (cos0*sinLat - sin0*cosLat*cosLon)
}

// closest finds the point nearest to the origin on the line from (ax, ay) to (bx, by): as a share of the line, and its
// squared distance.
func closest(ax, ay, bx, by float64) (share, squared float64) {
	dx, dy := bx-ax, by-ay
	if n := dx*dx + dy*dy; n > 0 {
		share = min(max(-(ax*dx+ay*dy)/n, 0), 1)
	}
	x, y := ax+share*dx, ay+share*dy
	return share, x*x + y*y
}

// mayBeNearer reports whether the infinite line through a and b comes as near to the origin as a squared distance. It
// is a cheap test before closest, which divides.
func mayBeNearer(ax, ay, bx, by, squared float64) bool {
	dx, dy := bx-ax, by-ay
	cross := ax*dy - ay*dx
	return cross*cross <= squared*(dx*dx+dy*dy)*1.000001
}

// between interpolates between two positions, in degrees. The ends are exact.
func between(a, b position, share float64) (lat, lon float64) {
	if max(a.lat, b.lat) > polar || min(a.lat, b.lat) < -polar {
		if share > 0 && share < 1 {
			return betweenAtPole(a, b, share)
		}
	}
	switch share {
	case 0:
		return float64(a.lat) / 1e7, float64(a.lon) / 1e7
	case 1:
		return float64(b.lat) / 1e7, float64(b.lon) / 1e7
	}
	aLat, aLon := float64(a.lat)/1e7, float64(a.lon)/1e7
	lat = aLat + share*(float64(b.lat)/1e7-aLat)
	lon = aLon + share*geo.LongitudeDegrees(float64(b.lon)/1e7-aLon)
	return lat, geo.LongitudeDegrees(lon)
}

// betweenAtPole interpolates along the great circle: the line of the map would be a long way round the pole.
func betweenAtPole(a, b position, share float64) (lat, lon float64) {
	sinA, cosA := math.Sincos(float64(a.lat) * unit)
	sinB, cosB := math.Sincos(float64(b.lat) * unit)
	sinLonA, cosLonA := math.Sincos(float64(a.lon) * unit)
	sinLonB, cosLonB := math.Sincos(float64(b.lon) * unit)
	x := cosA*cosLonA + share*(cosB*cosLonB-cosA*cosLonA)
	y := cosA*sinLonA + share*(cosB*sinLonB-cosA*sinLonA)
	z := sinA + share*(sinB-sinA)
	return math.Atan2(z, math.Hypot(x, y)) * 180 / math.Pi, math.Atan2(y, x) * 180 / math.Pi
}

// ruler measures segments near a latitude: like package sphere, with a fraction of its work.
type ruler struct {
	lat, sin, cos float64
	polar         bool
}

func newRuler(lat int32) ruler {
	sin, cos := math.Sincos(float64(lat) * unit)
	return ruler{float64(lat), sin, cos, max(lat, -lat) > polar}
}

const (
	// rulerSegment is the longest segment, in 1e-7 degrees, for which a sine is taken for its angle.
	rulerSegment = 1 << 15
	// rulerReach is the farthest, in radians, from the ruler's latitude for which the series of the cosine is cut off.
	rulerReach = 0.005
)

// distance returns metres. It differs from package sphere by less than 1 part in 10^8.
func (r *ruler) distance(a, b position) float64 {
	north, east := float64(b.lat)-float64(a.lat), float64(b.lon)-float64(a.lon)
	d := (float64(a.lat) + north/2 - r.lat) * unit
	if math.Abs(north) > rulerSegment || math.Abs(east) > rulerSegment || math.Abs(d) > rulerReach {
		return geo.Distance(float64(a.lat)*1e-7, float64(a.lon)*1e-7, float64(b.lat)*1e-7, float64(b.lon)*1e-7)
	}
	cos := r.cos - d*(r.sin+d/2*(r.cos-d/3*r.sin))
	half := north * unit / 2
	return geo.MetresPerUnit * math.Sqrt(north*north+(cos*cos-half*half)*east*east)
}

// along measures a shape: the metres of the segments in the first skip words, and those of the next segment.
func (r *ruler) along(at position, words []uint32, skip int) (metres, segment float64) {
	for rest := len(words) - skip; ; {
		w := words[0]
		d := (float64(at.lat) - r.lat) * unit
		if w == farPoint || math.Abs(d) > rulerReach || r.polar {
			from := at
			words = at.next(words)
			segment = r.distance(from, at)
		} else {
			// Like distance, for a segment that is known to be short.
			north, east := float64(int16(w)), float64(int32(w)>>16)
			d += north / 2 * unit
			east *= r.cos - d*(r.sin+d/2*r.cos)
			segment = geo.MetresPerUnit * math.Sqrt(north*north+east*east)
			at.lat, at.lon = at.lat+int32(int16(w)), at.lon+int32(w)>>16
			words = words[1:]
		}
		if len(words) < rest {
			return metres, segment
		}
		metres += segment
	}
}
