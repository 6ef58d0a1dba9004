package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// call is one request. Headers that are empty here are not sent.
type call struct {
	method      string // default GET
	path        string // with the query
	bearer      string
	contentType string
	body        string
	header      map[string][]string
}

// answer is what came back, read to the end.
type answer struct {
	t      testing.TB
	call   call
	status int
	header http.Header
	body   []byte
}

var httpClient = &http.Client{
	Timeout:       2 * time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
}

// adminClient is for Caddy's admin endpoint. Each configuration, also a refused one, gets its own socket for that. The old
// one is closed a moment later, with new connections to it. So no connection is kept, and a request without a response is
// sent again; all requests of the tests are idempotent.
var adminClient = &http.Client{Timeout: time.Minute, Transport: resend{&http.Transport{DisableKeepAlives: true}}}

type resend struct{ http.RoundTripper }

func (r resend) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	for range 5 {
		if resp, err = r.RoundTripper.RoundTrip(req); err == nil || errors.Is(err, syscall.ECONNREFUSED) ||
			req.Context().Err() != nil {
			return resp, err
		}
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return resp, err
}

// send makes a request of the service. A failure to get any answer fails the test.
func (s *server) send(t testing.TB, c call) *answer {
	t.Helper()
	a, err := s.trySend(t, c)
	if err != nil {
		t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	return a
}

func (s *server) trySend(t testing.TB, c call) (*answer, error) {
	return sendTo(t, httpClient, s.url(""), c)
}

// sendAdmin makes a request of Caddy's admin endpoint.
func (s *server) sendAdmin(t testing.TB, c call) *answer {
	t.Helper()
	a, err := sendTo(t, adminClient, "http://"+s.admin, c)
	if err != nil {
		t.Fatalf("admin: %s %s: %v", c.method, c.path, err)
	}
	return a
}

func sendTo(t testing.TB, client *http.Client, base string, c call) (*answer, error) {
	t.Helper()
	req, err := newRequest(base, c)
	if err != nil {
		return nil, err
	}
	c.method = req.Method
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &answer{t: t, call: c, status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		return a, err
	}
	api := publicAPI
	if client == adminClient {
		api = adminAPI
	}
	d, err := api()
	if err != nil {
		return a, err
	}
	d.compare(t, req, c.body, a)
	return a, nil
}

func newRequest(base string, c call) (*http.Request, error) {
	if c.method == "" {
		c.method = http.MethodGet
	}
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	req, err := http.NewRequest(c.method, base, body)
	if err != nil {
		return nil, err
	}
	// Set as it is: what a test sends must not be tidied up.
	path, query, hasQuery := strings.Cut(c.path, "?")
	req.URL.Path, req.URL.RawQuery, req.URL.ForceQuery = path, query, hasQuery && query == ""
	for name, values := range c.header {
		req.Header[name] = values
	}
	if c.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+c.bearer)
	}
	if c.contentType != "" {
		req.Header.Set("Content-Type", c.contentType)
	}
	return req, nil
}

// want checks the status, and returns the answer for more checks.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s %.200s: status %d, want %d: %.500s", a.call.method, a.call.path, a.status, status, a.body)
	}
	return a
}

// wantHeader checks a header; a value that ends in "…" is the beginning of what is wanted.
func (a *answer) wantHeader(name, value string) *answer {
	a.t.Helper()
	got := a.header.Get(name)
	if start, ok := strings.CutSuffix(value, "…"); ok && strings.HasPrefix(got, start) || got == value {
		return a
	}
	a.t.Errorf("%s %.200s: %s is %q, want %q", a.call.method, a.call.path, name, got, value)
	return a
}

// into decodes the body, which must be one JSON value and be labelled as one.
func (a *answer) into(v any) {
	a.t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/json" {
		a.t.Errorf("%s %.200s: Content-Type is %q, want application/json", a.call.method, a.call.path, got)
	}
	dec := json.NewDecoder(bytes.NewReader(a.body))
	if err := dec.Decode(v); err != nil {
		a.t.Fatalf("%s %.200s: %v: %.500s", a.call.method, a.call.path, err, a.body)
	}
	if _, err := dec.Token(); err != io.EOF {
		a.t.Errorf("%s %.200s: more than one JSON value: %.500s", a.call.method, a.call.path, a.body)
	}
}

