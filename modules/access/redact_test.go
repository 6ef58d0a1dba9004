package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	format = `format filter {
		request maps_redact apiKey accessToken
		resp_headers maps_redact apiKey accessToken
		uri maps_redact apiKey accessToken
	}`
	token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJzYV8wIn0.c2lnbmF0dXJl"
)

// echoSite answers, fails and rewrites, and sends back what it is sent, so that all kinds of lines are written.
const echoSite = `
	handle /fail/* {
		error "gone" 502
	}
	handle_path /rewritten/* {
		respond "rewritten"
	}
	handle {
		header X-Echo {header.X-Echo}
		respond "fine"
	}`

func start(t *testing.T, format string) *modulestest.Server {
	return modulestest.Start(t, modulestest.Config{
		Site: echoSite, Format: format, Global: "servers {\nmax_header_size 512KiB\n}",
	})
}

// lines waits until n lines with a message have been logged after an offset, and returns all that are there.
func lines(t *testing.T, s *modulestest.Server, after, n int, message string) []string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		log := s.Log()[after:]
		if strings.Count(log, message) >= n {
			return strings.Split(strings.TrimSpace(log), "\n")
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s was logged %d times, not %d", message, strings.Count(log, message), n)
		}
	}
}

func TestTokensInAddresses(t *testing.T) {
	s := start(t, format)
	after := len(s.Log())
	n := 0
	send := func(target string, header ...string) {
		n++
		head := "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
		for i := 0; i < len(header); i += 2 {
			head += header[i] + ": " + header[i+1] + "\r\n"
		}
		s.Raw(head + "\r\n")
	}
	for _, path := range []string{"/", "/fail/", "/rewritten/a"} {
		for _, query := range []string{
			"?apiKey=" + token, "?a=1&apiKey=" + token + "&b=2", "?x=#&apiKey=" + token, "?%61piKey=" + token,
			"?api%4bey=" + token, "?accessToken=" + token, "?apiKey=&a=1&access%54oken=" + token,
			"?x=%zz&apiKey=" + token, "?x=%zz&apiKey=%zz" + token, "?apiKey=x&apiKey=" + token, "?a;apiKey=" + token,
			`?apiKey="` + token + `"`, "?to=%2F%3FapiKey%3D" + token, "?" + strings.Repeat("x", 2000) + "&apiKey=" + token,
			"?" + strings.Repeat("x", 2040) + "&apiKey=" + token, "?a=\xff\xfe&apiKey=\xff" + token,
		} {
			send(path + query)
			send("http://127.0.0.1" + path + query)
			send(path, "Referer", "https://app.example.com/"+query, "X-Original-Url", path+query, "Link",
				"<"+query+">; rel=next")
			send(path, "X-Echo", query)
		}
	}
	log := lines(t, s, after, n, `"resp_headers"`)
	redacted := 0
	for _, line := range log {
		if strings.Contains(line, token) || strings.Contains(line, "c2lnbmF0dXJl") {
			t.Errorf("a line holds the token: %.600s", line)
		}
		redacted += strings.Count(line, "REDACTED")
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %.600s", line)
		}
	}
	all := strings.Join(log, "\n")
	for _, needed := range []string{"rewrote request", `"logger":"http.log.error"`, `"status":502`,
		`"a=1&apiKey=REDACTED&b=2`, "X-Echo"} {
		if !strings.Contains(all, strings.Replace(needed, `"a=`, `?a=`, 1)) {
			t.Errorf("the log lacks %s", needed)
		}
	}
	if redacted < n {
		t.Errorf("REDACTED is there %d times after %d requests", redacted, n)
	}
}

