package valhalla

import (
	"math"
	"sync/atomic"
)

// limit is the largest search radius that the service is known to accept, in metres. The zero value means that none was
// refused.
type limit struct{ bits atomic.Uint64 }

// get returns the limit: infinite if it is unknown, and 0 if the service accepts only its own default.
func (l *limit) get() float64 {
	if bits := l.bits.Load(); bits != 0 {
		return math.Float64frombits(bits) - 1
	}
	return math.Inf(1)
}

// lower records a limit, and reports whether it is lower than before. The bits are those of the limit plus 1, so that
// they are never 0.
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

// usualLimits are Valhalla's default limit, its default radius, and no radius in the request
// (scripts/valhalla_build_config: service_limits.trace.max_search_radius, meili.default.search_radius).
var usualLimits = []float64{100, leastRadius, 0}

// lowerLimit returns the radius to try after one was refused; ok is false if nothing is left.
func lowerLimit(largest float64) (lower float64, ok bool) {
	for _, usual := range usualLimits {
		if usual < largest {
			return usual, true
		}
	}
	return 0, false
}
