package access_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// sayer answers with the headers and the status that the request's query asks for.
func sayer(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	for name, values := range query {
		if name != "status" {
			w.Header()[http.CanonicalHeaderKey(name)] = values
		}
	}
	if query.Has("early") {
		w.WriteHeader(http.StatusEarlyHints)
	}
	status, _ := strconv.Atoi(query.Get("status"))
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	if status != http.StatusNotModified {
		_, _ = w.Write([]byte("said"))
	}
}

func TestAnswerHeaders(t *testing.T) {
	address := startHTTP(t, http.HandlerFunc(sayer))
	s := modulestest.Start(t, modulestest.Config{Site: `
	handle /said {
		maps_auth DIRECTION
		reverse_proxy ` + address + `
	}
	handle /empty {
		maps_auth DIRECTION
	}
	handle /encoded {
		maps_auth DIRECTION
		encode {
			minimum_length 1
			match status 200
		}
		respond "a text that is long enough to be worth it, for it says the same again and again and again and again"
	}
	handle /error/* {
		maps_auth DIRECTION
		error "said" {path.1}
	}
` + accountsSite})
	_, token := s.Token("acme", "DIRECTION")

	for _, tc := range []struct{ path, cacheControl, vary string }{
		{"/said", "private", "Authorization"},
		{"/said?cache-control=max-age=60", "private, max-age=60", "Authorization"},
		{"/said?cache-control=Public,+max-age=60,+S-MaxAge=600", "private, max-age=60", "Authorization"},
		{"/said?cache-control=public&cache-control=max-age=60", "private, max-age=60", "Authorization"},
		{"/said?cache-control=no-store", "no-store", "Authorization"},
		{"/said?cache-control=private%3d%22a,+public%22,public", "private, no-cache", "Authorization"},
		{"/said?status=304&cache-control=public", "private", "Authorization"},
		{"/said?status=401&cache-control=public", "no-store", "Authorization"},
		{"/said?status=503&cache-control=max-age=60", "no-store", "Authorization"},
		{"/said?early=1&cache-control=public", "private", "Authorization"},
		{"/said?vary=Accept&vary=Cookie", "private", "Accept, Cookie, Authorization"},
		{"/said?vary=accept,+authorization", "private", "accept, authorization"},
		{"/said?vary=*", "private", "*"},
		{"/empty", "private", "Authorization"},
		{"/encoded", "private", "Accept-Encoding, Authorization"},
		{"/error/403", "no-store", "Authorization"},
	} {
		t.Run(tc.path, func(t *testing.T) {
			got := s.Do(http.MethodGet, tc.path, token, "")
			if cc := strings.Join(got.Header.Values("Cache-Control"), "|"); cc != tc.cacheControl {
				t.Errorf("Cache-Control %q, want %q", cc, tc.cacheControl)
			}
			if vary := strings.Join(got.Header.Values("Vary"), "|"); vary != tc.vary {
				t.Errorf("Vary %q, want %q", vary, tc.vary)
			}
			if strings.HasPrefix(tc.path, "/said") && !strings.Contains(tc.path, "304") && got.Body != "said" {
				t.Errorf("body %q", got.Body)
			}
		})
	}
}

// What an upstream allows caches beside Cache-Control goes. Which pages may read a response is the upstream's to say
// only where maps_auth does not.
func TestForeignHeaders(t *testing.T) {
	address := startHTTP(t, http.HandlerFunc(sayer))
	s := modulestest.Start(t, modulestest.Config{Site: `
	handle /said {
		maps_auth DIRECTION
		reverse_proxy ` + address + `
	}
	handle /pages {
		maps_auth DIRECTION {
			cors https://app.example.com
		}
		reverse_proxy ` + address + `
	}
` + accountsSite})
	_, token := s.Token("acme", "DIRECTION")
	for path, want := range map[string]map[string]string{
		"/said": {"Access-Control-Allow-Origin": "theirs", "Access-Control-Allow-Credentials": "theirs",
			"Access-Control-Expose-Headers": "theirs"},
		"/pages": {"Access-Control-Allow-Origin": "https://app.example.com",
			"Access-Control-Expose-Headers": "theirs|Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate"},
	} {
		for _, name := range []string{
			"CDN-Cache-Control", "Cloudflare-CDN-Cache-Control", "Surrogate-Control", "Edge-Control", "X-Accel-Expires",
			"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers",
		} {
			for _, status := range []string{"200", "304", "404", "503"} {
				got := s.Do(http.MethodGet, path+"?"+strings.ToLower(name)+"=theirs&status="+status, token, "", "Origin",
					"https://app.example.com")
				if value := strings.Join(got.Header.Values(name), "|"); value != want[name] {
					t.Errorf("%s %s: %s is %q, want %q", path, status, name, value, want[name])
				}
			}
		}
		got := s.Do(http.MethodGet, path+"?x-dns-prefetch-control=theirs&etag=theirs", token, "")
		if got.Header.Get("X-DNS-Prefetch-Control") != "theirs" || got.Header.Get("ETag") != "theirs" {
			t.Errorf("%s: others were removed too: %v", path, got.Header)
		}
	}
}

