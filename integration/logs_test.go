package integration

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The log of the example has no large line, whatever clients send, and no token either.
func TestLogLines(t *testing.T) {
	leaveOut(t, "it sends megabytes of hostile heads")
	t.Parallel()
	s := startServer(t)
	user := s.userToken(t, "log-lines")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	before, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	const most = 500 << 10
	fill := func(one string) string { return strings.Repeat(one, most/len(one)) }
	n := 0
	for _, path := range allPaths {
		for _, head := range []string{
			"GET " + path + "?" + fill("[") + " HTTP/1.1\r\nHost: x\r\n",
			"GET " + path + "?" + fill("a=%5b&") + " HTTP/1.1\r\nHost: x\r\n",
			"GET " + path + "/" + fill("x/") + " HTTP/1.1\r\nHost: x\r\n",
			"GET " + path + " HTTP/1.1\r\nHost: " + fill("x") + "\r\n",
			"GET " + path + " HTTP/1.1\r\nHost: x\r\nUser-Agent: " + fill(`"`) + "\r\n",
			"GET " + path + " HTTP/1.1\r\nHost: x\r\nReferer: https://x/?apiKey=" + access + fill("&") + "\r\n",
			"GET " + path + " HTTP/1.1\r\nHost: x\r\n" + fill("X-Header: 1\r\n"),
			"GET " + path + "?apiKey=" + fill("x") + " HTTP/1.1\r\nHost: x\r\n",
			"GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + fill("x") + "\r\n",
			fill("M") + " " + path + " HTTP/1.1\r\nHost: x\r\n",
			"GET http://x" + path + "?lat=1&lon=1&x=#&apiKey=" + access + " HTTP/1.1\r\nHost: x\r\n",
			"GET http://x" + path + "?lat=1&lon=1&x=%zz&%61piKey=" + access + " HTTP/1.1\r\nHost: x\r\n",
			"GET " + path + "?" + strings.Repeat("x", 2030) + "&apiKey=" + access + " HTTP/1.1\r\nHost: x\r\n",
			"OPTIONS " + path + "?apiKey=" + access + " HTTP/1.1\r\nHost: x\r\nOrigin: " + page +
				"\r\nAccess-Control-Request-Method: GET\r\n",
		} {
			if resp, _ := s.raw(t, head+"Connection: close\r\n\r\n"); resp.Header.Get("Server") == "" {
				t.Errorf("%.100s: %d: Caddy has not seen it", head, resp.StatusCode)
			}
			n++
		}
	}
	var log []byte
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if log, err = os.ReadFile(s.log); err != nil {
			t.Fatal(err)
		}
		log = log[len(before):]
		lines := bytes.Count(log, []byte(`"logger":"http.log.access`))
		if lines >= n {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d lines of %d requests", lines, n)
		}
	}
	longest := 0
	for line := range bytes.Lines(log) {
		longest = max(longest, len(line))
	}
	t.Logf("%d requests; the longest line has %d bytes", n, longest)
	if longest > 16<<10 {
		t.Errorf("a line has %d bytes", longest)
	}
	if err := s.searchSecrets(); err != nil {
		t.Error(err)
	}
}

// plainLog is a log as operators add it, without a thought of what stands in URLs.
const plainLog = "\tlog {\n\t\toutput file own.log\n\t}\n"

