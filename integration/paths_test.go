package integration

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// startWith runs a server with a Caddyfile of its own until the end of the test. The text is a site, with what stands
// in its braces but the address of the site, after the global options that every test needs.
func startWith(t *testing.T, maps, site string) *server {
	t.Helper()
	s := newServer(t)
	text := `{
	admin ` + s.admin + `
	maps {
		store sqlite ` + s.store + `
		region delaware ` + s.region + `
		` + maps + `
	}
}
http://:` + s.port + ` {
	bind 127.0.0.1
	handle /healthz {
		maps_health
	}
` + site + `
}
`
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	return s
}

// raw sends a request's text on a connection of its own, and returns the answer with its body read.
func (s *server) raw(t testing.TB, text string) (*http.Response, string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(text, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return resp, string(body)
}

// loose are ways to write a path that are not the path: a guard that compares texts does not see that they are
// meant.
func loose(path string) (all []string) {
	for _, before := range []string{"/zzz", "//", "/.", "/x/..", "/%2e"} {
		all = append(all, strings.Replace(before+path, "///", "//", 1))
	}
	_, last, _ := strings.Cut(strings.Trim(path, "/"), "/")
	return append(all,
		strings.Replace(path, "/", "/%2F", 1), strings.Replace(path, last, "/"+last, 1), strings.ToUpper(path),
		strings.Replace(path, "e", "%65", 1), strings.Replace(path, "r", "%72", 1),
		path+"%2F", path+"//", path+"/.", path+";x", path+"%20", path+"%00", path+path)
}

// An endpoint answers at its path and nowhere else, whatever a site lets through to its handler.
func TestEndpointsAnswerAtTheirPath(t *testing.T) {
	s := startWith(t, "", `
	@tokens path_regexp (?i)external
	handle @tokens {
		maps_tokens
	}
	@accounts path_regexp (?i)accounts
	handle @accounts {
		maps_accounts
	}
	@reverse path_regexp (?i)geocoding|coverage
	handle @reverse {
		maps_auth REVERSEGEOCODING
		maps_reverse_geocode {
			geocoder local delaware
		}
	}
	handle {
		maps_auth DIRECTION {
			error_style routing
		}
		maps_match {
			matcher local delaware
		}
	}`)
	user := s.userToken(t, "paths")
	acc := s.create(t, user, nil)
	access, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	query := "?" + strings.SplitN(matchPath(dover, ""), "?", 2)[1]
	exchange := exchangeCall(acc.ClientToken, acc.ServerToken).body
	for _, e := range []struct {
		method, path, query, bearer, body string
		status                            int
		also                              string // another form of the path, which is one too
	}{
		{"GET", external + "/jwks.json", "", "", "", 200, ""},
		{"POST", external + "/auth", "", "", exchange, 200, ""},
		{"POST", external + "/refresh", "", "", `{"refresh_token":"` + refresh + `"}`, 200, ""},
		{"POST", external + "/revoke", "", "", `{"refresh_token":"x"}`, 204, ""},
		{"GET", accounts, "", user, "", 200, accounts + "/"},
		{"GET", accounts + "/" + acc.ID, "", user, "", 200, ""},
		{"POST", accounts, "", user, `{"platform":"WEB","scopes":["TILE"]}`, 201, accounts + "/"},
		{"GET", reverse, "?lat=39.15&lon=-75.52", access, "", 200, ""},
		{"GET", coverage, "", access, "", 200, ""},
		{"GET", match, query, access, "", 200, strings.TrimSuffix(match, "/")},
	} {
		ask := func(path string) (int, string) {
			t.Helper()
			head := e.method + " " + path + e.query + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			if e.bearer != "" {
				head += "Authorization: Bearer " + e.bearer + "\r\n"
			}
			if e.body != "" {
				head += "Content-Type: application/json\r\nContent-Length: " + number(float64(len(e.body))) + "\r\n"
			}
			resp, body := s.raw(t, head+"\r\n"+e.body)
			if resp.StatusCode != 204 && resp.Header.Get("Content-Type") != jsonType {
				t.Errorf("%s %s: Content-Type %q", e.method, path, resp.Header.Get("Content-Type"))
			}
			if e.method == "POST" && resp.StatusCode < 204 {
				secretsOf(t, body)
			}
			return resp.StatusCode, body
		}
		for _, path := range []string{e.path, e.also} {
			if path == "" {
				continue
			}
			if status, body := ask(path); status != e.status {
				t.Errorf("%s %s: %d %s, want %d", e.method, path, status, body, e.status)
			}
		}
		for _, path := range loose(strings.TrimSuffix(e.path, "/")) {
			// Below the collection, a dot is the id of no account, to which nothing can be posted.
			if status, body := ask(path); status != 404 && !(status == 405 && strings.HasSuffix(path, accounts+"/.")) {
				t.Errorf("%s %s: %d %.200s, want 404", e.method, path, status, body)
			}
		}
	}
}

// Where a site puts an endpoint behind another path, the option prefix says at which the handler finds it.
func TestEndpointsBehindPrefixes(t *testing.T) {
	s := startWith(t, "", `
	handle_path /id/* {
		maps_tokens {
			prefix /
		}
	}
	handle_path /management/* {
		maps_accounts {
			prefix /accounts
		}
	}
	handle_path /everyone* {
		maps_accounts {
			prefix /
		}
	}
	handle /where {
		maps_auth REVERSEGEOCODING
		maps_reverse_geocode {
			prefix /where
			geocoder local delaware
		}
	}
	handle_path /drives* {
		maps_auth DIRECTION {
			error_style routing
		}
		maps_match {
			prefix /
			matcher local delaware
		}
	}
	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
	handle @accounts {
		maps_accounts
	}
	handle /api/v1/external/* {
		maps_tokens
	}`)
	user := s.userToken(t, "prefixes")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	json := func(method, path, bearer, body string) call {
		return call{method: method, path: path, bearer: bearer, contentType: jsonType, body: body}
	}
	a := s.send(t, json("POST", "/id/auth", "", exchangeCall(acc.ClientToken, acc.ServerToken).body)).want(200)
	secretsOf(t, string(a.body))
	s.send(t, call{path: "/id/jwks.json"}).want(200)
	s.send(t, json("POST", "/id"+external+"/auth", "", exchangeCall(acc.ClientToken, acc.ServerToken).body)).want(404)
	s.send(t, call{path: "/where?lat=39.15&lon=-75.52", bearer: access}).want(200)
	s.send(t, call{path: "/drives?" + strings.SplitN(matchPath(dover, ""), "?", 2)[1], bearer: access}).want(200)
	s.send(t, call{path: "/drives/?" + strings.SplitN(matchPath(dover, ""), "?", 2)[1], bearer: access}).want(200)
	s.send(t, call{path: "/drives/x?" + strings.SplitN(matchPath(dover, ""), "?", 2)[1], bearer: access}).want(404)
	// What Location says can be followed.
	for _, path := range []string{"/management/accounts", "/management/accounts/", "/everyone", "/everyone/", accounts,
		accounts + "/"} {
		a := s.send(t, json("POST", path, user, `{"platform":"WEB","scopes":["TILE"]}`)).want(201)
		secretsOf(t, string(a.body))
		var made, got accountBody
		a.into(&made)
		location := a.header.Get("Location")
		if want := strings.TrimSuffix(path, "/") + "/" + made.Data.ID; location != want {
			t.Errorf("%s: Location is %s, want %s", path, location, want)
		}
		if s.send(t, call{path: location, bearer: user}).want(200).into(&got); got.Data.ID != made.Data.ID {
			t.Errorf("%s is %s, want %s", location, got.Data.ID, made.Data.ID)
		}
	}
}
