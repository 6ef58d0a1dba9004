package geocodingeval

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Bars of Lookups, which are those of 10,000 lookups in 64 maps of greater Porto side by side.
const (
	mostRead       = 120 << 20 // bytes
	mostFirstPass  = 100 * time.Microsecond
	positionTries  = 10_000 // for one position that the region covers
	lookupRequests = 10_000
)

// Lookups opens a region file and asks for 10,000 random positions that it covers, for 5 results each with their
// addresses, and then for the same ones again. It prints how much of the file the first pass has read and how long
// requests took in each. What the file is of is known to the caller, and so the bars may not be meant for it: it
// returns a Missed where one is missed.
func Lookups(ctx context.Context, w io.Writer, path string, seed uint64) error {
	points, err := coveredPositions(path, seed)
	if err != nil {
		return err
	}
	f, err := region.Open(path)
	if err != nil {
		return err
	}
	defer f.Release()
	index, err := geocoding.Open(f)
	if err != nil {
		return err
	}
	before := f.Read()
	first, err := lookUp(ctx, index, points)
	if err != nil {
		return err
	}
	read := f.Read() - before
	again, err := lookUp(ctx, index, points)
	if err != nil {
		return err
	}
	t := table{out: w, name: path}
	t.heading("%d lookups of 5 results each in %s", len(points), path)
	t.row(noMore("read from the file, kB", int(read>>10), mostRead>>10))
	t.row(atMost("first pass, p50", first[len(first)/2], 0, false))
	t.row(atMost("first pass, p99", first[len(first)*99/100], mostFirstPass, true))
	t.row(atMost("again, p50", again[len(again)/2], 0, false))
	t.row(atMost("again, p99", again[len(again)*99/100], 0, false))
	return t.missed.err()
}

// coveredPositions draws positions. It opens the file for itself, so that nothing of what is measured has been read.
func coveredPositions(path string, seed uint64) ([]orb.Point, error) {
	f, err := region.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	info, err := f.Info()
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 10))
	b := info.Bounds
	var points []orb.Point
	for tries := 0; len(points) < lookupRequests; tries++ {
		if tries > positionTries*(len(points)+1) {
			return nil, fmt.Errorf("%s covers hardly anything within its bounds", path)
		}
		p := orb.Point{b.MinLon + rng.Float64()*(b.MaxLon-b.MinLon), b.MinLat + rng.Float64()*(b.MaxLat-b.MinLat)}
		if f.Covers(p) {
			points = append(points, p)
		}
	}
	return points, nil
}

// lookUp asks for positions one after the other, and returns how long each took, in ascending order.
func lookUp(ctx context.Context, index *geocoding.Index, points []orb.Point) ([]time.Duration, error) {
	req := geocoding.Request{Size: geocoding.MaxSize, MaxDistance: geocoding.DefaultMaxDistance,
		Into: new(geocoding.Result)}
	times := make([]time.Duration, len(points))
	for i, p := range points {
		req.Point = p
		began := time.Now()
		if _, err := index.Reverse(ctx, &req); err != nil {
			return nil, err
		}
		times[i] = time.Since(began)
	}
	slices.Sort(times)
	return times, nil
}