// A plain log that is added to a Caddyfile of the documentation has no token in it, and the operator is told what is
// missing.
func TestPlainLogsHaveNoToken(t *testing.T) {
	leaveOut(t, "it starts a server for each Caddyfile of the documents")
	t.Parallel()
	t.Run("README", func(t *testing.T) {
		s := newReadmeServer(t, plainLog)
		s.run(t)
		acc := s.create(t, s.userToken(t, "plain-log"), nil)
		access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
		s.send(t, call{path: reverse + "?lat=39.15&lon=-75.52&apiKey=" + access}).want(200)
		s.send(t, call{path: reverse + "?lat=99&lon=-75.52&%61piKey=" + access}).want(400)
		s.send(t, call{path: matchPath(dover, "&apiKey="+access)}).want(200)
		s.raw(t, "GET http://x"+reverse+"?lat=1&lon=1&x=#&apiKey="+access+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		s.checkPlainLog(t)
	})
	handled := regexp.MustCompile(`(?m)^\thandle(?:_path)? (/[^ *]*)\*? \{$`)
	for _, snippet := range readSnippets(t, "fronting.md") {
		if !strings.Contains(snippet.text, "api_key_query") {
			continue
		}
		t.Run(strings.ReplaceAll(snippet.name, " ", "_"), func(t *testing.T) {
			replacements := []string{"\n:8080 {\n", "\n:8080 {\n" + plainLog}
			if strings.Contains(snippet.text, "./data/delaware.region") {
				replacements = append(replacements, "./data/delaware.region", region)
			}
			f := startFronted(t, snippet.text, replacements...)
			_, token := f.token("TILE", "MATRIX", "ONM", "DIRECTION", "TSS", "GEOCODING", "REVERSEGEOCODING")
			var paths []string
			if strings.Contains(snippet.text, "maps_match") {
				paths = append(paths, match)
			}
			for _, m := range handled.FindAllStringSubmatch(snippet.text, -1) {
				paths = append(paths, m[1])
			}
			for _, healthy := range []bool{true, false} {
				if !healthy {
					f.upstream.says(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
				}
				for _, path := range paths {
					f.ask(call{path: path + "?lat=1&lon=1&path=[{1,1},{1,2}]&apiKey=" + token})
					f.ask(call{path: path + "?lat=1&lon=1&path=[{1,1},{1,2}]&%61piKey=" + token,
						header: map[string][]string{"Referer": {"/?apiKey=" + token}}})
				}
			}
			f.checkPlainLog(t)
		})
	}
}

// checkPlainLog looks for tokens in all that the server has written, and for the line that tells of the plain log.
func (s *server) checkPlainLog(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(s.dir, "own.log")); err != nil {
		t.Error(err)
	}
	time.Sleep(100 * time.Millisecond) // lines are written after the answers
	if err := s.searchSecrets(); err != nil {
		t.Error(err)
	}
	if log := s.logTail(1 << 20); strings.Count(log, "these loggers write URLs as they are") != 1 {
		t.Error("the operator is not warned, or more than once")
	}
}

// What other sites of the same server log is their affair: nobody is warned of it, and the maps' own log misses
// nothing.
func TestLogsOfOtherSites(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	text := `{
	admin ` + s.admin + `
	log default {
		format filter {
			request maps_redact apiKey
		}
	}
	maps {
		store sqlite ` + s.store + `
		region delaware ` + s.region + `
	}
}
http://other.example.com:` + s.port + ` {
	log {
		output file other.log
	}
	respond "other"
}
http://127.0.0.1:` + s.port + ` {
	bind 127.0.0.1
	log {
		output file maps.log
		format filter {
			request maps_redact apiKey
		}
	}
	handle /healthz {
		maps_health
	}
	handle /api/v1/external/* {
		maps_tokens
	}
	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
	handle @accounts {
		maps_accounts
	}
	handle /v2/search/reverse-geocoding {
		maps_auth REVERSEGEOCODING {
			api_key_query apiKey
		}
		maps_reverse_geocode {
			geocoder local delaware
		}
	}
}
`
	text = strings.Replace(text, "http://other.example.com:"+s.port+" {",
		"http://other.example.com:"+s.port+" {\n\tbind 127.0.0.1", 1)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	acc := s.create(t, s.userToken(t, "other-sites"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	s.send(t, call{path: reverse + "?lat=39.15&lon=-75.52&apiKey=" + access}).want(200)
	time.Sleep(100 * time.Millisecond)
	if log := s.logTail(1 << 20); strings.Contains(log, "these loggers") {
		t.Error("the operator is warned of another site's log")
	}
	own, err := os.ReadFile(filepath.Join(s.dir, "maps.log"))
	if err != nil || !bytes.Contains(own, []byte("apiKey=REDACTED")) {
		t.Errorf("%v, the site's log: %s", err, own)
	}
	if err := s.searchSecrets(); err != nil {
		t.Error(err)
	}
}
