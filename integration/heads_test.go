package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// familyError reads an error body of the family that a path has, and fails the test where it is of none.
func familyError(t *testing.T, path string, status int, body string) (text, code string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if strings.TrimSuffix(path, "/")+"/" == match {
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

// What Caddy refuses before any handler has seen it is JSON of the path's family, with a code where the family has
// one.
func TestRefusedHeads(t *testing.T) {
	s := sharedServer(t)
	for _, path := range allPaths {
		for _, host := range []string{"", " ", "...", "."} {
			resp, body := s.raw(t, "GET "+path+" HTTP/1.1\r\nHost:"+host+"\r\nConnection: close\r\n\r\n")
			if resp.StatusCode != 400 || resp.Header.Get("Content-Type") != jsonType {
				t.Errorf("%s, host %q: %d %v %s", path, host, resp.StatusCode, resp.Header, body)
			}
			text, code := familyError(t, path, 400, body)
			want := validation
			if path == match {
				want = "InvalidInput"
			}
			if !strings.HasPrefix(text, "host: ") || code != want {
				t.Errorf("%s, host %q: %s", path, host, body)
			}
		}
		resp, body := s.raw(t, strings.Repeat("X", 33)+" "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if resp.StatusCode != 405 || resp.Header.Get("Allow") == "" || resp.Header.Get("Content-Type") != jsonType {
			t.Errorf("%s, a long method: %d %v %s", path, resp.StatusCode, resp.Header, body)
		}
		if _, code := familyError(t, path, 405, body); path == match && code != "MethodNotAllowed" ||
			path != match && code != "" {
			t.Errorf("%s, a long method: %s", path, body)
		}
	}
}

// A body that does not arrive in the time that the server gives it is 408, whatever it was to be.
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
	// One that breaks off is not: the client is gone, or has said how long it is and was wrong.
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s/auth HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", external)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 400 || !bytes.Contains(body, []byte("body: it ended early")) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// The policies and the state of the limits, as draft-ietf-httpapi-ratelimit-headers has them.
var (
	policyItem = regexp.MustCompile(`^"[a-z_]+";q=[1-9][0-9]*;w=[1-9][0-9]*$`)
	stateItem  = regexp.MustCompile(`^"([a-z_]+)";r=0;t=([1-9][0-9]*)$`)
)

// Clients learn of the limits: on each limited answer what is allowed, on a refusal when to come again. A web page
// learns it too, also where the limit stands before maps_auth.
func TestLimitHeaders(t *testing.T) {
	leaveOut(t, "it waits until limits end")
	s := startLimited(t, "# cors https://app.example.com", "cors https://app.example.com")
	user := s.userToken(t, "limit-headers")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	pages := map[string][]string{"Origin": {page}}
	exposed := "Retry-After, RateLimit, RateLimit-Policy"
	for _, test := range []struct {
		call   call
		status int
		policy string
		zone   string
	}{
		{call{path: reverse + "?lat=1&lon=1"}, 401, `"maps_addresses";q=200;w=1, "maps_accounts";q=50;w=1`, "maps_addresses"},
		{call{path: reverse + "?lat=1&lon=1", bearer: access}, 200, `"maps_addresses";q=200;w=1, "maps_accounts";q=50;w=1`,
			"maps_accounts"},
		{call{path: match + "?path=x"}, 401, `"maps_addresses";q=200;w=1, "maps_accounts";q=50;w=1`, "maps_addresses"},
		{refreshCall("mpr_x"), 401, `"tokens";q=100;w=10`, "tokens"},
		{call{path: accounts}, 401, `"management";q=100;w=10`, "management"},
		{call{path: "/nothing"}, 404, "", "unknown_addresses"},
	} {
		test.call.header = pages
		// The limits for maps hold for a second: what the case before sent must not count towards the zone of this one.
		time.Sleep(1100 * time.Millisecond)
		a := s.send(t, test.call)
		a.want(test.status).wantHeader("RateLimit-Policy", test.policy).wantHeader("RateLimit", "")
		a, _ = s.untilLimited(t, test.call, test.status)
		a.wantHeader("RateLimit-Policy", test.policy)
		a.wantHeader("Access-Control-Allow-Origin", page).wantHeader("Access-Control-Expose-Headers", exposed)
		for item := range strings.SplitSeq(test.policy, ", ") {
			if test.policy != "" && !policyItem.MatchString(item) {
				t.Errorf("policy %q", item)
			}
		}
		state := stateItem.FindStringSubmatch(a.header.Get("RateLimit"))
		if state == nil || state[1] != test.zone || state[2] != a.header.Get("Retry-After") {
			t.Errorf("%s: RateLimit is %q, Retry-After %q",
				test.call.path, a.header.Get("RateLimit"), a.header.Get("Retry-After"))
		}
		// Whoever is no page is not told what pages may do.
		test.call.header = nil
		a, _ = s.untilLimited(t, test.call, test.status)
		if test.zone != "maps_addresses" && test.zone != "maps_accounts" { // maps_auth names the one origin to everybody
			a.wantHeader("Access-Control-Allow-Origin", "")
		}
	}
	a := s.send(t, call{path: external + "/jwks.json", header: pages}).want(200).wantHeader("RateLimit-Policy", "")
	a.wantHeader("Access-Control-Allow-Origin", "")
}
