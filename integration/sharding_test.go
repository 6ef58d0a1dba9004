package integration

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// andorraRegion returns the compiled map of Andorra.
var andorraRegion = sync.OnceValues(func() (string, error) {
	path := filepath.Join(workDir, "andorra.region")
	return path, inRoot(plain, "maps", "build", filepath.Join(filepath.Dir(extract), "andorra-latest.osm.bz2"),
		"--output", path)
})

// andorra is a drive of a kilometre through Andorra la Vella.
var andorra = [][2]float64{{42.50630, 1.52185}, {42.50668, 1.52355}, {42.50703, 1.52497}, {42.50719, 1.52678}}

// newExampleServer prepares a server that runs one of the examples.
func newExampleServer(t *testing.T, example, region string) *server {
	t.Helper()
	s := newServer(t)
	s.raced = true
	text, err := os.ReadFile(filepath.Join(root, "examples", filepath.FromSlash(example)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.region = region
	t.Cleanup(func() {
		s.end(t)
		if err := s.searchSecrets(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sharded is the example of three servers: a front, and two shards with a router beside each.
type sharded struct{ front, delaware, andorra *server }

func startSharded(t *testing.T) sharded {
	t.Helper()
	andorra, err := andorraRegion()
	if err != nil {
		t.Fatal(err)
	}
	s := sharded{
		newExampleServer(t, "sharding/front.Caddyfile", ""),
		newExampleServer(t, "sharding/shard.Caddyfile", region),
		newExampleServer(t, "sharding/shard.Caddyfile", andorra),
	}
	for name, shard := range map[string]*server{"delaware": s.delaware, "andorra": s.andorra} {
		router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"router":%q,"query":%q,"authorization":%q}`, name, r.URL.RawQuery, r.Header.Get("Authorization"))
		}))
		t.Cleanup(router.Close)
		shard.router = strings.TrimPrefix(router.URL, "http://")
		s.front.env = append(s.front.env, "MAPS_"+strings.ToUpper(name)+"=127.0.0.1:"+shard.port)
	}
	var errs [3]error
	var all sync.WaitGroup
	for i, each := range []*server{s.front, s.delaware, s.andorra} {
		all.Go(func() { errs[i] = each.start() })
	}
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return s
}

// The example of several servers, each with its part of the map: a client sees one server.
func TestSharding(t *testing.T) {
	leaveOut(t, "compiles a second map")
	t.Parallel()
	s := startSharded(t)
	user := s.front.userToken(t, "sharding")
	acc := s.front.create(t, user, nil)
	token, _ := s.front.exchange(t, acc.ClientToken, acc.ServerToken)

	t.Run("positions", func(t *testing.T) {
		for _, test := range []struct {
			query, country string // "" for no results
		}{
			{"?lat=39.15727&lon=-75.52930", "USA"},
			{"?lat=39.74&lon=-75.55&size=5", "USA"},
			{"?lat=42.5063&lon=1.5218", "AND"},
			{"?lat=42.5441&lon=1.5148&size=5", "AND"},
			{"?lat=48.85&lon=2.35", ""},
			{"?lat=0&lon=0", ""},
		} {
			var found struct {
				Data struct {
					Results []struct {
						Address struct {
							CountryCode string `json:"country_code"`
						} `json:"address"`
					} `json:"results"`
				} `json:"data"`
			}
			forged := map[string][]string{"X-Maps-Account": {"forged"}}
			s.front.send(t, call{path: reverse + test.query, bearer: token, header: forged}).want(200).into(&found)
			if (test.country == "") != (len(found.Data.Results) == 0) {
				t.Errorf("%s: %d results", test.query, len(found.Data.Results))
			}
			for _, r := range found.Data.Results {
				if r.Address.CountryCode != test.country {
					t.Errorf("%s: a place in %s", test.query, r.Address.CountryCode)
				}
			}
		}
	})

	t.Run("traces", func(t *testing.T) {
		reversed := slices.Clone(dover)
		slices.Reverse(reversed)
		for _, test := range []struct {
			name    string
			points  [][2]float64
			lat     float64 // where the drive is; 0 for no route
			dropped int     // points that are left out
		}{
			{"Delaware", dover, 39.157, 0},
			{"Delaware, the other way", reversed, 39.157, 0},
			{"Andorra", andorra, 42.506, 0},
			{"more of it in Delaware", slices.Concat(dover, andorra), 39.157, len(andorra)},
			{"more of it in Andorra", slices.Concat(dover[:3], andorra), 42.506, 3},
			{"nowhere", [][2]float64{{48.85, 2.35}, {48.86, 2.35}}, 0, 0},
			{"less than half of it anywhere", slices.Concat(dover[:2], andorra[:2], [][2]float64{{48.85, 2.35}}), 0, 0},
		} {
			t.Run(test.name, func(t *testing.T) {
				var objects []any
				for _, p := range test.points {
					objects = append(objects, map[string]float64{"lat": p[0], "lng": p[1]})
				}
				for _, c := range []call{
					{path: matchPath(test.points, "&radius=10&details=true")},
					{method: "POST", path: match, contentType: jsonType,
						body: asJSON(t, map[string]any{"path": objects, "radius": 10, "details": true})},
				} {
					c.bearer = token
					if test.lat == 0 {
						s.front.send(t, c).want(404).wantHeader("Content-Type", jsonType)
						continue
					}
					var drive struct {
						Coordinates [][2]float64 `json:"coordinates"`
						Tracepoints []struct {
							Matched bool `json:"matched"`
						} `json:"tracepoints"`
					}
					s.front.send(t, c).want(200).into(&drive)
					for _, p := range drive.Coordinates {
						if p[0] < test.lat-0.1 || p[0] > test.lat+0.1 {
							t.Errorf("%s: the drive goes by %v", c.contentType, p)
						}
					}
					dropped := 0
					for _, p := range drive.Tracepoints {
						if !p.Matched {
							dropped++
						}
					}
					if len(drive.Tracepoints) != len(test.points) || dropped != test.dropped {
						t.Errorf("%s: %d of %d points are left out", c.contentType, dropped, len(drive.Tracepoints))
					}
				}
			})
		}
	})

	t.Run("routes", func(t *testing.T) {
		for query, lat := range map[string]float64{
			"origin=39.15727,-75.52930&destination=39.15803,-75.52462": 39.157,
			"origin=42.5063%2C1.5218&destination=42.5110,1.5310":       42.506,
		} {
			var answer struct {
				Data struct {
					Waypoints []struct{ Location [2]float64 }
				}
			}
			s.front.send(t, call{path: apiRoute + "?" + query, bearer: token}).want(200).into(&answer)
			if w := answer.Data.Waypoints; len(w) != 2 || math.Abs(w[0].Location[0]-lat) > 0.002 {
				t.Errorf("%s: %+v", query, answer)
			}
		}
	})

	t.Run("the account in every log", func(t *testing.T) {
		for name, each := range map[string]*server{"front": s.front, "Delaware": s.delaware, "Andorra": s.andorra} {
			log, err := os.ReadFile(each.log)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(log), `"account":"`+acc.ID+`"`) {
				t.Errorf("the log of %s does not tell who asked", name)
			}
			if strings.Contains(string(log), `"account":"forged"`) {
				t.Errorf("%s believes a client", name)
			}
		}
	})

	t.Run("one shard less", func(t *testing.T) {
		if err := s.delaware.stop(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []call{{path: reverse + place}, {path: matchPath(dover, "&radius=10")}} {
			c.bearer = token
			a, err := s.front.trySend(t, c)
			if err != nil || a.status != 502 && a.status != 503 {
				t.Fatalf("%s: %v %v", c.path, a, err)
			}
			a.wantHeader("Content-Type", jsonType)
		}
		s.front.send(t, call{path: reverse + "?lat=42.5063&lon=1.5218", bearer: token}).want(200)
		s.front.send(t, call{path: matchPath(andorra, "&radius=10"), bearer: token}).want(200)
		s.front.send(t, call{path: reverse + "?lat=91&lon=1", bearer: token}).want(400) // the other can say that too
	})
}
