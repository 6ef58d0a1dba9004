package access_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// postForm asks for a token with a form of pairs, as a client that has this Authorization header.
func postForm(s *modulestest.Server, authorization string, pairs ...string) modulestest.Response {
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return s.Do(http.MethodPost, tokenPath, "", form.Encode(), "Content-Type", "", "Content-Type",
		"application/x-www-form-urlencoded; charset=UTF-8", "Authorization", authorization)
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func TestOAuth(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: tokensWith("")})
	user := s.UserToken("acme")
	client, server := s.CreateAccount(user, "TILE ONM MATRIX", ""), s.CreateAccount(user, "TILE ONM", "")
	other, disjoint := s.CreateAccount(user, "TILE", ""), s.CreateAccount(user, "TSS", "")
	escaped := strings.ReplaceAll(url.QueryEscape(server.ServerToken), "mps", "%6dps")
	credentials := []string{"grant_type", "client_credentials", "client_id", client.ClientToken,
		"client_secret", server.ServerToken}
	grant := []string{"grant_type", "client_credentials"}
	pair := s.Exchange(client.ClientToken, server.ServerToken)
	refresh := []string{"grant_type", "refresh_token", "refresh_token", pair.RefreshToken}
	with := func(pairs []string, more ...string) []string { return append(slices.Clone(pairs), more...) }

	for _, tc := range []struct {
		name          string
		authorization string
		form          []string
		want          string // the scope, or status and error, with its description if there is a colon
	}{
		{"form", "", credentials, "TILE ONM"},
		{"basic", basic(client.ClientToken, escaped), grant, "TILE ONM"},
		{"basic, client_id repeated", basic(client.ClientToken, server.ServerToken),
			with(grant, "client_id", client.ClientToken, "client_secret", ""), "TILE ONM"},
		{"narrowed", "", with(credentials, "scope", "ONM"), "ONM"},
		{"no value is no parameter", "", with(credentials, "scope", "", "refresh_token", ""), "TILE ONM"},
		{"unknown parameters", "", with(credentials, "resource", "a", "resource", "b"), "TILE ONM"},
		{"refresh", "", refresh, "TILE ONM"},
		{"refresh, narrowed", "", with(refresh, "scope", "TILE"), "TILE"},
		{"refresh, client authenticated", basic(client.ClientToken, server.ServerToken), refresh, "TILE ONM"},
		{"refresh, public client", "", with(refresh, "client_id", client.ClientToken), "TILE ONM"},

		{"no grant type", "", credentials[2:], "400 invalid_request: grant_type: missing"},
		{"another grant type", "", with(credentials[2:], "grant_type", "password"),
			"400 unsupported_grant_type: grant_type: must be client_credentials or refresh_token"},
		{"repeated", "", with(credentials, "client_id", client.ClientToken), "400 invalid_request: client_id: appears more than once"},
		{"two ways", basic(client.ClientToken, server.ServerToken), credentials,
			"400 invalid_request: client_secret: sent together with an Authorization header"},
		{"two clients", basic(client.ClientToken, server.ServerToken), with(grant, "client_id", other.ClientToken),
			"400 invalid_request: client_id: not the one of the Authorization header"},
		{"bearer", "Bearer " + pair.AccessToken, grant, "401 invalid_client"},
		{"escape", basic(client.ClientToken, "%zz"), grant, "401 invalid_client"},
		{"no client", "", grant, "401 invalid_client: client_id: missing"},
		{"no secret", "", credentials[:4], "401 invalid_client: client_secret: missing"},
		{"swapped", "", with(grant, "client_id", server.ServerToken, "client_secret", client.ClientToken),
			"401 invalid_client: client_id: this is a server token; a client token belongs here"},
		{"unknown", "", with(grant, "client_id", client.ClientToken, "client_secret", "x"),
			"401 invalid_client: client_secret: this is not a token; a server token belongs here"},
		{"no scope in common", basic(client.ClientToken, disjoint.ServerToken), grant, "400 unauthorized_client"},
		{"a scope that is missing", "", with(credentials, "scope", "TILE MATRIX"), "400 invalid_scope"},
		{"a scope that is unknown", "", with(credentials, "scope", "email"), "400 invalid_scope: scope: unknown scope"},
		{"refresh: no token", "", refresh[:2], "400 invalid_request: refresh_token: missing"},
		{"refresh: client token", "", with(refresh[:2], "refresh_token", client.ClientToken),
			"400 invalid_grant: refresh_token: this is a client token; a refresh token belongs here"},
		{"refresh: another client", "", with(refresh, "client_id", other.ClientToken), "401 invalid_client"},
		{"refresh: another secret", basic(client.ClientToken, other.ServerToken), refresh, "401 invalid_client"},
		{"refresh: more scopes", "", with(refresh, "scope", "MATRIX"), "400 invalid_scope"},
		{"large", "", with(credentials, "x", strings.Repeat("x", 17<<10)), "413 invalid_request: request body too large"},
	} {
		got := postForm(s, tc.authorization, tc.form...)
		var body struct {
			AccessToken  string `json:"access_token"`
			TokenType    string `json:"token_type"`
			ExpiresIn    int    `json:"expires_in"`
			RefreshToken string `json:"refresh_token"`
			Scope        string
			Error        string
			Description  string `json:"error_description"`
		}
		if err := json.Unmarshal([]byte(got.Body), &body); err != nil {
			t.Fatalf("%s: %v: %s", tc.name, err, got.Body)
		}
		described := fmt.Sprintf("%d %s: %s", got.Status, body.Error, body.Description)
		if got.Status == http.StatusOK {
			described = body.Scope
			if body.TokenType != "Bearer" || body.ExpiresIn != 900 || !strings.HasPrefix(body.RefreshToken, "mpr_") {
				t.Errorf("%s: %s", tc.name, got.Body)
			}
			if status := guarded(s, body.AccessToken); (status == http.StatusOK) != strings.Contains(body.Scope, "TILE") {
				t.Errorf("%s: status %d with the scopes %s", tc.name, status, body.Scope)
			}
		}
		if described != tc.want && (strings.Contains(tc.want, ":") || !strings.HasPrefix(described, tc.want+": ")) {
			t.Errorf("%s: %s, want %s", tc.name, described, tc.want)
		}
		want := ""
		if got.Status == http.StatusUnauthorized {
			want = `Basic realm="caddy-maps"`
		}
		if got.Header.Get("WWW-Authenticate") != want || got.Header.Get("Cache-Control") != "no-store" ||
			got.Header.Get("Pragma") != "no-cache" || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", tc.name, got.Header)
		}
	}

	got := s.Do(http.MethodPost, tokenPath, "", "{}")
	if want := `{"error":"invalid_request","error_description":"Content-Type: must be application/x-www-form-urlencoded"}`; got.Status != 400 || got.Body != want {
		t.Errorf("JSON: %d %s", got.Status, got.Body)
	}
	got = s.Do(http.MethodGet, tokenPath+"?"+"grant_type=client_credentials", "", "")
	if got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != "POST" ||
		!strings.HasPrefix(got.Body, `{"error":"invalid_request",`) {
		t.Errorf("GET: %d %v %s", got.Status, got.Header, got.Body)
	}
	if metrics := s.AdminDo(http.MethodGet, "/metrics", "").Body; !strings.Contains(metrics,
		`caddy_maps_exchanges_total{result="ok"} 7`) || !strings.Contains(metrics,
		`caddy_maps_exchanges_total{result="invalid"} 2`) {
		t.Error("exchanges are not counted")
	}
	waitLog(t, s, 0, `"reason":"malformed: client_id: this is a server token; a client token belongs here"`)
}

