package remote

import (
	"fmt"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestNear: a drive that no road could explain is refused, and one that a ferry or a fjord does is not.
func TestNear(t *testing.T) {
	type line = []orb.Point
	oslo, moss := orb.Point{10.7, 59.9}, orb.Point{10.66, 59.43}
	for _, tt := range []struct {
		name     string
		trace    line // and where its points are snapped to, unless snapped says so
		snapped  line
		geometry line
		near     bool
	}{
		{"a street", line{oslo, {10.701, 59.9}}, nil, line{oslo, {10.701, 59.9}}, true},
		{"a loop", line{oslo, {10.72, 59.9}, oslo}, nil, line{oslo, {10.72, 59.9}, oslo}, true},
		{"a ferry of one edge", line{{10.7, 59.9}, {12, 57}, {12.6, 55.7}}, nil, line{oslo, {12.6, 55.7}}, true},
		{"around a fjord", line{{6.9, 61}, {7, 61.02}}, nil, line{{6.9, 61}, {7.5, 61.1}, {7, 61.02}}, true},
		{"across the antimeridian", line{{179.99, -16.8}, {-179.99, -16.8}}, nil,
			line{{179.99, -16.8}, {-179.99, -16.8}}, true},
		{"three decimals", line{{10.70049, 59.90049}, {10.71049, 59.9}}, nil, line{{10.7, 59.9}, {10.71, 59.9}}, true},
		{"a polyline of another precision", line{oslo, moss}, nil, line{{1.07, 5.99}, {1.066, 5.943}}, false},
		{"exchanged coordinates", line{oslo, moss}, nil, line{{59.9, 10.7}, {59.43, 10.66}}, false},
		{"exchanged, snapped places too", line{oslo, moss}, line{{59.9, 10.7}, {59.43, 10.66}},
			line{{59.9, 10.7}, {59.43, 10.66}}, false},
		{"another order", line{oslo, moss}, nil, line{moss, {10.68, 59.65}, oslo}, false},
		{"only the beginning", line{oslo, moss}, nil, line{oslo, {10.69, 59.8}}, false},
		{"a detour by Paris", line{oslo, moss}, nil, line{oslo, {2.35, 48.86}, moss}, false},
		{"snapped 1,050 m away", line{oslo}, line{{10.7, 59.90944}}, line{{10.7, 59.90944}}, true},
		{"snapped 1,200 m away", line{oslo}, line{{10.7, 59.91079}}, line{{10.7, 59.91079}}, false},
	} {
		req := &matching.Request{MaxRadius: 100}
		var points []string
		if tt.snapped == nil {
			tt.snapped = tt.trace
		}
		for i, p := range tt.trace {
			req.Points = append(req.Points, trace.At(p[1], p[0]))
			points = append(points, fmt.Sprintf(`{"matchings_index":0,"location":[%v,%v]}`, tt.snapped[i][0], tt.snapped[i][1]))
		}
		geometry := strings.ReplaceAll(fmt.Sprint(tt.geometry), " ", ",")
		d, err := Read([]byte(`{"code":"Ok","matchings":[{"geometry":{"coordinates":`+geometry+`}}],"tracepoints":[`+
			strings.Join(points, ",")+`]}`), len(points))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Matchings(req, sent(len(points))); (err == nil) != tt.near {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestTimeAllowsLength: what took hours between two points may be long.
func TestTimeAllowsLength(t *testing.T) {
	for hours, near := range map[float64]bool{1: false, 12: true} {
		from, to := trace.At(59.9, 10.7), trace.At(59.9, 10.71)
		from.Time, to.Time = 0, 3600*hours
		req := &matching.Request{MaxRadius: 100, Points: []trace.Point{from, to}}
		d := Document{
			parts:  []part{{path: orb.LineString{from.Location, {2.35, 52}, to.Location}}},
			points: []tracepoint{{location: from.Location}, {location: to.Location}},
		}
		if _, err := d.Matchings(req, sent(2)); (err == nil) != near {
			t.Errorf("%v hours: %v", hours, err)
		}
	}
}
