package integration

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	regionfile "github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// profileTraces are traces on real roads, with whom they fit.
type profileTraces struct {
	networks matching.Networks
	traces   []profileTrace
}

type profileTrace struct {
	kind   string
	line   [][2]float64 // latitude, longitude
	length float64      // metres
	fits   map[matching.Profile]bool
}

// Lengths of the roads that traces are made of, in metres.
const (
	shortTrace = 150
	longTrace  = 600
	// lonely is how far other roads have to be from a road that one profile has for itself.
	lonely = 150
)

// newProfileTraces looks through Delaware's networks for one-way streets on which walkers may go against the traffic,
// and for paths far from any road for cars.
func newProfileTraces(t *testing.T, n int) *profileTraces {
	t.Helper()
	file, err := regionfile.Open(region)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Release)
	p := &profileTraces{}
	if p.networks, err = matching.OpenNetworks(file); err != nil {
		t.Fatal(err)
	}
	car, foot := p.networks[matching.Car], p.networks[matching.Foot]
	p.collect(car, n, func(s *roadgraph.Edge, line []orb.Point) *profileTrace {
		oneWay := s.Flags.Has(roadgraph.Forward) && !s.Flags.Has(roadgraph.Backward) && !s.Flags.Has(roadgraph.Roundabout)
		if !oneWay || s.Class > regionfile.Service || !p.along(foot, line) {
			return nil
		}
		return &profileTrace{kind: "against a one-way", fits: map[matching.Profile]bool{matching.Foot: true}}
	})
	p.collect(foot, n, func(s *roadgraph.Edge, line []orb.Point) *profileTrace {
		if speed := float64(s.Length) / float64(s.Arcs[0].Duration) * 3.6; speed < 4.9 { // sand
			return nil
		}
		for _, at := range line {
			if len(car.Near(at.Lat(), at.Lon(), lonely, nil)) > 0 {
				return nil
			}
		}
		fits := map[matching.Profile]bool{matching.Foot: true}
		if p.along(p.networks[matching.Bicycle], line) {
			fits[matching.Bicycle] = true
		}
		return &profileTrace{kind: "on a path", fits: fits}
	})
	return p
}

// along reports whether a network has roads under all of a line.
func (p *profileTraces) along(g *roadgraph.Graph, line []orb.Point) bool {
	for _, at := range line {
		if len(g.Near(at.Lat(), at.Lon(), 1, nil)) == 0 {
			return false
		}
	}
	return true
}

// collect makes up to n traces of segments that wanted likes, each from the end of the segment to its beginning.
func (p *profileTraces) collect(g *roadgraph.Graph, n int, wanted func(*roadgraph.Edge, []orb.Point) *profileTrace) {
	for i := range g.Edges() {
		if n == 0 {
			return
		}
		s := g.Edge(i)
		length := float64(s.Length) / 1000
		if length < shortTrace || length > longTrace {
			continue
		}
		var line []orb.Point
		for at := length - 10; at > 0; at -= 25 {
			line = append(line, g.At(i, at))
		}
		trace := wanted(&s, line)
		if trace == nil {
			continue
		}
		for _, at := range line {
			trace.line = append(trace.line, [2]float64{at.Lat(), at.Lon()})
		}
		trace.length = 25 * float64(len(line)-1)
		p.traces = append(p.traces, *trace)
		n--
	}
}

// Each profile finds the drives of its own network, through HTTP in either way to say which.
func TestProfiles(t *testing.T) {
	const each = 12
	s := sharedServer(t)
	user := s.userToken(t, "profiles")
	acc := s.create(t, user, nil)
	token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	p := newProfileTraces(t, each)
	if len(p.traces) != 2*each {
		t.Fatalf("only %d traces", len(p.traces))
	}
	found := map[string]int{}
	for _, trace := range p.traces {
		for _, profile := range matching.Profiles() {
			a := s.send(t, call{path: matchPath(trace.line, "&details=true&profile="+profile.String()), bearer: token})
			posted := s.send(t, call{method: "POST", path: match, bearer: token, contentType: jsonType,
				body: fmt.Sprintf(`{"path":%s,"details":true,"profile":%q}`, jsonPath(trace.line), profile)})
			if a.status != posted.status || string(a.body) != string(posted.body) {
				t.Errorf("%s by %v: GET %d %.200s, POST %d %.200s", trace.kind, profile, a.status, a.body, posted.status,
					posted.body)
			}
			if a.status != 200 {
				a.want(404)
				continue
			}
			var drive struct {
				Coordinates        [][2]float64 `json:"coordinates"`
				Distance, Duration float64
			}
			a.into(&drive)
			if !trace.isDrive(drive.Coordinates, drive.Distance) {
				continue
			}
			if !trace.fits[profile] {
				t.Errorf("%s at %v: %v goes there: %.300s", trace.kind, trace.line[0], profile, a.body)
			}
			found[fmt.Sprint(trace.kind, " ", profile)]++
			if speed := drive.Distance / drive.Duration * 3.6; profile == matching.Foot && math.Abs(speed-5) > 0.2 {
				t.Errorf("%s at %v: on foot at %v km/h", trace.kind, trace.line[0], speed)
			}
		}
	}
	for _, kind := range []string{"against a one-way foot", "on a path foot"} {
		if found[kind] != each {
			t.Errorf("%s: %d of %d drives are found", kind, found[kind], each)
		}
	}
	t.Log(found)

	for query, says := range map[string]string{
		"&profile=bus": "profile: must be car, bicycle or foot", "&profile=": "profile: must be car, bicycle or foot",
		"&profile=car&profile=car": "profile: appears more than once",
	} {
		a := s.send(t, call{path: matchPath(dover, query), bearer: token}).want(422)
		if !strings.Contains(string(a.body), says) {
			t.Errorf("%s: %s", query, a.body)
		}
	}
}

// isDrive reports whether an answer is the trace itself.
func (p *profileTrace) isDrive(line [][2]float64, distance float64) bool {
	near := func(a, b [2]float64) bool { return geo.Distance(a[0], a[1], b[0], b[1]) < 3 }
	return near(line[0], p.line[0]) && near(line[len(line)-1], p.line[len(p.line)-1]) &&
		math.Abs(distance-p.length) < 0.05*p.length
}

func jsonPath(points [][2]float64) string {
	parts := make([]string, len(points))
	for i, p := range points {
		parts[i] = fmt.Sprintf(`{"lat":%s,"lng":%s}`, number(p[0]), number(p[1]))
	}
	return "[" + strings.Join(parts, ",") + "]"
}
