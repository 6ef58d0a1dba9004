package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Caddyfiles of examples/engines whose engines answer for this server's own endpoints.

func checkChainSnippet(t *testing.T, text string) {
	f := startFronted(t, text, "./data/delaware.region", region)
	f.upstream.says(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"code":"Ok","matchings":[{"duration":1,
				"geometry":{"type":"LineString","coordinates":[[2.35,48.85],[2.36,48.85]]}}],
			"tracepoints":[{"matchings_index":0,"location":[2.35,48.85],"distance":1,"name":""},
				{"matchings_index":0,"location":[2.36,48.85],"distance":1,"name":""}]}`)
	})
	a, got := f.gate("DIRECTION", call{path: matchPath([][2]float64{{48.85, 2.35}, {48.85, 2.36}}, "")})
	f.wantAccount(got)
	if !strings.HasPrefix(got.uri, "/match/v1/driving/2.35,48.85;2.36,48.85?") ||
		!bytes.HasPrefix(a.body, []byte(`{"coordinates":[[48.85`)) {
		t.Errorf("%s gives %s", got.uri, a.body)
	}
	_, token := f.token("DIRECTION")
	a = f.ask(call{path: matchPath([][2]float64{{48.85, 2.35}, {48.85, 2.36}}, "&details=true"), bearer: token}).want(200)
	if f.passed(token); !bytes.Contains(a.body, []byte(`"tracepoints"`)) || bytes.Contains(a.body, []byte("confidence")) {
		t.Errorf("an engine that is not sure of anything: %s", a.body)
	}
	f.ask(call{path: matchPath(dover, "&apiKey="+token)}).want(200)
	f.notPassed()
}

func checkValhallaSnippet(t *testing.T, text string) {
	f := startFronted(t, text)
	_, token := f.token("DIRECTION")
	// {"ok":true} is no drive.
	f.ask(call{path: matchPath(dover, ""), bearer: token}).want(502).wantHeader("Content-Type", jsonType)
	got := f.passed(token)
	if got.method != "POST" || got.uri != "/trace_route" || !strings.Contains(got.body, "39.15727") {
		t.Errorf("%+v", got)
	}
}

// replay makes the upstream answer as it did when an exchange was recorded.
func (f *fronted) replay(file string) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "testdata", filepath.FromSlash(file)))
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

func checkNominatimSnippet(t *testing.T, text string) {
	f := startFronted(t, text, "./data/delaware.region", region)
	f.replay("nominatim/reverse_house.json")
	a, got := f.gate("REVERSEGEOCODING", call{path: reverse + "?lat=52.5487429&lon=-1.8160209"})
	if !strings.HasPrefix(got.uri, "/reverse?format=jsonv2&lat=52.5487429&lon=-1.8160209") ||
		!bytes.Contains(a.body, []byte(`"id":"way:90394480"`)) {
		t.Errorf("%s gives %s", got.uri, a.body)
	}
	_, token := f.token("REVERSEGEOCODING")
	a = f.ask(call{path: reverse + place + "&apiKey=" + token}).want(200)
	if !bytes.Contains(a.body, []byte(`"country_code":"USA"`)) {
		t.Errorf("%s", a.body)
	}
	f.notPassed()
}

func checkPhotonSnippet(t *testing.T, text string) {
	f := startFronted(t, text)
	f.replay("photon/reverse_pharmacy.json")
	a, got := f.gate("REVERSEGEOCODING", call{path: reverse + "?lat=52&lon=10&category=pharmacy"})
	if !strings.HasPrefix(got.uri, "/reverse?lat=52&lon=10&") ||
		!bytes.Contains(a.body, []byte(`"id":"node:1234567890"`)) {
		t.Errorf("%s gives %s", got.uri, a.body)
	}
}
