package extract

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/paulmach/orb"
)

// locations maps the ids of the needed nodes to their positions: sixteen bytes a node, filled concurrently.
type locations struct {
	ids []int64 // sorted, unique
	// packed holds for each id latitude and longitude in 1e-7 degrees, both shifted to be positive; 0 is unknown.
	packed []uint64
	// buckets[i] is the first index whose id is at least ids[0] + i<<shift: a binary search over few ids instead of all.
	buckets []int32
	shift   uint
}

// newLocations takes ownership of ids, in any order and with repetitions.
func newLocations(ids []int64) *locations {
	slices.Sort(ids)
	ids = slices.Clone(slices.Compact(ids)) // the repetitions are most of it, and need not stay
	l := &locations{ids: ids, packed: make([]uint64, len(ids))}
	if len(ids) == 0 {
		return l
	}
	span := uint64(ids[len(ids)-1]) - uint64(ids[0])
	for span>>l.shift > uint64(len(ids)/4) {
		l.shift++
	}
	l.buckets = make([]int32, span>>l.shift+2)
	b := uint64(0)
	for i, id := range ids {
		for ; b <= (uint64(id)-uint64(ids[0]))>>l.shift; b++ {
			l.buckets[b] = int32(i)
		}
	}
	for ; b < uint64(len(l.buckets)); b++ {
		l.buckets[b] = int32(len(ids))
	}
	return l
}

// find returns the index of a node, or -1.
func (l *locations) find(id int64) int32 {
	if len(l.ids) == 0 || id < l.ids[0] || id > l.ids[len(l.ids)-1] {
		return -1
	}
	b := (uint64(id) - uint64(l.ids[0])) >> l.shift
	lo, hi := l.buckets[b], l.buckets[b+1]
	if i, ok := slices.BinarySearch(l.ids[lo:hi], id); ok {
		return lo + int32(i)
	}
	return -1
}

// set records a position. Of several for one node (overlapping extracts of different days) the greatest stays, so that the
// result does not depend on the order of calls, which is not fixed.
func (l *locations) set(i int32, lat, lon int32) {
	v := uint64(int64(lat)+maxLat7+1)<<32 | uint64(int64(lon)+maxLon7)
	for {
		old := atomic.LoadUint64(&l.packed[i])
		if old >= v || atomic.CompareAndSwapUint64(&l.packed[i], old, v) {
			return
		}
	}
}

// known says whether the extract has the node.
func (l *locations) known(i int32) bool { return l.packed[i] != 0 }

// at returns the position in 1e-7 degrees.
func (l *locations) at(i int32) (lat, lon int32) {
	v := l.packed[i]
	return int32(int64(v>>32) - maxLat7 - 1), int32(int64(v&math.MaxUint32) - maxLon7)
}

// point returns the position in degrees.
func (l *locations) point(i int32) orb.Point {
	lat, lon := l.at(i)
	return toPoint(lat, lon)
}

const (
	maxLat7 = 90_0000000
	maxLon7 = 180_0000000
)

func toPoint(lat, lon int32) orb.Point { return orb.Point{float64(lon) / 1e7, float64(lat) / 1e7} }

// toFixed converts degrees to 1e-7 degrees; false if they are no position on earth.
func toFixed(lat, lon float64) (lat7, lon7 int32, ok bool) {
	if !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180) {
		return 0, 0, false
	}
	return int32(math.Round(lat * 1e7)), int32(math.Round(lon * 1e7)), true
}
