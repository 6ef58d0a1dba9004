package geo

const (
	halfTurn = 1_800_000_000 // 180° in 1e-7 degrees
	turn     = 2 * halfTurn
)

// Eastward is how far east of one longitude another one lies, the short way round; negative where it lies west. All
// are in 1e-7 degrees.
func Eastward(from, to int32) int32 { return Longitude(int64(to) - int64(from)) }

// Longitude is a longitude in 1e-7 degrees, or a difference of two, that lies at most one turn beyond -180° to 180°,
// brought back into them.
func Longitude(lon int64) int32 {
	if lon > halfTurn {
		lon -= turn
	} else if lon < -halfTurn {
		lon += turn
	}
	return int32(lon)
}

// LongitudeDegrees is the same in degrees.
func LongitudeDegrees(lon float64) float64 {
	if lon > 180 {
		return lon - 360
	}
	if lon < -180 {
		return lon + 360
	}
	return lon
}
