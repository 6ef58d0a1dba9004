package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw sends the text of a request on its own connection, and returns the response with its body.
func (s *server) raw(t testing.TB, text string) (*http.Response, string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	go func() { _, _ = io.WriteString(conn, text) }() // fails where the server has answered before the end
	method, _, _ := strings.Cut(text, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.200q: %v", text, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%.200q: %v", text, err)
	}
	return resp, string(body)
}

// familyError reads an error body of the family that a path has, and fails the test where it is not one.
func familyError(t *testing.T, path string, status int, body string) (text, code string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if strings.HasPrefix(path, "/api/route/") {
		var routing struct {
			Error struct {
				Code, Message string
				Status        int
			}
		}
		if err := dec.Decode(&routing); err != nil || routing.Error.Status != status || routing.Error.Code == "" ||
			routing.Error.Message == "" {
			t.Errorf("%s: %d %s", path, status, body)
		}
		return routing.Error.Message, routing.Error.Code
	}
	var platform struct{ Error, Code string }
	if err := dec.Decode(&platform); err != nil || platform.Error == "" {
		t.Errorf("%s: %d %s", path, status, body)
	}
	return platform.Error, platform.Code
}

var allPaths = []string{external + "/auth", external + "/jwks.json", accounts, accounts + "/sa_x", reverse, match,
	route, "/tiles/delaware.json", "/tiles/delaware/0/0/0.mvt", "/healthz", "/", "/nothing"}

// What Caddy refuses before a handler runs, and what no handler answers, is JSON of the path's family.
func TestRefusedHeads(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for _, path := range allPaths {
		for name, test := range map[string]struct {
			head          string
			status        int
			text          string // how the error's text begins
			code, routing string // of the platform's family, and of the routing family
		}{
			"no host":  {"GET " + path + " HTTP/1.1\r\nHost:\r\n", 400, "host: ", "FAILED_VALIDATION", "InvalidInput"},
			"bad host": {"GET " + path + " HTTP/1.1\r\nHost: ...\r\n", 400, "host: ", "FAILED_VALIDATION", "InvalidInput"},
			"long method": {strings.Repeat("X", 33) + " " + path + " HTTP/1.1\r\nHost: x\r\n", 405, "", "",
				"MethodNotAllowed"},
		} {
			resp, body := s.raw(t, test.head+"Connection: close\r\n\r\n")
			if resp.StatusCode != test.status || resp.Header.Get("Content-Type") != jsonType ||
				test.status == 405 && resp.Header.Get("Allow") == "" {
				t.Errorf("%s, %s: %d %v %s", path, name, resp.StatusCode, resp.Header, body)
			}
			want := test.code
			if path == match {
				want = test.routing
			}
			if text, code := familyError(t, path, test.status, body); !strings.HasPrefix(text, test.text) || code != want {
				t.Errorf("%s, %s: %s", path, name, body)
			}
		}
	}
	for path, status := range map[string]int{"/": 200, "/nothing": 404, reverse + "/": 404, "/v2/search": 404,
		match + "more": 404, "/playgrounds": 404, "/console.html": 404, route: 401, "/playground": 308, "/console": 308,
		"/docs": 308, "/playground/": 200, "/docs/openapi.yaml": 200} {
		a := s.send(t, call{path: path}).want(status)
		switch status {
		case 308:
			a.wantHeader("Location", path[1:]+"/")
		case 401, 404:
			a.wantHeader("Content-Type", jsonType)
			familyError(t, path, status, string(a.body))
		}
	}
}

