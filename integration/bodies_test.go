package integration

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// checkBodies is the check of the Caddyfile that passes on the requests of engines as they are.
func checkBodies(t *testing.T, text string) {
	checkPostsAgain(t, text)
	f := startFronted(t, text)
	for _, service := range []struct{ scope, endpoint, path string }{
		{"MATRIX", "/api/v1/matrix", "/sources_to_targets"},
		{"ONM", "/api/v1/one-to-many", "/sources_to_targets"},
		{"ONM", "/api/v1/isochrone", "/isochrone"},
		{"TSS", "/api/v1/optimization", "/"},
	} {
		body := `{"scope":"` + service.scope + `"}`
		_, got := f.gate(service.scope, call{method: "POST", path: service.endpoint, contentType: jsonType, body: body})
		if got.method != "POST" || got.uri != service.path || got.body != body || got.header.Get("Content-Type") != jsonType {
			t.Errorf("%+v", got)
		}
		f.wantAccount(got)
		_, token := f.token(service.scope)
		query := "?json=" + url.QueryEscape(body)
		f.ask(call{path: service.endpoint + query, bearer: token}).want(200)
		if got := f.passed(token); got.method != "GET" || got.uri != service.path+query {
			t.Errorf("%+v", got)
		}
		most := call{method: "POST", path: service.endpoint, bearer: token, contentType: jsonType}
		most.body = strings.Repeat(" ", 1<<20)
		large := most
		large.body += " "
		f.ask(large).want(413)
		f.ask(most).want(200)
		f.upstream.take()
		if most.body = body; service.scope != "TSS" { // a single upstream is not marked
			f.checkBadBodies(most)
		}
	}
}

// checkPostsAgain checks that a POST whose upstream breaks off is answered by the other one.
func checkPostsAgain(t *testing.T, text string) {
	broken := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/status" { // in good health, as far as anybody knows
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(broken.Close)
	f := startFronted(t, text, "valhalla-1:8002", strings.TrimPrefix(broken.URL, "http://"))
	_, token := f.token("MATRIX")
	for range 10 { // either is asked first, at random
		f.ask(call{method: "POST", path: "/api/v1/matrix", bearer: token, contentType: jsonType, body: "{}"}).want(200)
		if got := f.passed(token); got.body != "{}" {
			t.Errorf("%+v", got)
		}
	}
}

// badBodies are bodies that are too large without saying so, or that break off, with their headers, by what the answer
// to a POST begins with.
var badBodies = map[string]string{
	"HTTP/1.1 413 ": "Transfer-Encoding: chunked\r\n\r\n200000\r\n" + strings.Repeat(" ", 2<<20) + "\r\n0\r\n\r\n",
	"HTTP/1.1 400 ": "Content-Length: 100\r\n\r\n{",
	"HTTP/1.1 ":     "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\nx\r\n", // what is there of it is passed on
}

// checkBadBodies checks that a bad body is not held against the upstreams: the next request is answered.
func (f *fronted) checkBadBodies(good call) {
	f.t.Helper()
	for want, rest := range badBodies {
		answer := sendBody(f.t, strings.TrimPrefix(f.site, "http://"), good, rest)
		if good.method == "POST" && !bytes.HasPrefix(answer, []byte(want)) {
			f.t.Errorf("%s, %.40q: %.100q, want %q", good.path, rest, answer, want)
		}
		f.ask(good).want(200)
	}
	f.upstream.take()
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
