package auth_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"

	_ "github.com/mapsedge/caddy-maps/modules/redact"
)

const withKey = `
		maps_auth DIRECTION {
			api_key_query apiKey
			cors https://app.example.com
		}`

// Templates of error routes see the request that the server holds, also where a handler in front of maps_auth has
// copied it.
func TestErrorRoutesSeeNoToken(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	for name, format := range map[string]string{
		"filtered": "format filter {\nrequest maps_redact apiKey\nuri maps_redact apiKey\n}", "plain": "format json",
	} {
		t.Run(name, func(t *testing.T) {
			s := mapstest.Start(t, mapstest.Config{Format: format, Site: `
	handle /plain/* {` + withKey + `
		error "gone" 404
	}
	handle /copied/* {
		test_copy` + withKey + `
		error "gone" 404
	}
	handle /traced/* {
		tracing {
			span maps
		}` + withKey + `
		rewrite /elsewhere?{query}
		error "gone" 404
	}
	handle /broken/* {
		test_copy` + withKey + `
		error "gone" 418
	}
	handle_errors 418 {
		error "again" 500
	}
	handle_errors {
		templates
		header Content-Type text/html
		rewrite * /seen?{query}
		respond ` + "`{{.Req.RequestURI}} {{.OriginalReq.RequestURI}} {{.OriginalReq.URL}} {{.Req.URL}} " +
				"{{placeholder \"http.error.status_code\"}}`" + ` 404
	}
` + accountsSite})
			_, token := s.Token("acme", "DIRECTION")
			for _, path := range []string{"/plain/a", "/copied/a", "/traced/a"} {
				for _, target := range []string{path, "http://127.0.0.1" + path} {
					for _, query := range []string{"a=1&apiKey=" + token + "&b", "a=1&%61piKey=" + token + "&b",
						"a=1&x=#&apiKey=" + token + "&b"} {
						got := s.Raw("GET " + target + "?" + query + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
						if got.Status != http.StatusNotFound || strings.Contains(got.Body, token) || strings.Contains(got.Body, "piKey") {
							t.Errorf("%s: %d %s", target, got.Status, got.Body)
						}
						if !strings.Contains(got.Body, "/seen?a=1") || !strings.Contains(got.Body, target+"?a=1") ||
							!strings.HasSuffix(got.Body, " 404") {
							t.Errorf("%s: the error route saw another request: %s", target, got.Body)
						}
					}
				}
			}
			if got := s.Do("GET", "/broken/a?apiKey="+token, "", ""); got.Status != http.StatusTeapot {
				t.Errorf("an error route that fails: %d %s", got.Status, got.Body)
			}
			time.Sleep(50 * time.Millisecond) // the last lines are written after the responses
			log := s.Log()
			if at := strings.Index(log, token); at >= 0 {
				t.Errorf("the log holds the token after %s", log[max(0, at-500):at])
			}
			if !strings.Contains(log, "rewrote request") || !strings.Contains(log, "the request failed") {
				t.Error("the test does not reach what it is for")
			}
		})
	}
}

// No log has the token of a request whose URL carries it, whatever the logs' formats are, and the operator is told.
func TestLogsWithoutFilter(t *testing.T) {
	web := new(upstream)
	address := startHTTP(t, web)
	logOf := func(format string) string { return "log {\noutput file OWN\n" + format + "\n}\n" }
	for _, tc := range []struct {
		name, format string // of the default logger
		site, errors string
		open         []string
	}{
		{"plain log", "", logOf(""), "", []string{"http.log.access.log0"}},
		{"plain log, error routes", "", logOf("format json"), "handle_errors {\nrespond {err.status_code}\n}",
			[]string{"http.log.access.log0"}},
		{"nothing is filtered", "format json", logOf("format console"), "",
			[]string{"http.log.access.log0", "http.log.error.log0"}},
		{"nothing is filtered, error routes", "format json", logOf(""), "handle_errors {\nrespond {err.status_code}\n}",
			[]string{"http.log.access.log0", "http.log.error.log0"}},
		{"another parameter is filtered", "format filter {\nrequest maps_redact token\n}", "", "",
			[]string{"http.log.access", "http.log.error"}},
		{"another field is filtered", "format filter {\nrequest>headers>Referer delete\n}", "", "",
			[]string{"http.log.access", "http.log.error"}},
		{"all filtered", "format filter {\nrequest maps_redact apiKey\nuri maps_redact apiKey\n}",
			logOf("format filter {\nrequest maps_redact apiKey\n}"), "", nil},
		{"filtered by Caddy", "", logOf("format filter {\nrequest>uri query {\nreplace apiKey " +
			"HIDDEN\n}\nrequest>headers>Referer delete\n}"), "", nil},
		{"no request at all", "", logOf("format filter {\nrequest delete\n}"), "", nil},
		{"by a wrapped filter", "", logOf("format append {\nwrap filter {\nrequest maps_redact apiKey\n}\nx y\n}"), "", nil},
		{"thrown away", "", "log {\noutput discard\n}", "", nil},
		{"given to another log", "format filter {\nrequest maps_redact apiKey\nuri maps_redact apiKey\n}",
			"log {\noutput discard\n}\nlog special {\noutput file OWN\nno_hostname\n}\nlog_name special\n", "",
			[]string{"http.log.access.special"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			own := filepath.Join(t.TempDir(), "own.log")
			s := mapstest.Start(t, mapstest.Config{Format: tc.format, NoAccessLog: tc.site != "",
				Site: strings.Replace(tc.site, "OWN", own, 1) + `
	handle /good* {` + withKey + `
		reverse_proxy ` + address + `
	}
	handle /dead* {` + withKey + `
		reverse_proxy ` + deadAddress(t) + `
	}
	handle /gone* {
		test_copy` + withKey + `
		error "gone" 404
	}
` + tc.errors + accountsSite})
			_, token := s.Token("acme", "DIRECTION")
			_, lacking := s.Token("acme", "TILE")
			n := 0
			for path, status := range map[string]int{"/good": 200, "/dead": 502, "/gone": 404} {
				for _, query := range []string{"?a=1&apiKey=%s&b=2", "?%%61piKey=%s", "?apiKey=%s&x=%%zz"} {
					for _, one := range []struct {
						token  string
						status int
					}{{token, status}, {lacking, 403}, {token + "x", 401}} {
						target := path + fmt.Sprintf(query, one.token)
						got := s.Raw("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nReferer: http://h/" +
							target + "\r\n\r\n")
						if got.Status != one.status {
							t.Errorf("%s: %d %s, want %d", target, got.Status, got.Body, one.status)
						}
						n++
					}
				}
				s.Raw("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer " + token +
					"\r\nReferer: http://h/?apiKey=" + token + "\r\n\r\n")
				s.Raw("OPTIONS " + path + "?apiKey=" + token + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" +
					"Origin: https://app.example.com\r\nAccess-Control-Request-Method: GET\r\n\r\n")
				n += 2
			}
			// In the access log, or in ours: of each request there is one line.
			if strings.Contains(tc.site, "discard") {
				n = 0
			}
			var log string
			for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				text, _ := os.ReadFile(own) // there where the site has a log of its own
				log = s.Log() + string(text)
				if strings.Count(log, `handled request`) >= n || time.Now().After(deadline) {
					break
				}
			}
			for _, secret := range []string{token, lacking} {
				if at := strings.Index(log, secret); at >= 0 {
					t.Errorf("a log holds the token after %s", log[max(0, at-700):at])
				}
			}
			if got := strings.Count(log, "handled request"); got < n {
				t.Errorf("%d lines of %d requests", got, n)
			}
			warned := strings.Count(log, "these loggers write URLs as they are")
			if tc.open == nil && warned != 0 || tc.open != nil && warned != 1 {
				t.Errorf("%d warnings, want them for %v", warned, tc.open)
			}
			if tc.open != nil && !strings.Contains(log, `"loggers":["`+strings.Join(tc.open, `","`)+`"]`) {
				t.Errorf("the warning does not name %v: %s", tc.open, log[strings.Index(log, "these loggers"):][:600])
			}
			ours := strings.Contains(log, `"logger":"http.handlers.maps_auth","msg":"handled request"`)
			if ours != (tc.open != nil) {
				t.Errorf("lines of maps_auth itself: %v", ours)
			}
		})
	}
}
