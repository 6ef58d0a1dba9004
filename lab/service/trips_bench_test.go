package service_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/matching"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const tripsSite = `
	handle /plain {
		respond "hello"
	}
	handle /api/route/matching/ {
		maps_auth DIRECTION {
			error_style routing
		}
		maps_match {
			matcher local here
		}
	}
	handle /api/v1/service-accounts {
		maps_accounts
	}
	handle /api/v1/external/* {
		maps_tokens
	}
`

// BenchmarkTrips measures traces with a point every 15 s through the whole server on one core: maps_auth, JSON in and out,
// over loopback HTTP with keep-alive, in turns with `respond`. The traces are the recorded trips of MAPS_BENCH_DATA, or drives
// that are simulated in Delaware.
func BenchmarkTrips(b *testing.B) {
	network, lines := trips(b)
	bodies, points := make([][]byte, len(lines)), 0
	for i, line := range lines {
		bodies[i] = jsonBody(line)
		points += len(line)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := modulestest.Start(b, modulestest.Config{Site: tripsSite, Maps: "region here " + network, Level: "INFO", NoAccessLog: true})
	_, token := s.Token("acme", "DIRECTION")
	plain, matching := s.Dial("/plain", token), s.DialPost("/api/route/matching/", token, bodies)
	plain.Run(2000)
	matching.Run(len(bodies))
	var plains, matched []float64
	for b.Loop() {
		const round = 1000
		plains = append(plains, round/plain.Run(round).Seconds())
		matched = append(matched, float64(len(bodies))/matching.Run(len(bodies)).Seconds())
	}
	respond, perSecond := median(plains), median(matched)
	b.ReportMetric(perSecond*float64(points)/float64(len(bodies)), "points/s")
	b.ReportMetric(perSecond, "trips/s")
	b.ReportMetric(perSecond/respond, "trips/respond")
	b.ReportMetric(0, "ns/op")
}

// trips returns the path of a region file and traces on its roads.
func trips(b *testing.B) (region string, lines []orb.LineString) {
	b.Helper()
	ctx := context.Background()
	data, given := os.Getenv("MAPS_BENCH_DATA"), ""
	var path string
	var err error
	if data == "" {
		path, err = dataset.Delaware(ctx)
	} else {
		path, _, given = dataset.Porto(data)
	}
	if err != nil {
		b.Fatal(err)
	}
	region = filepath.Join(b.TempDir(), "here.region")
	if _, err := compiler.Build(ctx, compiler.Options{Inputs: []string{path}, Output: region}); err != nil {
		b.Fatal(err)
	}
	if given != "" {
		lines, err = drives.ReadTrips(given)
	} else {
		lines, err = simulated(ctx, b, path)
	}
	if err != nil {
		b.Fatal(err)
	}
	return region, lines
}

// simulated drives with a position every 15 s.
func simulated(ctx context.Context, b *testing.B, path string) (lines []orb.LineString, err error) {
	network, err := dataset.Compile(ctx, testregion.InProcess, path, b.TempDir())
	if err != nil {
		return nil, err
	}
	defer network.Close()
	all, err := drives.Recipe{}.Simulate(ctx, network.Graph, 20, 1)
	for _, d := range all {
		if d.Interval == 15 {
			lines = append(lines, d.Trace)
		}
	}
	return lines, err
}

func jsonBody(line orb.LineString) []byte {
	text := []byte(`{"path":[`)
	for i, p := range line {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, `{"lat":`...)
		text = strconv.AppendFloat(text, p.Lat(), 'f', 6, 64)
		text = append(text, `,"lng":`...)
		text = strconv.AppendFloat(text, p.Lon(), 'f', 6, 64)
		text = append(text, '}')
	}
	return append(text, "]}"...)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
