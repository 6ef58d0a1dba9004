package roadgraph

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

const (
	unit        = math.Pi / 180 * 1e-7 // radians in 1e-7 degrees
	halfTurn    = 1_800_000_000        // 180°
	millimetres = 1000.0
	// polar is the latitude from which on a map on which meridians are parallel is too far from the truth: there it is
	// wrong by 0.1 m where a road is 100 m away.
	polar = 850_000_000
)

// plane is a flat map of the surroundings of a position, in metres east and north of it. Within the hundreds of
// metres it is used for it is right to a millimetre or so; near the poles to a centimetre.
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

// orthographic is where a place is seen from high above the plane's origin. It is right at any latitude, and slow.
func (p *plane) orthographic(lat, dLon float64) (x, y float64) {
	sinLat, cosLat := math.Sincos(lat * unit)
	sin0, cos0 := math.Sincos(p.lat * unit)
	sinLon, cosLon := math.Sincos(dLon * unit)
	return geo.EarthRadius * cosLat * sinLon, geo.EarthRadius * (cos0*sinLat - sin0*cosLat*cosLon)
}

// closest is the place on the line from (ax, ay) to (bx, by) that is nearest to the origin: as a share of the line, and
// its squared distance.
func closest(ax, ay, bx, by float64) (share, squared float64) {
	dx, dy := bx-ax, by-ay
	if n := dx*dx + dy*dy; n > 0 {
		share = min(max(-(ax*dx+ay*dy)/n, 0), 1)
	}
	x, y := ax+share*dx, ay+share*dy
	return share, x*x + y*y
}

// mayBeNearer reports whether a line may come as near to the origin as a squared distance: whether all of the straight
// line that it is a part of does. It spares closest, which divides.
func mayBeNearer(ax, ay, bx, by, squared float64) bool {
	dx, dy := bx-ax, by-ay
	cross := ax*dy - ay*dx
	return cross*cross <= squared*(dx*dx+dy*dy)*1.000001
}

// between is the position in degrees at a share of the line from one place to another. The ends are exact.
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

// betweenAtPole goes along the great circle: there the straight line of a map makes a long way round the pole.
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

// ruler measures the pieces of shapes around a latitude: the distance of package sphere, with a fraction of its work.
type ruler struct {
	lat, sin, cos float64
	polar         bool
}

func newRuler(lat int32) ruler {
	sin, cos := math.Sincos(float64(lat) * unit)
	return ruler{float64(lat), sin, cos, max(lat, -lat) > polar}
}

const (
	// rulerPiece, in 1e-7 degrees, is the longest piece that a ruler measures by itself: sines are then their angles.
	rulerPiece = 1 << 15
	// rulerReach, in radians, is how far from the ruler's latitude: the cosine is then the beginning of its series.
	rulerReach = 0.005
)

// distance in metres. It is that of package sphere to 1 part in 10^8.
func (r *ruler) distance(a, b position) float64 {
	north, east := float64(b.lat)-float64(a.lat), float64(b.lon)-float64(a.lon)
	d := (float64(a.lat) + north/2 - r.lat) * unit
	if math.Abs(north) > rulerPiece || math.Abs(east) > rulerPiece || math.Abs(d) > rulerReach {
		return geo.Distance(float64(a.lat)*1e-7, float64(a.lon)*1e-7, float64(b.lat)*1e-7, float64(b.lon)*1e-7)
	}
	cos := r.cos - d*(r.sin+d/2*(r.cos-d/3*r.sin))
	half := north * unit / 2
	return geo.MetresPerUnit * math.Sqrt(north*north+(cos*cos-half*half)*east*east)
}

// along measures a shape from its first point on: the pieces of its first words, and the one that follows them.
func (r *ruler) along(at position, words []uint32, skip int) (metres, piece float64) {
	for rest := len(words) - skip; ; {
		w := words[0]
		d := (float64(at.lat) - r.lat) * unit
		if w == farPoint || math.Abs(d) > rulerReach || r.polar {
			from := at
			words = at.next(words)
			piece = r.distance(from, at)
		} else {
			// As distance does it, of a piece whose steps are known to be short.
			north, east := float64(int16(w)), float64(int32(w)>>16)
			d += north / 2 * unit
			east *= r.cos - d*(r.sin+d/2*r.cos)
			piece = geo.MetresPerUnit * math.Sqrt(north*north+east*east)
			at.lat, at.lon = at.lat+int32(int16(w)), at.lon+int32(w)>>16
			words = words[1:]
		}
		if len(words) < rest {
			return metres, piece
		}
		metres += piece
	}
}
