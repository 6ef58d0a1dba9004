package integration

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/paulmach/orb"

	regionfile "github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// chainSite has the chains, and below a prefix each of their local engines by itself, to compare with.
const chainSite = `
	handle /delaware/v2/* {
		maps_reverse_geocode {
			public
			prefix /delaware/v2/search/reverse-geocoding
			geocoder local delaware
		}
	}
	handle /delaware/api/* {
		maps_match {
			public
			prefix /delaware/api/route/matching
			matcher local delaware
		}
	}
	handle /andorra/v2/* {
		maps_reverse_geocode {
			public
			prefix /andorra/v2/search/reverse-geocoding
			geocoder local andorra
		}
	}
	handle /andorra/api/* {
		maps_match {
			public
			prefix /andorra/api/route/matching
			matcher local andorra
		}
	}
	handle /v2/* {
		maps_reverse_geocode {
			public
			geocoder local delaware
			geocoder local andorra
		}
	}
	handle /api/route/* {
		maps_match {
			public
			matcher local delaware andorra
			matcher osrm {$MAPS_TEST_OSRM}
		}
	}
	handle /healthz {
		maps_health
	}`

// osrmRoad is a name that no road of Delaware or Andorra has; every drive of the OSRM below is on it.
const osrmRoad = "Road of OSRM"

