package osrm

import (
	"math"
	"sync/atomic"
)

// limit is the smallest radius that OSRM has refused since the configuration was loaded, in metres; any of several
// upstreams. Its zero value is an OSRM that has refused none.
type limit struct{ bits atomic.Uint64 }

// refuses reports whether OSRM is known to refuse a radius.
func (l *limit) refuses(radius float64) bool {
	bits := l.bits.Load()
	return bits != 0 && radius >= math.Float64frombits(bits)
}

// lower makes known that OSRM refuses a radius. Of two that are found out at once either may stand; the other is then
// found out again.
func (l *limit) lower(radius float64) {
	if !l.refuses(radius) {
		l.bits.Store(math.Float64bits(radius))
	}
}
