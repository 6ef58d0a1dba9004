package integration

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

const page = "https://app.example.com"

// recorder is an upstream that keeps what it is asked.
type recorder struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []recordedRequest
	answer http.HandlerFunc
}

type recordedRequest struct {
	method, uri, body string
	header            http.Header
}

func newRecorder(t *testing.T) *recorder {
	rec := new(recorder)
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a request that breaks off is one with less of a body
		rec.mu.Lock()
		answer := rec.answer
		if r.URL.Path != "/status" && !strings.HasPrefix(r.URL.Path, "/nearest/") { // health checks
			rec.asked = append(rec.asked, recordedRequest{r.Method, r.RequestURI, string(body), r.Header})
		}
		rec.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	}))
	t.Cleanup(rec.Close)
	return rec
}

// take returns the requests since the last time.
func (rec *recorder) take() []recordedRequest {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	asked := rec.asked
	rec.asked = nil
	return asked
}

// says sets the answer from now on.
func (rec *recorder) says(answer http.HandlerFunc) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.answer = answer
}

// fronted is a Caddyfile that a server runs in front of a recorder.
type fronted struct {
	*server
	t        *testing.T
	upstream *recorder
	site     string // URL
	user     string // token
}

// upstreams are the names of services in these Caddyfiles.
var upstreams = regexp.MustCompile(`(https?://)?\b(?:osrm|valhalla|nominatim|photon|vroom|tiles)(?:-\d)?:\d+`)

// startFronted runs a snippet with a recorder for all of its upstreams, and pairs of texts replaced. Accounts are
// managed at a URL of their own.
func startFronted(t *testing.T, text string, replacements ...string) *fronted {
	t.Helper()
	s := newServer(t)
	f := &fronted{server: s, t: t, upstream: newRecorder(t)}
	address, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	f.site = "http://" + address
	text = "\n" + strings.ReplaceAll(text, "./data/delaware.region", region)
	replace := func(old, new string) {
		if !strings.Contains(text, old) {
			t.Fatalf("the Caddyfile has no %q", old)
		}
		text = strings.ReplaceAll(text, old, new)
	}
	for i := 0; i < len(replacements); i += 2 {
		replace(replacements[i], replacements[i+1])
	}
	replace("\n:8080 {", "\n"+f.site+" {\n\tbind 127.0.0.1")
	if !upstreams.MatchString(text) {
		t.Fatal("the Caddyfile has no upstream")
	}
	text = upstreams.ReplaceAllStringFunc(text, func(name string) string {
		if strings.Contains(name, "://") {
			return f.upstream.URL
		}
		return strings.TrimPrefix(f.upstream.URL, "http://")
	})
	options := "\tadmin " + s.admin + "\n"
	store := "\n\t\tstore sqlite " + s.store
	if strings.Contains(text, "maps {") {
		replace("maps {", "maps {"+store)
	} else {
		options += "\tmaps {" + store + "\n\t}\n"
	}
	if begins := regexp.MustCompile(`(?m)^\{$`).FindStringIndex(text); begins != nil {
		text = text[:begins[1]] + "\n" + options + text[begins[1]:]
	} else {
		text = "{\n" + options + "}\n" + text
	}
	text += fmt.Sprintf(`
http://127.0.0.1:%s {
	bind 127.0.0.1
	handle %s/* {
		maps_tokens
	}
	handle %s* {
		maps_accounts
	}
	handle /healthz {
		maps_health
	}
}
`, s.port, external, accounts)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.end(t)
		if err := s.searchSecrets(); err != nil {
			t.Error(err)
		}
	})
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	f.user = s.userToken(t, "fronting")
	return f
}

// token makes an account with scopes, and returns its id and an access token.
func (f *fronted) token(scopes ...string) (id, token string) {
	f.t.Helper()
	acc := f.create(f.t, f.user, map[string]any{"scopes": scopes})
	token, _ = f.exchange(f.t, acc.ClientToken, acc.ServerToken)
	return acc.ID, token
}

