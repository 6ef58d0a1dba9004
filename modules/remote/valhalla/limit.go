package valhalla

import (
	"math"
	"sync/atomic"
)

// limit is the largest search radius that a service takes, in metres, as far as that is known. Its zero value is a
// service that has refused none.
type limit struct{ bits atomic.Uint64 }

// get returns the limit: infinite where it is not known, and 0 where the service takes none but its own.
func (l *limit) get() float64 {
	if bits := l.bits.Load(); bits != 0 {
		return math.Float64frombits(bits) - 1
	}
	return math.Inf(1)
}

// lower makes it known, and reports whether that is less than was known before. One metre more than a limit is never 0
// bits.
func (l *limit) lower(metres float64) bool {
	for {
		bits := l.bits.Load()
		if bits != 0 && math.Float64frombits(bits)-1 <= metres {
			return false
		}
		if l.bits.CompareAndSwap(bits, math.Float64bits(metres+1)) {
			return true
		}
	}
}

// usualLimits are those of Valhalla's own configuration, and that of its search where a request says nothing
// (scripts/valhalla_build_config: service_limits.trace.max_search_radius, meili.default.search_radius).
var usualLimits = []float64{100, leastRadius, 0}

// lowerLimit is what to try when so many metres were refused; ok is false when nothing is left to try.
func lowerLimit(asked float64) (lower float64, ok bool) {
	for _, usual := range usualLimits {
		if usual < asked {
			return usual, true
		}
	}
	return 0, false
}