// A refresh may need the server token, and the token may rotate.
func TestOAuthRefreshOptions(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: tokensWith(" {\nrefresh_requires_server_token\nrefresh_rotation\n}")})
	acc := s.CreateAccount(s.UserToken("acme"), "TILE", "")
	pair := s.Exchange(acc.ClientToken, acc.ServerToken)
	refresh := []string{"grant_type", "refresh_token", "refresh_token", pair.RefreshToken}
	if got := postForm(s, "", refresh...); got.Status != 401 ||
		got.Body != `{"error":"invalid_client","error_description":"client_secret: missing"}` {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	got := postForm(s, basic(acc.ClientToken, acc.ServerToken), refresh...)
	if got.Status != 200 || strings.Contains(got.Body, pair.RefreshToken) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// Go's OAuth library gets a token, by either way of authentication, and its client uses it.
func TestOAuthLibrary(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "access_token_ttl 12s", Site: tokensWith("")})
	acc := s.CreateAccount(s.UserToken("acme"), "TILE ONM", "")
	for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleAutoDetect, oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
		config := clientcredentials.Config{ClientID: acc.ClientToken, ClientSecret: acc.ServerToken, TokenURL: s.URL + tokenPath,
			Scopes: []string{"TILE"}, AuthStyle: style}
		token, err := config.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if token.Type() != "Bearer" || token.Extra("scope") != "TILE" || time.Until(token.Expiry) > 12*time.Second {
			t.Errorf("%v", token)
		}
		resp, err := config.Client(t.Context()).Get(s.URL + "/guarded")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("status %d", resp.StatusCode)
		}
		// a refresh token continues by itself
		refreshed, err := (&oauth2.Config{ClientID: acc.ClientToken, ClientSecret: acc.ServerToken,
			Endpoint: oauth2.Endpoint{TokenURL: s.URL + tokenPath, AuthStyle: style}}).
			TokenSource(t.Context(), &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
		if err != nil || refreshed.AccessToken == token.AccessToken || guarded(s, refreshed.AccessToken) != http.StatusOK {
			t.Errorf("refresh: %v", err)
		}
		config.ClientSecret = acc.ClientToken
		_, err = config.Token(t.Context())
		if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || refusal.ErrorCode != "invalid_client" {
			t.Errorf("a wrong secret: %v", err)
		}
	}
}
