package speed

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/dataset/datasettest"
)

func town() (*roadgraphtest.Town, []orb.LineString) {
	t := &roadgraphtest.Town{}
	t.Street("Long", 0, 0, 1000, 0)
	trip := func(y float64) (l orb.LineString) {
		for x := 100.0; x < 1000; x += 100 {
			l = append(l, roadgraphtest.At(x, y))
		}
		return l
	}
	return t, []orb.LineString{trip(3), trip(-4), trip(9000)}
}

func TestMeasure(t *testing.T) {
	data, trips := town()
	m := matching.New(data.Open(t), matching.Options{})
	procs := runtime.GOMAXPROCS(0)
	r, err := Measure(context.Background(), m, trips, 3)
	if err != nil {
		t.Fatal(err)
	}
	if r.Trips != 3 || r.Points != 27 || r.Failed != 1 {
		t.Errorf("%+v", r)
	}
	if r.PointsPerSecond <= 0 || r.Fastest < r.PointsPerSecond || r.P50 <= 0 || r.P99 < r.P50 {
		t.Errorf("%+v", r)
	}
	if n := runtime.GOMAXPROCS(0); n != procs {
		t.Errorf("GOMAXPROCS is %d after it, and was %d", n, procs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, m, trips, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if r, err := Measure(context.Background(), m, nil, 1); err != nil || r.Points != 0 {
		t.Errorf("no trips: %+v, %v", r, err)
	}
}

func TestScale(t *testing.T) {
	testkit.Whole(t)
	_, trips := town()
	path, dir := datasettest.PBF(t, nil, []orb.Point{roadgraphtest.At(0, 0), roadgraphtest.At(1000, 0)}), t.TempDir()
	one, country, err := Scale(t.Context(), testregion.InProcess, path, 8, trips[:2], 1, dir)
	if err != nil {
		t.Fatal(err)
	}
	if one.Copies != 1 || country.Copies != 8 || one.Trips != repeats*2 || country.Trips != one.Trips {
		t.Errorf("%+v, %+v", one, country)
	}
	if one.Failed != 0 || country.Failed != 0 {
		t.Errorf("%d and %d trips without an answer", one.Failed, country.Failed)
	}
	if country.Build.Region <= one.Build.Region || country.Build.Took <= 0 || country.Build.Anonymous <= 0 {
		t.Errorf("%+v, and %+v for one", country.Build, one.Build)
	}
	if _, _, err := Scale(t.Context(), testregion.InProcess, path, 1<<30, trips, 1, dir); err == nil {
		t.Error("a country that goes round the world")
	}
}

func TestSpreadVisitsAllCopies(t *testing.T) {
	_, trips := town()
	for _, copies := range []int{1, 2, 7, 12} {
		visited := map[int]int{}
		for i, trip := range spread(trips, copies, &dataset.Grid{PerRow: 100, East: 1}) {
			original := trips[i%len(trips)]
			if len(trip) != len(original) {
				t.Fatalf("trip %d has %d positions", i, len(trip))
			}
			by := trip[0].Lon() - original[0].Lon()
			visited[int(by+0.5)]++
		}
		if len(visited) != copies {
			t.Errorf("%d of %d copies are visited", len(visited), copies)
		}
	}
}

func TestQuantile(t *testing.T) {
	v := []int{1, 2, 3, 4, 5}
	if quantile(v, 0) != 1 || quantile(v, 0.5) != 3 || quantile(v, 0.99) != 5 || quantile(v, 1) != 5 {
		t.Error(quantile(v, 0), quantile(v, 0.5), quantile(v, 0.99), quantile(v, 1))
	}
}
