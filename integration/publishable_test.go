package integration

import (
	"strings"
	"testing"
)

// publish makes a publishable key of an account for pages of an origin, and the call that deletes it.
func (s *server) publish(t testing.TB, user, account, origin string) (key string, deletion call) {
	t.Helper()
	var made struct{ Data struct{ ID, Key string } }
	path := accounts + "/" + account + "/keys"
	s.send(t, call{method: "POST", path: path, bearer: user, contentType: "application/json",
		body: asJSON(t, map[string]any{"description": "the shop's map", "origins": []string{origin}})}).want(201).into(&made)
	return made.Data.Key, call{method: "DELETE", path: path + "/" + made.Data.ID, bearer: user}
}

// A page of another site shows a map with one URL: the addresses that follow from the style have its key, need no
// header and so no preflight, are the same for all visitors, and are kept by their browsers. The key ends with the next
// request.
func TestPublishableKey(t *testing.T) {
	t.Parallel()
	s := startServer(t, "# cors https://app.example.com", "cors *")
	const origin = "https://shop.example.com"
	user := s.userToken(t, "publishable")
	acc := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	key, deletion := s.publish(t, user, acc.ID, origin)
	var listed struct{ Data []struct{ Key string } }
	s.send(t, call{path: accounts + "/" + acc.ID + "/keys", bearer: user}).want(200).into(&listed)
	if len(listed.Data) != 1 || listed.Data[0].Key != key {
		t.Errorf("keys: %+v", listed)
	}

	visit := func(address, from, tag string) *answer {
		t.Helper()
		header := map[string][]string{"Accept-Encoding": {"gzip"}} // a browser sends nothing else without a preflight
		if from != "" {
			header["Origin"] = []string{from}
		}
		if tag != "" {
			header["If-None-Match"] = []string{tag} // its cache adds this one
		}
		return s.send(t, call{path: strings.TrimPrefix(address, s.url("")), header: header})
	}
	var style struct {
		Sources struct{ Map struct{ URL string } }
	}
	visit("/tiles/delaware/style.json?apiKey="+key, origin, "").want(200).into(&style)
	var described struct{ Tiles []string }
	visit(style.Sources.Map.URL, origin, "").want(200).wantHeader("Access-Control-Allow-Origin", "*").into(&described)
	if want := s.url("/tiles/delaware/{z}/{x}/{y}.mvt?apiKey=") + key; len(described.Tiles) != 1 || described.Tiles[0] != want {
		t.Fatalf("tiles at %q, want %q", described.Tiles, want)
	}
	tile := strings.NewReplacer("{z}", "12", "{x}", "1188", "{y}", "1563").Replace(described.Tiles[0])
	first := visit(tile, origin, "").want(200).wantHeader("Access-Control-Allow-Origin", "*").
		wantHeader("Cache-Control", "private, max-age=3600")
	again := visit(tile, origin, first.header.Get("Etag")).want(304).wantHeader("Access-Control-Allow-Origin", "*").
		wantHeader("Cache-Control", "private, max-age=3600")
	if len(first.body) == 0 || len(again.body) != 0 || first.header.Get("Etag") != again.header.Get("Etag") {
		t.Errorf("a tile of %d bytes, its tag %q, again %d bytes and %q", len(first.body), first.header.Get("Etag"),
			len(again.body), again.header.Get("Etag"))
	}
	if vary := strings.Join(first.header["Vary"], ", "); strings.Contains(vary, "*") {
		t.Errorf("Vary: %s", vary)
	}

	// A key in the header, and an access token anywhere, are in no address.
	token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	for _, c := range []call{
		{path: "/tiles/delaware.json", bearer: key, header: map[string][]string{"Origin": {origin}}},
		{path: "/tiles/delaware.json", bearer: token}, {path: "/tiles/delaware.json?apiKey=" + token},
		{path: "/tiles/delaware/style.json?apiKey=" + token},
	} {
		if body := string(s.send(t, c).want(200).body); strings.Contains(body, "apiKey") || strings.Contains(body, key) ||
			strings.Contains(body, token) {
			t.Errorf("%.60s: %.300s", c.path, body)
		}
	}

	for _, from := range []string{"", "https://evil.example.com"} {
		var refused struct{ Code string }
		if visit(tile, from, "").want(403).into(&refused); refused.Code != "RESTRICTED" {
			t.Errorf("from %q: %+v", from, refused)
		}
	}
	visit(tile[:len(tile)-1], origin, "").want(401).wantHeader("Cache-Control", "no-store")
	s.setStatus(t, user, acc.ID, "SUSPENDED")
	visit(tile, origin, "").want(401)
	s.setStatus(t, user, acc.ID, "ACTIVE")
	visit(tile, origin, "").want(200)
	s.send(t, deletion).want(204)
	visit(tile, origin, first.header.Get("Etag")).want(401)
	s.send(t, deletion).want(404)
}