// fakeOSRM answers as OSRM does, with a drive from the first point straight to the last, and counts the requests.
func fakeOSRM(t *testing.T) (address string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		text, is := strings.CutPrefix(r.URL.Path, "/match/v1/driving/")
		if !is {
			http.NotFound(w, r)
			return
		}
		points := strings.Split(text, ";")
		tracepoints := make([]string, len(points))
		for i, p := range points {
			tracepoints[i] = fmt.Sprintf(`{"matchings_index":0,"waypoint_index":%d,"alternatives_count":0,`+
				`"location":[%s],"distance":0,"name":%q}`, i, p, osrmRoad)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"code":"Ok","matchings":[{"confidence":0.9,"distance":1,"duration":1,"legs":[],"geometry":{`+
			`"type":"LineString","coordinates":[[%s],[%s]]}}],"tracepoints":[%s]}`,
			points[0], points[len(points)-1], strings.Join(tracepoints, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// chainPlace is a position of the test, and another one near it.
type chainPlace struct {
	here, there orb.Point // lon, lat
	onRoad      bool
}

// chainPlaces draws places: on roads of both regions, around the edges of what they cover, and anywhere on Earth.
func chainPlaces(random *rand.Rand, n int, roads ...*roadgraph.Graph) []chainPlace {
	boxes := []orb.Bound{
		{Min: orb.Point{-76.3, 37.9}, Max: orb.Point{-74.4, 40.1}},
		{Min: orb.Point{0.9, 42.2}, Max: orb.Point{1.95, 42.9}},
		{Min: orb.Point{-180, -85}, Max: orb.Point{180, 85}},
	}
	places := make([]chainPlace, n)
	for i := range places {
		p := &places[i]
		if kind := i % 7; kind < 2*len(roads) {
			g := roads[kind%len(roads)]
			for {
				segment := uint32(random.IntN(g.NumBaseEdges()))
				if !g.BeginsEdge(segment) {
					continue
				}
				if length := float64(g.Edge(segment).Length) / 1000; length > 25 {
					p.here, p.there, p.onRoad = g.At(segment, 1), g.At(segment, min(length-1, 80)), true
					if !g.Edge(segment).Flags.Has(roadgraph.Forward) { // nobody drives it in that direction
						p.here, p.there = p.there, p.here
					}
					break
				}
			}
			continue
		}
		box := boxes[i%len(boxes)]
		p.here = orb.Point{
			box.Min[0] + random.Float64()*(box.Max[0]-box.Min[0]),
			box.Min[1] + random.Float64()*(box.Max[1]-box.Min[1]),
		}
		p.there = orb.Point{p.here[0], p.here[1] + 0.0005}
	}
	return places
}

// Of a chain, the first engine whose coverage contains the request answers, at places inside and outside two regions:
// MAPS_TEST_CHAIN of them, and 2000 in an ordinary run.
func TestChain(t *testing.T) {
	leaveOut(t, "it compiles a second map, and sends thousands of requests")
	t.Parallel()
	n := 2000
	if text := os.Getenv("MAPS_TEST_CHAIN"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1000 {
			t.Fatalf("MAPS_TEST_CHAIN: %q is no number of places, 1000 and more", text)
		}
	}
	andorraFile, err := andorraRegion()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"delaware": region, "andorra": andorraFile}
	names := []string{"delaware", "andorra"}
	opened := make([]*regionfile.File, len(names))
	roads := make([]*roadgraph.Graph, len(names))
	for i, name := range names {
		if opened[i], err = regionfile.Open(files[name]); err != nil {
			t.Fatal(err)
		}
		defer opened[i].Release()
		if roads[i], err = roadgraph.Open(opened[i]); err != nil {
			t.Fatal(err)
		}
	}
	covering := func(points ...orb.Point) string {
		for i, f := range opened {
			inside := 0
			for _, p := range points {
				if f.Covers(p) {
					inside++
				}
			}
			if inside == len(points) {
				return names[i]
			}
		}
		return ""
	}

	osrm, asked := fakeOSRM(t)
	s := newServer(t)
	s.env = append(s.env, "MAPS_TEST_OSRM="+osrm)
	config := fmt.Sprintf("{\nadmin %s\nmaps {\nstore sqlite %s\nregion delaware %s\nregion andorra %s\n}\n}\n"+
		"http://127.0.0.1:%s {\nbind 127.0.0.1\n%s\n}\n",
		s.admin, s.store, region, andorraFile, s.port, chainSite)
	if err := os.WriteFile(s.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t)

	places := chainPlaces(rand.New(rand.NewPCG(1, 2)), n, roads...)
	// each sends a request to the chain for every place, and checks the answer against that of the one engine.
	each := func(t *testing.T, check func(p *chainPlace) error) {
		t.Helper()
		var next, wrong atomic.Int64
		var all sync.WaitGroup
		for range 2 * runtime.GOMAXPROCS(0) {
			all.Go(func() {
				for i := int(next.Add(1) - 1); i < n; i = int(next.Add(1) - 1) {
					if err := check(&places[i]); err != nil && wrong.Add(1) <= 10 {
						t.Errorf("%+v: %v", places[i], err)
					}
				}
			})
		}
		all.Wait()
		if wrong.Load() > 0 {
			t.Errorf("%d of %d answers are wrong", wrong.Load(), n)
		}
	}
	get := func(path string) (*answer, error) {
		return sendTo(t, httpClient, s.url(""), call{path: path, ungated: true})
	}
	same := func(path, engine string) (*answer, error) {
		got, err := get(path)
		if err != nil || engine == "" {
			return got, err
		}
		want, err := get("/" + engine + path)
		// Alone, a local engine says where a trace without a route lies; a chain with a remote one does not know.
		noRoute := got.status == http.StatusNotFound && bytes.Contains(got.body, []byte(`"NoRoute"`))
		if err == nil && (got.status != want.status || !noRoute && !bytes.Equal(got.body, want.body)) {
			err = fmt.Errorf("the chain says %d %.300s, %s says %d %.300s", got.status, got.body, engine, want.status, want.body)
		}
		return got, err
	}

	t.Run("geocoders", func(t *testing.T) {
		var counts counter
		each(t, func(p *chainPlace) error {
			engine := covering(p.here)
			counts.add(engine)
			a, err := same(fmt.Sprintf("%s?lat=%.7f&lon=%.7f&size=5", reverse, p.here[1], p.here[0]), engine)
			if err != nil {
				return err
			}
			empty := bytes.Contains(a.body, []byte(`"results":[]`))
			if a.status != 200 || engine == "" && !empty || p.onRoad && empty {
				return fmt.Errorf("engine %q: %d %.300s", engine, a.status, a.body)
			}
			return nil
		})
		counts.check(t, n*3/20)
	})

	t.Run("matchers", func(t *testing.T) {
		var counts counter
		each(t, func(p *chainPlace) error {
			engine := covering(p.here, p.there)
			counts.add(engine)
			path := fmt.Sprintf("%s?path=[{%.7f,%.7f},{%.7f,%.7f}]&radius=5&details=true", match,
				p.here[1], p.here[0], p.there[1], p.there[0])
			a, err := same(path, engine)
			if err != nil {
				return err
			}
			switch remote := bytes.Contains(a.body, []byte(osrmRoad)); {
			case engine == "" && (a.status != 200 || !remote), engine != "" && remote:
				return fmt.Errorf("engine %q: %d %.300s", engine, a.status, a.body)
			case p.onRoad && a.status != 200:
				return fmt.Errorf("on a road: %d %.300s", a.status, a.body)
			}
			return nil
		})
		counts.check(t, n*3/20)
		if got, want := asked.Load(), int64(counts.of("")); got != want {
			t.Errorf("OSRM was asked %d times for %d traces outside", got, want)
		}
	})
}

// counter counts the places of each engine.
type counter struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *counter) add(engine string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = make(map[string]int)
	}
	c.count[engine]++
}

func (c *counter) of(engine string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count[engine]
}

// check fails the test where an engine had next to nothing to do.
func (c *counter) check(t *testing.T, least int) {
	t.Helper()
	for _, engine := range []string{"delaware", "andorra", ""} {
		if c.of(engine) < least {
			t.Errorf("engine %q: only %d places", engine, c.of(engine))
		}
	}
	t.Logf("Delaware %d, Andorra %d, elsewhere %d", c.of("delaware"), c.of("andorra"), c.of(""))
}