// ask sends a request to the site.
func (f *fronted) ask(c call) *answer {
	f.t.Helper()
	a, err := sendTo(f.t, httpClient, f.site, c)
	if err != nil {
		f.t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	return a
}

// passed returns the one request that reached the upstream since the last look. It must have no credential in it.
func (f *fronted) passed(token string) recordedRequest {
	f.t.Helper()
	asked := f.upstream.take()
	if len(asked) != 1 {
		f.t.Fatalf("the upstream was asked %d times: %+v", len(asked), asked)
	}
	if text := fmt.Sprint(asked[0]); strings.Contains(text, token) || asked[0].header.Get("Authorization") != "" {
		f.t.Errorf("the upstream sees the token: %s", text)
	}
	return asked[0]
}

// gate checks that a request passes only with a token that has the scope, and that the upstream is told the account, which
// a client cannot choose.
func (f *fronted) gate(scope string, c call) (*answer, recordedRequest) {
	f.t.Helper()
	others := slices.DeleteFunc([]string{"TILE", "MATRIX", "ONM", "DIRECTION", "TSS", "GEOCODING", "REVERSEGEOCODING"},
		func(other string) bool { return other == scope })
	f.ask(c).want(401).wantHeader("WWW-Authenticate", "Bearer").wantHeader("Content-Type", jsonType)
	_, c.bearer = f.token(others...)
	f.ask(c).want(403).wantHeader("Content-Type", jsonType)
	if asked := f.upstream.take(); len(asked) > 0 {
		f.t.Errorf("the upstream was asked: %+v", asked)
	}
	id, token := f.token(scope)
	c.bearer = token
	c.header = map[string][]string{"X-Account": {"forged"}}
	a := f.ask(c)
	got := f.passed(token)
	if account := got.header["X-Account"]; account != nil && !slices.Equal(account, []string{id}) {
		f.t.Errorf("X-Account is %q, not %s", account, id)
	}
	return a, got
}

// wantVary checks that an answer varies with all of these headers.
func (a *answer) wantVary(names ...string) *answer {
	a.t.Helper()
	all := strings.ToLower(strings.Join(a.header.Values("Vary"), ","))
	for _, name := range names {
		if !strings.Contains(all, strings.ToLower(name)) {
			a.t.Errorf("%s: Vary is %q, without %s", a.call.path, all, name)
		}
	}
	return a
}

func unzipped(t *testing.T, body []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sendBody sends a request with a body as it is, with its headers, and returns what comes back.
func sendBody(t *testing.T, host string, c call, body string) (answer []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s",
		cmp.Or(c.method, "GET"), c.path, host, c.bearer, jsonType, body)
	_ = conn.(*net.TCPConn).CloseWrite()
	answer, _ = io.ReadAll(conn)
	return answer
}

// replay makes the upstream answer as it did when an exchange was recorded.
func (f *fronted) replay(file string) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "internal", "testkit", "testdata", filepath.FromSlash(file)))
	if err != nil {
		f.t.Fatal(err)
	}
	var recorded struct{ Body json.RawMessage }
	if err := json.Unmarshal(text, &recorded); err != nil {
		f.t.Fatal(err)
	}
	f.upstream.says(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(recorded.Body)
	})
}

// recipe is what a Caddyfile in examples/engines does.
type recipe struct {
	has  string // a text that this Caddyfile has and no other
	file string // a recorded answer of the upstream; "" for {"ok":true}
	// requests that pass, and what reaches the upstream: its method and URI, and the same body
	passes []passing
	bad    []string // paths that are answered 400 without an upstream
	more   func(f *fronted, caddyfile string)
}

type passing struct {
	scope  string
	call   call
	uri    string // "…" at its end matches anything
	status int
	says   string // in the response
}

// positions are routes with something wrong with one of the positions.
var positions = []string{"", "39.15", "39.15,", "39.15,-75.52,1", "91,1", "1,-180.01", "NaN,1", "1e1,1", "39.15;-75.52",
	"1,2&origin=1,2&destination=1,2", "%7Benv.HOME%7D,1", "1,1%0A", "1,1%00", "1,1/../x"}

func badRoutes() (all []string) {
	for _, bad := range positions {
		all = append(all, engineRoute+"?origin="+bad+"&destination=1,2", engineRoute+"?origin=1,2&destination="+bad)
	}
	return append(all, engineRoute)
}

const paris = "&details=true&radius=10"