func TestAuthCORS(t *testing.T) {
	const app, other, foreign = "https://app.example.com", "https://other.example.com:8443", "https://evil.example.com"
	site := func(path, option, then string) string {
		return "handle " + path + " {\nmaps_auth DIRECTION {\n" + option + "\n}\n" + then + "\n}\n"
	}
	s := modulestest.Start(t, modulestest.Config{Site: site("/some", "cors "+app+" "+other+" https://*.example.org", "respond x") +
		site("/one", "cors "+app, "respond x") + site("/any", "cors *", "respond x") + site("/none", "", "respond x") +
		site("/gone", "cors *", "error 404") + accountsSite})
	_, token := s.Token("acme", "DIRECTION")
	_, lacking := s.Token("acme", "TILE")
	for _, tc := range []struct {
		path, token, origin string
		status              int
		allow               string
	}{
		{"/some", token, app, 200, app},
		{"/some", token, other, 200, other},
		{"/some", token, "https://a.example.org", 200, "https://a.example.org"},
		{"/some", token, foreign, 200, ""},
		{"/some", "", app, 401, app},
		{"/some", lacking, app, 403, app},
		{"/one", token, "", 200, app},
		{"/any", token, foreign, 200, "*"},
		{"/any", "", foreign, 401, "*"},
		{"/none", token, app, 200, ""},
		{"/gone", token, app, 404, "*"},
	} {
		got := s.Do(http.MethodGet, tc.path, tc.token, "", "Origin", tc.origin)
		allow := strings.Join(got.Header.Values("Access-Control-Allow-Origin"), "|")
		exposed := got.Header.Get("Access-Control-Expose-Headers") == "Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate"
		vary := "Authorization|Origin"
		if tc.path == "/none" {
			vary = "Authorization"
		}
		if got.Status != tc.status || allow != tc.allow || exposed != (tc.allow != "") ||
			strings.Join(got.Header.Values("Vary"), "|") != vary {
			t.Errorf("%s of %s: %d %v, want %d, allow %q, vary %q", tc.path, tc.origin, got.Status, got.Header, tc.status,
				tc.allow, vary)
		}
	}
	for _, tc := range []struct {
		path, origin, method, headers string
		status                        int
		allow, allowMethods           string
	}{
		{"/some", app, "GET", "authorization", 204, app, "GET"},
		{"/some", app, "GET", "authorization,x-device-id", 204, app, "GET"}, // as the origin service's SDK sends it
		{"/some", app, "TRACE", "", 204, "", ""},
		{"/some", foreign, "GET", "authorization", 204, "", ""},
		{"/some", app, "", "", 401, app, ""}, // no preflight request
		{"/none", app, "GET", "", 401, "", ""},
	} {
		got := s.Do(http.MethodOptions, tc.path, "", "", "Origin", tc.origin,
			"Access-Control-Request-Method", tc.method, "Access-Control-Request-Headers", tc.headers)
		headers, age := "", ""
		if tc.allowMethods != "" {
			headers, age = tc.headers, "7200"
		}
		if got.Status != tc.status || got.Header.Get("Access-Control-Allow-Origin") != tc.allow ||
			got.Header.Get("Access-Control-Allow-Methods") != tc.allowMethods ||
			got.Header.Get("Access-Control-Allow-Headers") != headers || got.Header.Get("Access-Control-Max-Age") != age {
			t.Errorf("%s %s of %s: %d %v", tc.method, tc.path, tc.origin, got.Status, got.Header)
		}
	}
}
