package geo

const (
	halfTurn = 1_800_000_000 // 180° in 1e-7 degrees
	turn     = 2 * halfTurn
)

// Eastward returns how far east of one longitude another one lies, the short way round; negative to the west. All are
// in 1e-7 degrees.
func Eastward(from, to int32) int32 { return Longitude(int64(to) - int64(from)) }

// Longitude normalizes a longitude in 1e-7 degrees, or a difference of two, to -180° to 180°. It may be off by one
// turn.
func Longitude(lon int64) int32 {
	if lon > halfTurn {
		lon -= turn
	} else if lon < -halfTurn {
		lon += turn
	}
	return int32(lon)
}

// LongitudeDegrees is Longitude in degrees.
func LongitudeDegrees(lon float64) float64 {
	if lon > 180 {
		return lon - 360
	}
	if lon < -180 {
		return lon + 360
	}
	return lon
}