var recipes = []recipe{
	{has: "matcher osrm", file: "osrm/match_ok_1.json", passes: []passing{
		{"DIRECTION", call{path: matchPath([][2]float64{{48.85, 2.35}, {48.85, 2.36}}, paris)},
			"GET /match/v1/driving/2.35,48.85;2.36,48.85?…", 502, ""}, // the recorded drive is elsewhere
	}, more: func(f *fronted, _ string) {
		_, token := f.token("DIRECTION")
		f.ask(call{path: matchPath(dover, "&apiKey="+token)}).want(200) // by the region
		if asked := f.upstream.take(); len(asked) > 0 {
			f.t.Errorf("OSRM was asked: %+v", asked)
		}
	}},
	{has: "matcher valhalla", passes: []passing{
		{"DIRECTION", call{path: matchPath(dover, "")}, "POST /trace_route", 502, ""}, // {"ok":true} is no drive
	}},
	{has: "geocoder nominatim", file: "nominatim/reverse_house.json", passes: []passing{
		{"REVERSEGEOCODING", call{path: reverse + "?lat=52.5487429&lon=-1.8160209"},
			"GET /reverse?format=jsonv2&lat=52.5487429&lon=-1.8160209…", 200, `"id":"way:90394480"`},
	}},
	{has: "geocoder photon", file: "photon/reverse_pharmacy.json", passes: []passing{
		{"REVERSEGEOCODING", call{path: reverse + "?lat=52&lon=10&category=pharmacy"}, "GET /reverse?lat=52&lon=10&…", 200,
			`"id":"node:1234567890"`},
	}},
	{has: "rewrite /route/v1/driving/", bad: badRoutes(), passes: []passing{
		{"DIRECTION", call{path: engineRoute + "?origin=39.15727,-75.5293&destination=42.5063,1.5218"},
			"GET /route/v1/driving/-75.5293,39.15727;1.5218,42.5063?overview=full&geometries=geojson", 200, ""},
		{"DIRECTION", call{path: engineRoute + "?x=y&destination=-90,180&origin=0.123456789%2C%20-0.5"},
			"GET /route/v1/driving/-0.5,0.123456789;180,-90?overview=full&geometries=geojson", 200, ""},
	}},
	{has: "rewrite /route?json=", bad: badRoutes(), passes: []passing{
		{"DIRECTION", call{path: engineRoute + "?origin=39.15727,-75.5293&destination=42.5063,1.5218"},
			"GET /route?json=" + `%7B%22locations%22:[%7B%22lat%22:39.15727,%22lon%22:-75.5293%7D,` +
				`%7B%22lat%22:42.5063,%22lon%22:1.5218%7D],%22costing%22:%22auto%22%7D`, 200, ""},
	}},
	{has: "rewrite /table/v1/driving", passes: []passing{
		{"MATRIX", call{path: "/api/v1/matrix/39.1,-75.5;42.5,1.5;-0.25,7?annotations=speed"},
			"GET /table/v1/driving/-75.5,39.1;1.5,42.5;7,-0.25?annotations=duration,distance", 200, ""},
		{"ONM", call{path: "/api/v1/one-to-many/39.1,-75.5;42.5,1.5"},
			"GET /table/v1/driving/-75.5,39.1;1.5,42.5?annotations=duration,distance&sources=0", 200, ""},
	}, bad: []string{"/api/v1/matrix/", "/api/v1/matrix/1,1;", "/api/v1/matrix/;1,1", "/api/v1/matrix/91,1;1,1",
		"/api/v1/matrix/a,b;c,d", "/api/v1/matrix/1,1/2,2", "/api/v1/one-to-many/1,1,1"}},
	{has: "sources_to_targets", passes: []passing{
		{"MATRIX", posted("/api/v1/matrix", "{}"), "POST /sources_to_targets", 200, ""},
		{"ONM", posted("/api/v1/one-to-many", "{}"), "POST /sources_to_targets", 200, ""},
		{"ONM", posted("/engine/isochrone", "{}"), "POST /isochrone", 200, ""},
		{"TSS", posted("/api/v1/optimization", "{}"), "POST /", 200, ""},
		{"MATRIX", call{path: "/api/v1/matrix?json=%7B%7D"}, "GET /sources_to_targets?json=%7B%7D", 200, ""},
	}, more: checkBodies},
	{has: "/v2/search/autocomplete", passes: []passing{
		{"GEOCODING", call{path: "/v2/search/geocoding?q=Dover%20Castle&format=xml"}, "GET /search?format=jsonv2&q=Dover+Castle",
			200, ""},
		{"GEOCODING", call{path: "/v2/search/autocomplete?q=Dover%20Castle"}, "GET /api?q=Dover%20Castle", 200, ""},
	}},
	{has: "stale-while-revalidate", passes: []passing{
		{"TILE", call{path: "/basemap/1/2/3.pbf"}, "GET /1/2/3.pbf", 200, ""},
	}, more: checkTiles},
	{has: "limit 1000 10s", more: checkLimits},
}

