package access_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestRestrictionsAreNotEvaded: no form of a request makes it come from elsewhere, over HTTP/1.1, HTTP/2 and a Unix
// socket.
func TestRestrictionsAreNotEvaded(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	s := modulestest.Start(t, modulestest.Config{
		Global: "servers {\nprotocols h1 h2c\n}",
		Site:   checkSite + "}\nhttp://:80 {\nbind unix/" + socket + "\n" + checkSite,
	})
	user := s.UserToken("acme")
	token := func(restrictions string) string {
		acc := s.CreateAccount(user, "TILE DIRECTION", `"restrictions":`+restrictions)
		return s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	}
	page := token(`{"origins":["https://*.example.com"]}`)
	here := token(`{"networks":["127.0.0.1"]}`)
	there := token(`{"networks":["203.0.113.0/24"]}`)
	anywhere := token(`{"networks":["0.0.0.0/0","::/0"]}`)
	const app = "https://app.example.com"
	tcp := &http.Transport{}
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	unix := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	for _, tc := range []struct {
		name   string
		over   *http.Transport
		token  string
		header []string
		want   int
	}{
		{"page", tcp, page, []string{"Origin", app}, 200},
		{"page, HTTP/2", h2, page, []string{"origin", app}, 200},
		{"other page, HTTP/2", h2, page, []string{"origin", "https://evil.test"}, 403},
		{"page, Unix socket", unix, page, []string{"Origin", app}, 200},
		{"none, Unix socket", unix, page, nil, 403},
		{"another one after it", tcp, page, []string{"Origin", app, "Origin", "https://evil.test"}, 403},
		{"the same twice, HTTP/2", h2, page, []string{"Origin", app, "origin", app}, 403},
		{"two referers", tcp, page, []string{"Referer", app + "/", "Referer", "https://evil.test/"}, 403},
		{"list of origins", tcp, page, []string{"Origin", app + ", https://evil.test"}, 403},
		{"origins of RFC 6454", tcp, page, []string{"Origin", app + " https://evil.test"}, 403},
		{"empty origin", tcp, page, []string{"Origin", ""}, 403},
		{"opaque origin", tcp, page, []string{"Origin", "null", "Referer", app + "/"}, 403},
		{"name that goes on", tcp, page, []string{"Origin", app + ".evil.test"}, 403},
		{"dot at the end", tcp, page, []string{"Origin", app + "."}, 403},
		{"backslash", tcp, page, []string{"Origin", `https://evil.test\.example.com`}, 403},
		{"backslash in a referer", tcp, page, []string{"Referer", `https://evil.test\@app.example.com/`}, 403},
		{"other letters", tcp, page, []string{"Origin", "https://app.ｅxample.com"}, 403},
		{"the page by other headers", tcp, page, []string{"X-Forwarded-Host", "app.example.com", "Host", "app.example.com",
			"X-Original-Url", app + "/", "Forwarded", "host=app.example.com;proto=https"}, 403},
		{"WebSocket of another page", tcp, page, []string{"Connection", "Upgrade", "Upgrade", "websocket",
			"Sec-Websocket-Version", "13", "Sec-Websocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==", "Origin", "https://evil.test"}, 403},
		{"here", tcp, here, nil, 200},
		{"here, HTTP/2", h2, here, nil, 200},
		{"there", tcp, there, nil, 403},
		{"said to be there", tcp, there, []string{"X-Forwarded-For", "203.0.113.9", "X-Real-Ip", "203.0.113.9",
			"Forwarded", "for=203.0.113.9", "Client-Ip", "203.0.113.9"}, 403},
		{"said to be elsewhere", tcp, here, []string{"X-Forwarded-For", "198.51.100.7"}, 200},
		{"no address", unix, anywhere, nil, 403},
		{"no address, said to have one", unix, there, []string{"X-Forwarded-For", "203.0.113.9"}, 403},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for place, add := range map[string]func(r *http.Request){
				"header": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tc.token) },
				"query":  func(r *http.Request) { r.URL.RawQuery = "apiKey=" + tc.token },
			} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/platform", nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i < len(tc.header); i += 2 {
					r.Header.Add(tc.header[i], tc.header[i+1])
				}
				add(r)
				resp, err := tc.over.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode != tc.want || (resp.ProtoMajor == 2) != (tc.over == h2) ||
					tc.want == 403 && !strings.Contains(string(body), `"code":"RESTRICTED"`) {
					t.Errorf("token in the %s: %s %d %s", place, resp.Proto, resp.StatusCode, body)
				}
			}
		})
	}
	for _, transport := range []*http.Transport{tcp, h2, unix} {
		transport.CloseIdleConnections()
	}
	for name, secret := range map[string]string{"page": page, "here": here, "there": there, "anywhere": anywhere} {
		if strings.Contains(s.Log(), secret) {
			t.Errorf("the log has the token %q", name)
		}
	}
}