// Anything on a connection gets one whole response, and no server error.
func TestMalformed(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	post := "POST " + match + " HTTP/1.1\r\nHost: x\r\n"
	for name, test := range map[string]struct {
		text   string
		status int
	}{
		"no HTTP":                {strings.Repeat("nonsense", 9) + "\r\n\r\n", 400},
		"no header name":         {"GET / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n", 400},
		"two hosts":              {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
		"HTTP/3.0":               {"GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505},
		"broken percent-coding":  {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		"a NUL in the path":      {"GET " + reverse + "%00 HTTP/1.1\r\nHost: x\r\n\r\n", 404},
		"huge header":            {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 600<<10) + "\r\n\r\n", 431},
		"huge token":             {"GET " + reverse + "?apiKey=" + strings.Repeat("e", 10<<20) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
		"unknown expectation":    {post + "Expect: 200-ok\r\n\r\n", 417},
		"negative length":        {post + "Content-Length: -1\r\n\r\n", 400},
		"two lengths":            {post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
		"unknown encoding":       {post + "Transfer-Encoding: gzip\r\n\r\n", 501},
		"deep nesting, no token": {post + "Content-Length: 9000\r\n\r\n" + strings.Repeat("[", 9000), 401},
	} {
		if resp, body := s.raw(t, test.text); resp.StatusCode != test.status {
			t.Errorf("%s: %d %.200s, want %d", name, resp.StatusCode, body, test.status)
		}
	}
	acc := s.create(t, s.userToken(t, "malformed"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	for body, status := range map[string]int{
		"": 422, "null": 422, "{}{}": 422, "\xff": 422, `{"path":"\ud800"}`: 422, strings.Repeat("[", 20000): 422,
		`{"path":[{"lat":1e999,"lng":0},{"lat":1,"lng":1}]}`: 422, strings.Repeat(" ", 9<<20): 413,
	} {
		a := s.send(t, call{method: "POST", path: match, bearer: access, contentType: jsonType, body: body}).want(status)
		familyError(t, match, status, string(a.body))
	}
	s.send(t, call{path: "/healthz"}).want(200)
}

// A body that does not arrive in time is answered 408.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	s := startRaced(t, "read_body 1m", "read_body 1s")
	user := s.userToken(t, "slow-bodies")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	for _, c := range []struct{ method, path, token, media string }{
		{"POST", external + "/auth", "", jsonType}, {"POST", external + "/refresh", "", jsonType},
		{"POST", external + "/revoke", "", ""},
		{"POST", accounts, user, jsonType}, {"PATCH", accounts + "/" + acc.ID, user, jsonType},
		{"POST", match, access, jsonType}, {"POST", match, access, "application/gpx+xml"},
		{"POST", match, access, "application/geo+json"},
	} {
		for _, framing := range []string{"Content-Length: 1000\r\n\r\n{",
			"Transfer-Encoding: chunked\r\n\r\n5\r\n{    \r\n"} {
			t.Run(c.method+" "+c.path+" "+framing[:7], func(t *testing.T) {
				t.Parallel()
				head := c.method + " " + c.path + " HTTP/1.1\r\nHost: x\r\n"
				if c.token != "" {
					head += "Authorization: Bearer " + c.token + "\r\n"
				}
				if c.media != "" {
					head += "Content-Type: " + c.media + "\r\n"
				}
				begun := time.Now()
				resp, body := s.raw(t, head+framing)
				if took := time.Since(begun); resp.StatusCode != 408 || took < 900*time.Millisecond || took > 10*time.Second {
					t.Errorf("%s: %d after %v: %s", c.media, resp.StatusCode, took, body)
				}
				if _, code := familyError(t, c.path, 408, body); c.path == match && code != "RequestTimeout" {
					t.Error(body)
				}
				if resp.Header.Get("Content-Type") != jsonType || !resp.Close {
					t.Error(resp.Header)
				}
			})
		}
	}
	// A body that ends early is a bad request: its client said how long it is, and was wrong.
	answer := sendBody(t, "127.0.0.1:"+s.port, exchangeCall("", ""), "Content-Length: 100\r\n\r\n{")
	if !bytes.HasPrefix(answer, []byte("HTTP/1.1 400 ")) || !bytes.Contains(answer, []byte("body: it ended early")) {
		t.Errorf("%s", answer)
	}
}
