package integration

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// No token stands in the access log, the error log (at level DEBUG) or the store, whatever became of the request.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	s := newServer(t, "max_body 8MiB", "max_body 64KiB")
	s.region = filepath.Join(s.dir, "own.region")
	copyFile(t, region, s.region)
	s.run(t)
	user := s.userToken(t, "leaks")
	acc := s.create(t, user, nil)
	tiles := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	access, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	tilesAccess, _ := s.exchange(t, tiles.ClientToken, tiles.ServerToken)

	const place = "?lat=39.15&lon=-75.52"
	key := "&apiKey=" + access
	referer := func(c call, value string) call {
		c.header = map[string][]string{"Referer": {value}}
		return c
	}
	for _, c := range callsWith(access) {
		s.send(t, c).want(200)
	}
	s.send(t, refreshCall(refresh)).want(200)
	s.send(t, call{path: reverse + place + "&%61piKey=" + access}).want(200) // the same name, encoded
	for _, where := range []string{
		"https://maps.example.com/?apiKey=" + access,
		"https://maps.example.com/?apiKey=" + access + "#apiKey=" + access,
		"https://maps.example.com/%zz?apiKey=" + access,
		"/relative?x=1;apiKey=" + access,
	} {
		s.send(t, referer(call{path: reverse + place + key}, where)).want(200)
		s.send(t, referer(call{path: "/nothing"}, where)).want(404)
		s.send(t, referer(call{path: route, bearer: access}, where)).want(502)
		s.send(t, referer(call{path: route + "?apiKey=" + access}, where)).want(401)
	}
	// 400 and 422, 401, 403, 404, 405, 413, 415.
	s.send(t, call{path: reverse + "?lat=91&lon=0" + key}).want(400)
	s.send(t, call{path: match + "?path=x" + key}).want(422)
	s.send(t, call{path: reverse + place + key + key}).want(401)
	s.send(t, call{path: reverse + place + key, bearer: access}).want(401)
	s.send(t, call{path: reverse + place + "&apiKey=" + refresh}).want(401)
	s.send(t, call{path: reverse + place + "&apiKey=" + acc.ServerToken}).want(401)
	s.send(t, call{path: reverse + place + "&apiKey=" + user}).want(401)
	s.send(t, call{path: reverse + place + "&apiKey=" + tilesAccess}).want(403)
	s.send(t, call{path: "/nothing?apiKey=" + access}).want(404)
	s.send(t, call{path: "/nothing?apiKey=" + access + "&apiKey=" + acc.ClientToken, bearer: access}).want(404)
	s.send(t, call{path: match + "?path=[{10,10},{11,11}]" + key}).want(404)
	s.send(t, call{method: "DELETE", path: match + "?" + key}).want(405)
	big := strings.Repeat(" ", 65<<10)
	s.send(t, call{method: "POST", path: match + "?" + key, contentType: jsonType, body: big}).want(413)
	s.send(t, call{method: "POST", path: external + "/auth?apiKey=" + access, contentType: jsonType,
		body: `{"client_token":"` + acc.ClientToken + `","server_token":"` + acc.ServerToken + `"` + big}).want(413)
	s.send(t, call{method: "POST", path: match + "?" + key, contentType: "text/plain", body: access}).want(415)
	s.send(t, call{method: "POST", path: external + "/auth", contentType: jsonType, body: `{"client_token":"` + acc.ClientToken + `"}`}).want(400)
	s.send(t, call{method: "POST", path: external + "/auth", contentType: jsonType, body: `{"client_token":"` + acc.ClientToken}).want(400)
	s.send(t, exchangeCall(acc.ServerToken, acc.ClientToken)).want(401)
	s.send(t, exchangeCall(acc.ClientToken, tiles.ServerToken)).want(403)
	s.send(t, call{method: "POST", path: accounts, bearer: user, contentType: jsonType, body: `{"` + acc.ServerToken + `":"` + acc.ClientToken + `"}`}).want(400)
	s.setStatus(t, user, tiles.ID, "SUSPENDED")
	s.send(t, refreshCall(refresh)).want(200)
	s.send(t, call{path: accounts, bearer: tilesAccess}).want(401)

	// 503: a file that was cut off while it is in use, against all advice.
	if runtime.GOOS != "windows" {
		if err := os.Truncate(s.region, 4096); err != nil {
			t.Fatal(err)
		}
		s.send(t, call{path: "/nothing?apiKey=" + access}).want(404)
		a := s.send(t, call{path: strings.Replace(matchPath(elsewhere, key), "%2C", ",", -1)})
		b := s.send(t, call{path: reverse + "?lat=38.77&lon=-75.14" + key})
		if a.status != 503 || b.status != 503 {
			t.Errorf("with the region's file cut off: matching %d, reverse geocoding %d, want 503", a.status, b.status)
		}
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"logger":"http.log.access`, `"logger":"http.log.error`, `"level":"debug"`, "REDACTED"} {
		if !strings.Contains(string(log), want) {
			t.Errorf("the log has no %s: it was searched in vain", want)
		}
	}
	if err := s.searchSecrets(); err != nil {
		t.Error(err)
	}
}

// elsewhere is in Rehoboth Beach, in parts of the file that no earlier request has read.
var elsewhere = [][2]float64{{38.7166, -75.0800}, {38.7164, -75.0816}}

// An upstream behind the gate sees neither the header nor the parameter.
func TestUpstreamSeesNoToken(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		text := r.RequestURI
		for name, values := range r.Header {
			text += "\n" + name + ": " + strings.Join(values, ", ")
		}
		seen = append(seen, text)
	}))
	defer upstream.Close()
	s := startServer(t,
		"{$MAPS_ROUTER:127.0.0.1:5000}", strings.TrimPrefix(upstream.URL, "http://")+` {
				header_up X-Original {http.request.orig_uri}
		}`,
		"error_style platform\n\t\t\t\t# forward_token", "api_key_query apiKey")
	acc := s.create(t, s.userToken(t, "upstream"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	from := map[string][]string{"Referer": {"https://x.example/?a=1&apiKey=" + access + "&b=2"}}
	s.send(t, call{path: route + "?origin=1,2&destination=3%2C4", bearer: access, header: from}).want(200)
	s.send(t, call{path: route + "?origin=1,2&apiKey=" + access + "&destination=3%2C4", header: from}).want(200)
	s.send(t, call{path: route + "?origin=1,2&%61pi%4Bey=" + url.QueryEscape(access) + "&destination=3%2C4"}).want(200)
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 3 {
		t.Fatalf("the upstream saw %d requests", len(seen))
	}
	for _, text := range seen {
		if strings.Contains(text, access) {
			t.Errorf("the upstream saw the token:\n%s", text)
		}
		if !strings.HasPrefix(text, route+"?origin=1,2&destination=3%2C4\n") {
			t.Errorf("the rest of the query changed:\n%s", text)
		}
	}
}
