package access_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func init() {
	caddy.RegisterModule(copier{})
	httpcaddyfile.RegisterHandlerDirective("test_copy", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		return copier{}, nil
	})
	httpcaddyfile.RegisterDirectiveOrder("test_copy", httpcaddyfile.Before, "tracing")
}

// copier is a handler that gives the next one a copy of the request, as those do that add to its context.
type copier struct{}

func (copier) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_copy", New: func() caddy.Module { return new(copier) }}
}

func (copier) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), copier{}, true)))
}

// upstream remembers the last request that reached it, with everything that could hold a token.
type upstream struct {
	mu   sync.Mutex
	last string
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var buf bytes.Buffer
	fmt.Fprintf(&buf, "%s %s\n", r.Method, r.RequestURI)
	_ = r.Header.Write(&buf)
	_ = r.Trailer.Write(&buf) // there once the body has been read
	for name := range r.Trailer {
		fmt.Fprintln(&buf, "trailer", name)
	}
	buf.Write(body)
	u.mu.Lock()
	u.last = buf.String()
	u.mu.Unlock()
	fmt.Fprint(w, "from upstream")
}

func (u *upstream) take() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	last := u.last
	u.last = ""
	return last
}

func startHTTP(t *testing.T, h http.Handler) (address string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// startFastCGI serves FastCGI, and hands seen every byte that it is sent: what a FastCGI server makes of the
// parameters hides some of them.
func startFastCGI(t *testing.T, seen *upstream) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = fcgi.Serve(tap{ln, seen}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "from FastCGI")
		})) // ends when the listener is closed
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// tap is a listener whose connections are overheard.
type tap struct {
	net.Listener
	seen *upstream
}

func (l tap) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return tapped{conn, l.seen}, err
}

type tapped struct {
	net.Conn
	seen *upstream
}

func (c tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.seen.mu.Lock()
	defer c.seen.mu.Unlock()
	c.seen.last += string(p[:n])
	return n, err
}

// deadAddress is an address without a listener.
func deadAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// stripSite has a path for each way in which a later handler or an upstream sees a request.
func stripSite(web, fast, forward, dead string) string {
	const authed = "maps_auth DIRECTION {\napi_key_query apiKey accessToken\n}\n"
	const seen = `respond "{http.request.orig_uri} {http.request.orig_uri.query} ` +
		`{http.request.orig_uri.prefixed_query} {uri} {query} ` +
		`{http.request.uri.prefixed_query} {http.request.uri.query.apiKey} {header.Authorization} {header.Referer}"`
	site := ""
	for path, inside := range map[string]string{
		"/http*":         authed + "reverse_proxy " + web,
		"/fastcgi*":      authed + "reverse_proxy " + fast + " {\ntransport fastcgi {\nroot /srv\n}\n}",
		"/forward/*":     authed + "forward_auth " + forward + " {\nuri /verify\n}\nreverse_proxy " + web,
		"/placeholders*": authed + seen,
		"/copied*":       "test_copy\n" + authed + seen,
		"/failed-copy*":  "test_copy\n" + authed + `error "gone" 404`,
		"/rewritten*":    authed + "rewrite /other?{query}\nreverse_proxy " + web,
		"/dead*":         authed + "reverse_proxy " + dead,
		"/error*":        authed + `error "gone" 404`,
		"/forwarded*":    "maps_auth DIRECTION {\napi_key_query apiKey\nforward_token\n}\nreverse_proxy " + web,
	} {
		site += "handle " + path + " {\n" + inside + "\n}\n"
	}
	return site + "handle_errors {\n@dead path /dead*\nhandle @dead {\nreverse_proxy " + web + "\n}\n" + seen + "\n}\n" +
		accountsSite
}