func posted(path, body string) call {
	return call{method: "POST", path: path, contentType: jsonType, body: body}
}

// Every Caddyfile in examples/engines does what it says in front of a recorder.
func TestFronting(t *testing.T) {
	leaveOut(t, "starts a server for each Caddyfile")
	t.Parallel()
	used := make([]int, len(recipes))
	files, err := filepath.Glob(filepath.Join(root, "examples", "engines", "*.Caddyfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		bytes, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(bytes)
		i := slices.IndexFunc(recipes, func(r recipe) bool { return strings.Contains(text, r.has) })
		if i < 0 {
			t.Errorf("no recipe fits %s", file)
			continue
		}
		used[i]++
		r := recipes[i]
		t.Run(strings.TrimSuffix(filepath.Base(file), ".Caddyfile"), func(t *testing.T) {
			t.Parallel()
			if r.more != nil && len(r.passes) == 0 {
				text = strings.Replace(text, "limit 1000 10s", "limit 5 1m", 1)
			}
			f := startFronted(t, text)
			if r.file != "" {
				f.replay(r.file)
			}
			for _, p := range r.passes {
				a, got := f.gate(p.scope, p.call)
				a.want(p.status)
				uri := got.method + " " + got.uri
				if start, ok := strings.CutSuffix(p.uri, "…"); !(ok && strings.HasPrefix(uri, start)) && uri != p.uri ||
					p.call.body != "" && got.body != p.call.body {
					t.Errorf("%s: the upstream is asked %s %s, want %s", p.call.path, uri, got.body, p.uri)
				}
				if !strings.Contains(string(a.body), p.says) {
					t.Errorf("%s: %s", p.call.path, a.body)
				}
				f.checkPage(text, p)
			}
			for _, path := range r.bad {
				_, token := f.token(slices.Compact([]string{r.passes[0].scope, r.passes[len(r.passes)-1].scope})...)
				a := f.ask(call{path: path, bearer: token}).want(400).wantHeader("Content-Type", jsonType)
				if asked := f.upstream.take(); !strings.Contains(string(a.body), "FAILED_VALIDATION") || len(asked) > 0 {
					t.Errorf("%s: %s, upstream %v", path, a.body, asked)
				}
			}
			if r.more != nil {
				r.more(f, text)
			}
		})
	}
	for i, n := range used {
		if n == 0 {
			t.Errorf("no Caddyfile of examples/engines has %q", recipes[i].has)
		}
	}
}

// checkPage checks that a browser may send a token from the page that the Caddyfile names.
func (f *fronted) checkPage(caddyfile string, p passing) {
	f.t.Helper()
	if !strings.Contains(caddyfile, "cors "+page) {
		return
	}
	preflight := call{method: "OPTIONS", path: p.call.path, header: map[string][]string{
		"Origin": {page}, "Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"authorization"}}}
	f.ask(preflight).want(204).wantHeader("Access-Control-Allow-Origin", page).
		wantHeader("Access-Control-Allow-Headers", "authorization")
	preflight.header["Origin"] = []string{"https://elsewhere.example.com"}
	f.ask(preflight).want(204).wantHeader("Access-Control-Allow-Origin", "")
	_, p.call.bearer = f.token(p.scope)
	p.call.header = map[string][]string{"Origin": {page}}
	f.ask(p.call).want(p.status).wantHeader("Access-Control-Allow-Origin", page).wantVary("Authorization", "Origin")
	f.upstream.take()
}

// checkBodies checks that bodies have a size, and that one which breaks off is not held against the upstream.
func checkBodies(f *fronted, caddyfile string) {
	good := posted("/api/v1/matrix", strings.Repeat(" ", 1<<20))
	_, good.bearer = f.token("MATRIX")
	large := good
	large.body += " "
	f.ask(large).want(413)
	f.ask(good).want(200)
	for want, rest := range map[string]string{
		"HTTP/1.1 413 ": "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + strings.Repeat(" ", 2<<20) + "\r\n0\r\n\r\n",
		"HTTP/1.1 400 ": "Content-Length: 100\r\n\r\n{",
	} {
		if answer := sendBody(f.t, strings.TrimPrefix(f.site, "http://"), good, rest); !bytes.HasPrefix(answer, []byte(want)) {
			f.t.Errorf("%.40q: %.100q, want %q", rest, answer, want)
		}
		f.ask(good).want(200)
	}
	f.upstream.take()
	// A POST whose upstream breaks off is sent to the other one; either is asked first.
	broken := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status" {
			panic(http.ErrAbortHandler)
		}
	}))
	f.t.Cleanup(broken.Close)
	f = startFronted(f.t, caddyfile, "valhalla-1:8002", strings.TrimPrefix(broken.URL, "http://"))
	good = posted("/api/v1/matrix", "{}")
	_, good.bearer = f.token("MATRIX")
	for range 5 {
		f.ask(good).want(200)
	}
}

