package access_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestRestrictions: no form of a request evades the restrictions of an account.
func TestRestrictions(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	s := modulestest.Start(t, modulestest.Config{
		Global: "servers {\nprotocols h1 h2c\n}",
		Site:   checkSite + "}\nhttp://:80 {\nbind unix/" + socket + "\n" + checkSite,
	})
	user := s.UserToken("acme")
	accounts := map[string]modulestest.Account{}
	restricted := func(name, restrictions string) string {
		accounts[name] = s.CreateAccount(user, "TILE DIRECTION", `"isAdmin":true,"restrictions":`+restrictions)
		return s.Exchange(accounts[name].ClientToken, accounts[name].ServerToken).AccessToken
	}
	page := restricted("page", `{"origins":["https://*.example.com"]}`)
	here := restricted("here", `{"networks":["127.0.0.1"]}`)
	there := restricted("there", `{"networks":["203.0.113.0/24"]}`)
	anywhere := restricted("anywhere", `{"networks":["0.0.0.0/0","::/0"]}`)
	const app = "https://app.example.com"
	tcp := &http.Transport{}
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	unix := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	const origin, none, repeated, network = "origin not allowed", "no origin where origins are restricted",
		"repeated Origin or Referer", "network not allowed"
	for _, tc := range []struct {
		name   string
		over   *http.Transport
		token  string
		header []string
		reason string // in the log; empty where the request passes
	}{
		{"page", tcp, page, []string{"Origin", app}, ""},
		{"page, HTTP/2", h2, page, []string{"origin", app}, ""},
		{"page, Unix socket", unix, page, []string{"Origin", app}, ""},
		{"referer", tcp, page, []string{"Referer", app + "/map"}, ""},
		{"none", tcp, page, nil, none},
		{"other page, HTTP/2", h2, page, []string{"origin", "https://evil.test"}, origin},
		{"other page with a good referer", tcp, page, []string{"Origin", "https://evil.test", "Referer", app + "/"}, origin},
		{"another one after it", tcp, page, []string{"Origin", app, "Origin", "https://evil.test"}, repeated},
		{"the same twice, HTTP/2", h2, page, []string{"Origin", app, "origin", app}, repeated},
		{"two referers", tcp, page, []string{"Referer", app + "/", "Referer", "https://evil.test/"}, repeated},
		{"list of origins", tcp, page, []string{"Origin", app + ", https://evil.test"}, origin},
		{"opaque origin", tcp, page, []string{"Origin", "null", "Referer", app + "/"}, origin},
		{"backslash in a referer", tcp, page, []string{"Referer", `https://evil.test\@app.example.com/`}, origin},
		{"the page by other headers", tcp, page, []string{"X-Forwarded-Host", "app.example.com", "Host", "app.example.com",
			"X-Original-Url", app + "/", "Forwarded", "host=app.example.com;proto=https"}, none},
		{"here", tcp, here, nil, ""},
		{"here, HTTP/2", h2, here, nil, ""},
		{"there", tcp, there, nil, network},
		{"said to be there", tcp, there, []string{"X-Forwarded-For", "203.0.113.9", "X-Real-Ip", "203.0.113.9",
			"Forwarded", "for=203.0.113.9", "Client-Ip", "203.0.113.9"}, network},
		{"said to be elsewhere", tcp, here, []string{"X-Forwarded-For", "198.51.100.7"}, ""},
		{"no address", unix, anywhere, nil, network},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for path, body := range map[string]string{
				"/platform":              `{"error":"the token may not be used from here","code":"RESTRICTED"}`,
				modulestest.AccountsPath: `{"error":"the token may not be used from here","code":"RESTRICTED"}`,
				"/routing": `{"error":{"code":"RESTRICTED","message":` +
					`"the token may not be used from here","status":403}}`,
			} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(tc.header); i += 2 {
					r.Header.Add(tc.header[i], tc.header[i+1])
				}
				r.Header.Set("Authorization", "Bearer "+tc.token)
				before := len(s.Log())
				resp, err := tc.over.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if (resp.ProtoMajor == 2) != (tc.over == h2) {
					t.Errorf("%s over %s", path, resp.Proto)
				}
				switch {
				case tc.reason == "":
					if resp.StatusCode != 200 {
						t.Errorf("%s: %d %s", path, resp.StatusCode, got)
					}
				case resp.StatusCode != 403 || strings.TrimSpace(string(got)) != body ||
					resp.Header.Get("Cache-Control") != "no-store":
					t.Errorf("%s: %d %v %s", path, resp.StatusCode, resp.Header, got)
				default:
					waitLog(t, s, before, tc.reason)
				}
			}
		})
	}
	for _, transport := range []*http.Transport{tcp, h2, unix} {
		transport.CloseIdleConnections()
	}
	// What is refused does not count.
	want := map[string]account.Usage{"TILE": {Requests: 6, Units: 6}, "DIRECTION": {Requests: 6, Units: 6}}
	if diff := cmp.Diff(want, s.Usage(user, accounts["here"].ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A change holds at once, for a token that is in the cache; a trusted proxy says where clients are.
	s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+accounts["here"].ID, user,
		`{"restrictions":{"networks":["203.0.113.0/24"]}}`)
	if a := s.Do(http.MethodGet, "/platform", here, ""); a.Status != 403 {
		t.Errorf("after a change: %d %s", a.Status, a.Body)
	}
	trusting := "servers {\ntrusted_proxies static 127.0.0.1\n}"
	if err := s.Load(modulestest.Config{Global: trusting, Site: checkSite}); err != nil {
		t.Fatal(err)
	}
	if a := s.Do(http.MethodGet, "/platform", here, "", "X-Forwarded-For", "203.0.113.7"); a.Status != 200 {
		t.Errorf("behind a proxy: %d %s", a.Status, a.Body)
	}
}
