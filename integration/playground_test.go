package integration

import (
	"os"
	"strings"
	"testing"
)

// Without its last slash the address of a page leads to it.
func TestPagesWithoutSlash(t *testing.T) {
	s := sharedServer(t)
	for path, want := range map[string]int{
		"/playground": 308, "/console": 308, "/docs": 308, "/playground/": 200, "/docs/openapi.yaml": 200,
		"/playgrounds": 404, "/console.html": 404,
	} {
		resp, err := httpClient.Get(s.url(path))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if at := resp.Header.Get("Location"); resp.StatusCode != want || want == 308 && at != path[1:]+"/" {
			t.Errorf("%s: %d, %q", path, resp.StatusCode, at)
		}
	}
}

// Guests get a token where the configuration names an account for them, and what it allows ends with the account.
func TestGuestToken(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	page := call{method: "POST", path: "/playground/token", header: map[string][]string{"Origin": {s.url("")}}}
	s.send(t, page).want(404)
	user := s.userToken(t, "guests")
	acc := s.create(t, user, map[string]any{"scopes": []string{"TILE", "DIRECTION"}, "isAdmin": true})
	caddyfile, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(caddyfile), `"{$MAPS_GUEST}"`, acc.ID, 1)
	if status, body := s.reload(t, text); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	var guest struct{ Data struct{ AccessToken string } }
	s.send(t, page).want(200).into(&guest)
	token := guest.Data.AccessToken
	s.send(t, call{path: "/tiles/delaware.json", bearer: token}).want(200)
	s.send(t, call{path: "/v2/search/reverse-geocoding?lat=39.16&lon=-75.52", bearer: token}).want(403)
	s.send(t, call{path: "/api/v1/service-accounts", bearer: token}).want(403)
	s.send(t, call{method: "POST", path: "/playground/token"}).want(403)
	s.setStatus(t, user, acc.ID, "SUSPENDED")
	s.send(t, call{path: "/tiles/delaware.json", bearer: token}).want(401)
	s.send(t, page).want(403)
}