// No request makes a large line, no matter which part of it is large.
func TestLargeRequests(t *testing.T) {
	s := start(t, format)
	after := len(s.Log())
	const most = 500 << 10
	fill := func(one string) string { return strings.Repeat(one, most/len(one)) }
	const get, local = "GET / HTTP/1.1\r\n", "Host: 127.0.0.1\r\n"
	requests := map[string]string{
		"path":            "GET /fail/" + fill("a/") + " HTTP/1.1\r\n" + local,
		"quotes":          "GET /fail/?" + fill(`"\`) + " HTTP/1.1\r\n" + local,
		"no UTF-8":        "GET /?" + fill("\xff\xc0") + " HTTP/1.1\r\n" + local,
		"method":          fill("M") + " / HTTP/1.1\r\n" + local,
		"host":            get + "Host: " + fill("h") + "\r\n",
		"header's name":   get + local + fill("N") + ": 1\r\n",
		"no UTF-8 in one": get + local + "X-Any: " + fill("\xff a") + "\r\n",
		"one many times":  get + local + fill("X-Many: 1\r\n"),
	}
	var names strings.Builder
	for i := 0; names.Len() < most; i++ {
		fmt.Fprintf(&names, "X-%x: \"\r\n", i)
	}
	requests["many headers"] = get + local + names.String()
	some := names.String()[:100<<10]
	some = some[:strings.LastIndexByte(some, '\n')+1]
	requests["everything"] = `GET /?` + strings.Repeat(`"`, 100<<10) + " HTTP/1.1\r\nHost: " +
		strings.Repeat("h", 50<<10) +
		"\r\nX-Echo: " + strings.Repeat(`"`, 150<<10) + "\r\nUser-Agent: " + strings.Repeat(`"`, 50<<10) + "\r\n" + some
	for name, head := range requests {
		if got := s.Raw(head + "Connection: close\r\n\r\n"); got.Header.Get("Server") == "" {
			t.Errorf("%s: %d %s: Caddy has not seen it", name, got.Status, got.Body)
		}
	}
	longest, what := 0, ""
	for _, line := range lines(t, s, after, len(requests), `"resp_headers"`) {
		if len(line) > longest {
			longest, what = len(line), line
		}
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %.600s", line)
		}
	}
	t.Logf("the longest line has %d bytes", longest)
	if longest > 24<<10 {
		t.Errorf("a line of %d bytes: %.3000s", longest, what)
	}
}

// What is short is logged unchanged.
func TestOrdinaryRequest(t *testing.T) {
	r := caddyhttp.LoggableHTTPRequest{Request: &http.Request{
		Method: "GET", Host: "maps.example.com", RequestURI: "/v2/search/reverse-geocoding?lat=1&lon=2&category=caf%C3%A9",
		Header: http.Header{"User-Agent": {"curl/8.0"}, "Accept": {"*/*", "a/b"}, "Cookie": {strings.Repeat("c", 10000)},
			"X-Empty": {}},
	}}
	f := &access.RedactFilter{Parameters: []string{"apiKey"}, MaxLength: 2048}
	got := f.Filter(zap.Object("request", r)).Interface.(caddyhttp.LoggableHTTPRequest)
	if fmt.Sprint(got.Header) != fmt.Sprint(r.Header) || got.RequestURI != r.RequestURI || got.Host != r.Host ||
		got.Method != r.Method {
		t.Errorf("%+v", got.Request)
	}
	for _, other := range []zap.Field{zap.Int("request", 1), zap.Skip(), zap.Object("request", caddyhttp.LoggableHTTPRequest{})} {
		if got := f.Filter(other); got.Type != other.Type || got.Integer != other.Integer {
			t.Errorf("%+v became %+v", other, got)
		}
	}
}

// Caddy's filters on a part of the request work on what this one leaves, in an encoder that it wraps.
func TestWrappedFilters(t *testing.T) {
	s := start(t, `format filter {
		request maps_redact apiKey accessToken
		wrap filter {
			request>remote_ip ip_mask 16 32
			request>headers>User-Agent delete
		}
	}`)
	after := len(s.Log())
	s.Do("GET", "/?apiKey="+token, "", "", "User-Agent", "a browser")
	log := strings.Join(lines(t, s, after, 1, `"resp_headers"`), "\n")
	for _, unwanted := range []string{token, "a browser", `"remote_ip":"127.0.0.1"`} {
		if strings.Contains(log, unwanted) {
			t.Errorf("the log has %s: %s", unwanted, log)
		}
	}
	if !strings.Contains(log, `"remote_ip":"127.0.0.0"`) {
		t.Error(log)
	}
}

func TestRedactCaddyfile(t *testing.T) {
	for filter, want := range map[string]string{
		"maps_redact": `{"filter":"maps_redact"}`,
		"maps_redact apiKey key {\nmax_length 4KiB\n}":      `{"filter":"maps_redact","max_length":4096,"parameters":["apiKey","key"]}`,
		"maps_redact apiKey {\nmax_length 1000000000GiB\n}": "error: max_length",
		"maps_redact {\nmax_length 63\n}":                   "error: max_length: 63 is not between 64 and 65536 bytes",
		"maps_redact {\nnothing\n}":                         "error: unknown option of maps_redact: nothing",
	} {
		adapted, err := modulestest.Adapt("{\nlog default {\nformat filter {\nrequest " + filter + "\n}\n}\n}\n:1 {\n}\n")
		if says, bad := strings.CutPrefix(want, "error: "); bad {
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "Caddyfile:") {
				t.Errorf("%q: %v, want %q with file and line", filter, err, says)
			}
		} else if err != nil || !strings.Contains(string(adapted), `"request":`+want) {
			t.Errorf("%q: %s, %v", filter, adapted, err)
		}
	}
}