func TestTokenIsStripped(t *testing.T) {
	web, fast, forward := new(upstream), new(upstream), new(upstream)
	s := modulestest.Start(t, modulestest.Config{Site: stripSite(
		startHTTP(t, web), startFastCGI(t, fast), startHTTP(t, forward), deadAddress(t))})
	_, token := s.Token("acme", "DIRECTION")

	// everything but the parameter stays as it was, byte for byte
	const rest = "a=%7B1,2%7D&&b=x+y&c=%c3%a9"
	requests := map[string]func(path string) modulestest.Response{
		"bearer": func(path string) modulestest.Response {
			return s.Do(http.MethodGet, path+"?"+rest, token, "")
		},
		"query": func(path string) modulestest.Response {
			return s.Do(http.MethodGet, path+"?a=%7B1,2%7D&apiKey="+token+"&&b=x+y&c=%c3%a9", "", "",
				"Referer", "https://app.example.com/map?x=1&apiKey="+token+"&y=2#apiKey="+token)
		},
		"accessToken": func(path string) modulestest.Response {
			return s.Do(http.MethodGet, path+"?accessToken="+token+"&"+rest+"&apiKey=", "", "",
				"Referer", "https://app.example.com/map?accessToken="+token+"&apiKey=#access%54oken="+token)
		},
		"query, encoded": func(path string) modulestest.Response {
			return s.Do(http.MethodGet, path+"?api%4bey="+strings.ReplaceAll(token, "e", "%65")+"&"+rest, "", "",
				"Referer", "https://app.example.com/?%61piKey="+strings.ReplaceAll(token, "e", "%65"))
		},
		"bearer, empty query": func(path string) modulestest.Response {
			return s.Do(http.MethodGet, path+"?"+rest+"&apiKey=", token, "")
		},
	}
	clean := func(t *testing.T, what, text string) {
		t.Helper()
		if text == "" {
			t.Errorf("%s: nothing was seen", what)
		}
		for _, secret := range []string{token, strings.ReplaceAll(token, "e", "%65"), "apiKey", "api%4bey", "%61piKey",
			"accessToken", "access%54oken"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s: %s", what, secret, text)
			}
		}
		if !strings.Contains(text, rest) {
			t.Errorf("%s changed other bytes of the query: %s", what, text)
		}
	}
	for name, send := range requests {
		t.Run(name, func(t *testing.T) {
			for path, seen := range map[string][]*upstream{
				"/http/x": {web}, "/fastcgi/x.php": {fast}, "/forward/x": {forward, web}, "/rewritten": {web}, "/dead": {web},
				"/placeholders": nil, "/copied": nil, "/failed-copy": nil, "/error": nil,
			} {
				got := send(path)
				for _, u := range seen {
					clean(t, "an upstream of "+path, u.take())
				}
				if seen == nil { // the response has the placeholders
					clean(t, path, got.Body)
				}
			}
		})
	}
	t.Run("forward_token", func(t *testing.T) {
		s.Do(http.MethodGet, "/forwarded?x=1", token, "")
		if got := web.take(); !strings.Contains(got, "Bearer "+token) {
			t.Errorf("the header did not reach the upstream: %s", got)
		}
		s.Do(http.MethodGet, "/forwarded?x=1&apiKey="+token, "", "")
		if got := web.take(); !strings.Contains(got, "x=1&apiKey="+token) {
			t.Errorf("the parameter did not reach the upstream: %s", got)
		}
	})
	t.Run("trailers", func(t *testing.T) {
		for _, path := range []string{"/http/t", "/forward/t", "/fastcgi/t.php"} {
			for _, announced := range []string{"X-Sum, Authorization, Referer, Cookie", token} {
				s.Raw("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer " + token +
					"\r\nTransfer-Encoding: chunked\r\nTrailer: " + announced +
					"\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\nAuthorization: Bearer " + token + "\r\nReferer: /?apiKey=" + token +
					"\r\n\r\n")
				got := web.take() + fast.take() + forward.take()
				if !strings.Contains(got, "body") {
					t.Errorf("%s, %s: the upstream saw %s", path, announced, got)
				}
				if strings.Contains(got, token) || strings.Contains(got, "trailer") ||
					strings.Contains(strings.ToLower(got), "authorization") {
					t.Errorf("%s, %s: the upstream saw the trailers: %s", path, announced, got)
				}
			}
			// A body of known length has no trailers, even if some are announced.
			s.Raw("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer " + token +
				"\r\nContent-Length: 4\r\nTrailer: Authorization, " + token + "\r\n\r\nbody")
			got := web.take() + fast.take() + forward.take()
			if strings.Contains(got, token) || strings.Contains(got, "Authorization") {
				t.Errorf("%s: the upstream saw what was announced: %s", path, got)
			}
		}
	})
}
