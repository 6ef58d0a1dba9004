package osrm

import (
	"math"
	"sync/atomic"
)

// limit is the smallest radius that any upstream has refused since the configuration was loaded, in metres. The zero
// value means that none was refused.
type limit struct{ bits atomic.Uint64 }

// refuses reports whether OSRM has refused this radius or a smaller one.
func (l *limit) refuses(radius float64) bool {
	bits := l.bits.Load()
	return bits != 0 && radius >= math.Float64frombits(bits)
}

// lower records that OSRM refuses a radius. If two are recorded at once, either may win.
func (l *limit) lower(radius float64) {
	if !l.refuses(radius) {
		l.bits.Store(math.Float64bits(radius))
	}
}
