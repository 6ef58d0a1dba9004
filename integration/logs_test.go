package integration

import (
	"bytes"
	"os"
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