// checkTiles checks what caches may keep, and compression.
func checkTiles(f *fronted, _ string) {
	tile := strings.Repeat("road ", 1000)
	f.upstream.says(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Cache-Control", "public, max-age=5, s-maxage=5")
		w.Header().Set("Content-Type", map[string]string{".pbf": "application/vnd.mapbox-vector-tile",
			".png": "image/png"}[filepath.Ext(r.URL.Path)])
		switch {
		case r.URL.Path == "/9/9/9.pbf":
			w.WriteHeader(404)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(304)
		default:
			fmt.Fprint(w, tile)
		}
	})
	_, token := f.token("TILE")
	const cache = "private, max-age=86400, stale-while-revalidate=604800"
	for _, test := range []struct {
		path, match     string
		status          int
		encoding, cache string
	}{
		{"/1/2/3.pbf", "", 200, "gzip", cache},
		{"/1/2/3.png", "", 200, "", cache},
		{"/1/2/3.pbf", `"1"`, 304, "", cache},
		{"/9/9/9.pbf", "", 404, "", "private, max-age=5"},
	} {
		header := map[string][]string{"Accept-Encoding": {"gzip"}}
		if test.match != "" {
			header["If-None-Match"] = []string{test.match}
		}
		a := f.ask(call{path: "/basemap" + test.path + "?apiKey=" + token, header: header}).want(test.status).
			wantHeader("Content-Encoding", test.encoding).wantHeader("Cache-Control", test.cache).wantVary("Authorization")
		if got := f.passed(token); got.uri != test.path {
			f.t.Errorf("%s, want %s", got.uri, test.path)
		}
		if test.encoding == "gzip" && unzipped(f.t, a.body) != tile {
			f.t.Error("another tile")
		}
	}
}

// checkLimits checks the limit of an account, and who is named to the upstream and in the log.
func checkLimits(f *fronted, _ string) {
	t := f.t
	f.upstream.says(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/broken") {
			panic(http.ErrAbortHandler)
		}
	})
	id, token := f.token("TILE", "GEOCODING")
	forged := map[string][]string{"X-Account": {"forged"}, "X-Organization": {"forged"}, "X-Scopes": {"forged"}}
	f.ask(call{path: "/basemap/1?apiKey=" + token, header: forged}).want(200)
	got := f.passed(token).header
	if want := []string{id, "fronting", "TILE GEOCODING"}; !slices.Equal(want,
		slices.Concat(got["X-Account"], got["X-Organization"], got["X-Scopes"])) {
		t.Errorf("%v, want %q", got, want)
	}
	f.ask(call{path: "/basemap/broken", bearer: token}).want(502).wantHeader("Content-Type", jsonType)
	for range 3 {
		f.ask(call{path: "/basemap/1", bearer: token}).want(200)
	}
	a := f.ask(call{path: "/basemap/1", bearer: token}).want(429).wantHeader("Cache-Control", "no-store")
	if string(a.body) != "{\"error\":\"too many requests\"}\n" || a.header.Get("Retry-After") == "" {
		t.Errorf("%v %s", a.header, a.body)
	}
	_, other := f.token("TILE")
	f.ask(call{path: "/basemap/1", bearer: other}).want(200)
	log, err := os.ReadFile(f.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{`"account":"` + id + `"`, `"organization":"fronting"`, "apiKey=REDACTED"} {
		if !bytes.Contains(log, []byte(wanted)) {
			t.Errorf("the log has no %s", wanted)
		}
	}
}
