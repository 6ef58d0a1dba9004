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
		{"/said?cache-control=public", "private", "Authorization"},
		{"/said?cache-control=Public,+max-age=60,+S-MaxAge=600", "private, max-age=60", "Authorization"},
		{"/said?cache-control=public&cache-control=max-age=60", "private, max-age=60", "Authorization"},
		{"/said?cache-control=no-store", "no-store", "Authorization"},
		{"/said?cache-control=private,max-age=5", "private, max-age=5", "Authorization"},
		{"/said?cache-control=private%3d%22a,+public%22,public", "private, no-cache", "Authorization"},
		{"/said?status=304&cache-control=public", "private", "Authorization"},
		{"/said?status=404&cache-control=public", "private", "Authorization"},
		{"/said?status=401&cache-control=public", "no-store", "Authorization"},
		{"/said?status=403", "no-store", "Authorization"},
		{"/said?status=503&cache-control=max-age=60", "no-store", "Authorization"},
		{"/said?early=1&cache-control=public", "private", "Authorization"},
		{"/said?vary=Accept", "private", "Accept, Authorization"},
		{"/said?vary=Accept&vary=Cookie", "private", "Accept, Cookie, Authorization"},
		{"/said?vary=accept,+authorization", "private", "accept, authorization"},
		{"/said?vary=*", "private", "*"},
		{"/empty", "private", "Authorization"},
		{"/encoded", "private", "Accept-Encoding, Authorization"},
		{"/error/404", "private", "Authorization"},
		{"/error/403", "no-store", "Authorization"},
		{"/error/503", "no-store", "Authorization"},
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
			"Access-Control-Expose-Headers": "theirs|Retry-After, RateLimit, RateLimit-Policy"},
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
	address := startHTTP(t, http.HandlerFunc(sayer))
	s := modulestest.Start(t, modulestest.Config{Site: `
	handle /some {
		maps_auth DIRECTION {
			cors https://app.example.com https://other.example.com:8443 https://*.example.org
		}
		reverse_proxy ` + address + `
	}
	handle /one {
		maps_auth DIRECTION {
			cors https://app.example.com
		}
		respond "passed"
	}
	handle /any {
		maps_auth DIRECTION {
			cors *
		}
		respond "passed"
	}
	handle /none {
		maps_auth DIRECTION
		respond "passed"
	}
	handle /gone {
		maps_auth DIRECTION {
			cors *
		}
		error 404
	}
` + accountsSite})
	_, token := s.Token("acme", "DIRECTION")
	_, lacking := s.Token("acme", "TILE")
	const app, other, foreign = "https://app.example.com", "https://other.example.com:8443", "https://evil.example.com"

	for _, tc := range []struct {
		path, token, origin string
		status              int
		allow, vary         string
	}{
		{"/some", token, app, 200, app, "Authorization|Origin"},
		{"/some", token, other, 200, other, "Authorization|Origin"},
		{"/some", token, "https://a.example.org", 200, "https://a.example.org", "Authorization|Origin"},
		{"/some", token, "https://a.example.org.evil.test", 200, "", "Authorization|Origin"},
		{"/some", token, foreign, 200, "", "Authorization|Origin"},
		{"/some", token, "null", 200, "", "Authorization|Origin"},
		{"/some", token, "", 200, "", "Authorization|Origin"},
		{"/some", "", app, 401, app, "Authorization|Origin"},
		{"/some", lacking, app, 403, app, "Authorization|Origin"},
		{"/some?access-control-allow-origin=*", token, app, 200, app, "Authorization|Origin"},
		{"/some?access-control-allow-origin=*", token, foreign, 200, "", "Authorization|Origin"},
		{"/one", token, "", 200, app, "Authorization|Origin"},
		{"/one", token, foreign, 200, "", "Authorization|Origin"},
		{"/any", token, foreign, 200, "*", "Authorization|Origin"},
		{"/any", "", foreign, 401, "*", "Authorization|Origin"},
		{"/any", "", "", 401, "*", "Authorization|Origin"},
		{"/none", token, app, 200, "", "Authorization"},
		{"/gone", token, app, 404, "*", "Authorization|Origin"},
	} {
		t.Run(tc.path+" "+tc.origin, func(t *testing.T) {
			got := s.Do(http.MethodGet, tc.path, tc.token, "", "Origin", tc.origin)
			if got.Status != tc.status {
				t.Errorf("status %d, want %d", got.Status, tc.status)
			}
			if allow := strings.Join(got.Header.Values("Access-Control-Allow-Origin"), "|"); allow != tc.allow {
				t.Errorf("Access-Control-Allow-Origin %q, want %q", allow, tc.allow)
			}
			exposed := got.Header.Get("Access-Control-Expose-Headers")
			if (exposed == "Retry-After, RateLimit, RateLimit-Policy") != (tc.allow != "") {
				t.Errorf("Access-Control-Expose-Headers %q", exposed)
			}
			if vary := strings.Join(got.Header.Values("Vary"), "|"); vary != tc.vary {
				t.Errorf("Vary %q, want %q", vary, tc.vary)
			}
		})
	}

	for _, tc := range []struct {
		name, path, origin, method, headers string
		status                              int
		allow, allowHeaders                 string
	}{
		{"asks", "/some", app, "GET", "authorization", 204, app, "authorization"},
		{"asks without headers", "/any", app, "POST", "", 204, "*", ""},
		{"a method that is not allowed", "/some", app, "TRACE", "", 204, "", ""},
		{"foreign", "/some", foreign, "GET", "authorization", 204, "", ""},
		{"no preflight", "/some", app, "", "", 401, app, ""},
		{"not configured", "/none", app, "GET", "", 401, "", ""},
	} {
		t.Run("preflight "+tc.name, func(t *testing.T) {
			got := s.Do(http.MethodOptions, tc.path, "", "", "Origin", tc.origin,
				"Access-Control-Request-Method", tc.method, "Access-Control-Request-Headers", tc.headers)
			if got.Status != tc.status {
				t.Errorf("status %d, want %d", got.Status, tc.status)
			}
			if allow := got.Header.Get("Access-Control-Allow-Origin"); allow != tc.allow {
				t.Errorf("Access-Control-Allow-Origin %q, want %q", allow, tc.allow)
			}
			if allow := got.Header.Get("Access-Control-Allow-Headers"); allow != tc.allowHeaders {
				t.Errorf("Access-Control-Allow-Headers %q, want %q", allow, tc.allowHeaders)
			}
			if methods := got.Header.Get("Access-Control-Allow-Methods"); (tc.allow != "" && tc.status == 204) != (methods == tc.method && methods != "") {
				t.Errorf("Access-Control-Allow-Methods %q", methods)
			}
		})
	}
}