// serviceAccount is an account as the service shows it, with the tokens that only the answer to its creation holds.
type serviceAccount struct {
	ID              string   `json:"id"`
	OrganizationID  string   `json:"organizationId"`
	Platform        string   `json:"platform"`
	Description     string   `json:"description"`
	Scopes          []string `json:"scopes"`
	Status          string   `json:"status"`
	CreatedBy       string   `json:"createdBy"`
	ClientTokenHint string   `json:"clientTokenHint"`
	ServerTokenHint string   `json:"serverTokenHint"`
	ClientToken     string   `json:"clientToken,omitempty"`
	ServerToken     string   `json:"serverToken,omitempty"`
}

type accountBody struct {
	Data serviceAccount `json:"data"`
}

type tokensBody struct {
	Data struct {
		AccessToken  string `json:"accessToken"`
		RefreshToken string `json:"refreshToken"`
		ExpiresIn    int    `json:"expiresIn"`
	} `json:"data"`
}

// userToken mints a user token of an organization by the admin API.
func (s *server) userToken(t testing.TB, organization string) string {
	t.Helper()
	var minted struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expiresAt"`
	}
	s.sendAdmin(t, call{method: "POST", path: "/maps/user-tokens", contentType: "application/json",
		body: asJSON(t, map[string]any{"organization": organization, "subject": "integration", "ttl": "1h", "new": true})}).
		want(201).wantHeader("Cache-Control", "no-store").into(&minted)
	// The clock is the store's, which a server knows to within a round trip.
	if left := time.Until(minted.ExpiresAt); left < 59*time.Minute || left > time.Hour+time.Second {
		t.Errorf("the user token of one hour expires in %v", left)
	}
	return secret(minted.Token)
}

// create makes an account with the given fields over a WEB account with the scopes of both map endpoints.
func (s *server) create(t testing.TB, userToken string, fields map[string]any) serviceAccount {
	t.Helper()
	body := map[string]any{"platform": "WEB", "scopes": []string{"DIRECTION", "REVERSEGEOCODING"}}
	for name, value := range fields {
		body[name] = value
	}
	var created accountBody
	s.send(t, call{method: "POST", path: accounts, bearer: userToken, contentType: "application/json",
		body: asJSON(t, body)}).
		want(201).into(&created)
	secret(created.Data.ClientToken)
	secret(created.Data.ServerToken)
	return created.Data
}

// exchange trades two tokens for an access and a refresh token.
func (s *server) exchange(t testing.TB, client, server string) (access, refresh string) {
	t.Helper()
	var tokens tokensBody
	s.send(t, exchangeCall(client, server)).want(200).wantHeader("Cache-Control", "no-store").into(&tokens)
	return secret(tokens.Data.AccessToken), secret(tokens.Data.RefreshToken)
}

func exchangeCall(client, server string) call {
	return call{method: "POST", path: external + "/auth", contentType: "application/json",
		body: `{"client_token":"` + client + `","server_token":"` + server + `"}`}
}

func refreshCall(refresh string) call {
	return call{method: "POST", path: external + "/refresh", contentType: "application/json",
		body: `{"refresh_token":"` + refresh + `"}`}
}

// setStatus changes an account's status, which must be allowed.
func (s *server) setStatus(t testing.TB, userToken, id, status string) {
	t.Helper()
	var changed accountBody
	s.send(t, call{method: "PATCH", path: accounts + "/" + id, bearer: userToken, contentType: "application/json",
		body: `{"status":"` + status + `"}`}).want(200).into(&changed)
	if changed.Data.Status != status {
		t.Errorf("status is %s after it was set to %s", changed.Data.Status, status)
	}
}

// Addresses and texts of the service.
const (
	accounts = "/api/v1/service-accounts"
	external = "/api/v1/external"
	geocode  = "/v2/search/geocode"
	reverse  = "/v2/search/reverse-geocoding"
	match    = "/api/route/matching/"
	route    = "/proxied/route" // of the tests' server, by an upstream
	apiRoute = "/api/v1/route"
	// engineRoute is that of examples of upstream engines.
	engineRoute = "/engine/route"
	coverage    = "/v2/search/coverage"
	jsonType    = "application/json"
)

// dover is a drive of half a kilometre along Loockerman Street in Dover, with some metres of error.
var dover = [][2]float64{
	{39.15727, -75.52930}, {39.15738, -75.52808}, {39.15769, -75.52686}, {39.15779, -75.52568}, {39.15803, -75.52462},
}

// matchPath is the path and query of a matching request for a trace, as the service's documentation writes it.
func matchPath(points [][2]float64, more string) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("{" + number(p[0]) + "," + number(p[1]) + "}")
	}
	return match + "?path=" + url.QueryEscape("["+b.String()+"]") + more
}

func number(f float64) string {
	text, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
