package osrmmatcher_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/osrmmatcher"
)

const matchPath = "/api/route/matching/"

func start(t testing.TB, upstreams, options string) *modulestest.Server {
	return modulestest.Start(t, modulestest.Config{Site: fmt.Sprintf(`
		handle {
			maps_match {
				public
				matcher osrm %s {
					max_response 1MiB
					%s
				}
			}
		}`, upstreams, modulestest.Quick(options))})
}

// question turns a recorded request into one of our API.
func question(t testing.TB, r modulestest.Recorded) (query string, points int) {
	t.Helper()
	var line string
	if err := json.Unmarshal(r.Request, &line); err != nil {
		t.Fatal(err)
	}
	line = strings.TrimPrefix(line, "GET /match/v1/driving/")
	line, _, _ = strings.Cut(line, "?")
	var pairs []string
	for pair := range strings.SplitSeq(line, ";") {
		lon, lat, _ := strings.Cut(pair, ",")
		pairs = append(pairs, "{"+lat+","+lon+"}")
	}
	return matchPath + "?path=" + url.QueryEscape("["+strings.Join(pairs, ",")+"]"), len(pairs)
}

func check(t *testing.T, u *modulestest.Upstream, a modulestest.Response, status int, code string) {
	t.Helper()
	if a.Status != status || !strings.Contains(a.Body, `"code":"`+code+`"`) {
		t.Errorf("%d %s, want %d %s", a.Status, a.Body, status, code)
	}
	modulestest.CheckSilent(t, u, a)
}

// What is sent: hints widen to the limit of the request, accuracy and times go along, credentials and IP addresses do
// not.
func TestRequests(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: fmt.Sprintf(`
		handle {
			maps_auth DIRECTION {
				api_key_query apiKey
				forward_token
			}
			maps_match {
				matcher osrm %s {
					profile car
					gaps split
					rewrite /osrm{uri}
					header_up X-Account {http.auth.user.id}
				}
			}
		}
		handle /api/v1/external/* {
			maps_tokens
		}
		handle /api/v1/service-accounts {
			maps_accounts
		}`, u.URL)})
	account, token := s.Token("org", "DIRECTION")
	var requests []*http.Request
	var mu sync.Mutex
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests = append(requests, r)
		mu.Unlock()
		w.WriteHeader(400)
		fmt.Fprint(w, `{"code":"NoSegment"}`)
	})
	body := `{"path":[{"lat":41,"lng":-8,"time":100.7,"accuracy":4},{"lat":41.1,"lng":-8.1,"time":160,"accuracy":70}],` +
		`"radius":20}`
	if a := s.Do(http.MethodPost, matchPath, token, body, "Cookie", "a=b", "X-Forwarded-For", "1.2.3.4"); a.Status != 404 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	const where = "/osrm/match/v1/car/-8,41;-8.1,41.1?overview=full&geometries=polyline6&generate_hints=false" +
		"&radiuses=%s&gaps=split&timestamps=100;160"
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, radiuses := range []string{"4;33.3", "33.3;33.3"} {
		if want := fmt.Sprintf(where, radiuses); requests[i].RequestURI != want {
			t.Errorf("sent %s, want %s", requests[i].RequestURI, want)
		}
	}
	for _, r := range requests {
		u.CheckPrivate(t, r, account.ID, token)
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for block, want := range map[string]string{
		"matcher osrm":                                           "at least one upstream",
		"matcher osrm ftp://a":                                   "unsupported URL scheme",
		"matcher osrm http://a:1 {\nnonsense\n}":                 "unrecognized subdirective",
		"matcher osrm http://a:1 {\nhandle_response {\n}\n}":     "handle_response cannot be used",
		"matcher osrm http://a:1 {\ntimeout soon\n}":             "timeout",
		"matcher osrm http://a:1 {\ntimeout -1s\n}":              "must be positive",
		"matcher osrm http://a:1 {\nmax_response 0\n}":           "is not a positive size",
		"matcher osrm http://a:1 {\nprofile\n}":                  "wrong argument count",
		"matcher osrm http://a:1 {\nprofile a b c\n}":            "wrong argument count",
		"matcher osrm http://a:1 {\nprofile a/b\n}":              `profile: "a/b" is not a name`,
		"matcher osrm http://a:1 {\nprofile velo\n}":             `profile: "velo" does not tell whom it is for`,
		"matcher osrm http://a:1 {\nprofile velo bike\n}":        `answers_for: "bike" is not known`,
		"matcher osrm http://a:1 {\nlb_policy no_such_thing\n}":  "no_such_thing",
		"matcher osrm http://a:1 {\ntransport http {\nfoo\n}\n}": "foo",
		"matcher osrm http://a:1/path":                           "path",
	} {
		_, err := modulestest.Adapt(":0 {\nmaps_match {\n" + block + "\n}\n}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", block, err, want)
		}
	}
}
