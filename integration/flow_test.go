package integration

import (
	"strings"
	"testing"
)

// The way of a service account from its creation to its end, with the calls that it allows on the way.
func TestFlow(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	user := s.userToken(t, "flow")
	acc := s.create(t, user, map[string]any{"platform": "ANDROID", "description": "flow", "isAdmin": false})
	if acc.Status != "ACTIVE" || acc.Platform != "ANDROID" || acc.OrganizationID != "flow" || acc.CreatedBy != "user:integration" {
		t.Errorf("created account is %+v", acc)
	}
	if !strings.HasPrefix(acc.ClientToken, "mpc_") || !strings.HasSuffix(acc.ClientToken, acc.ClientTokenHint) || len(acc.ClientTokenHint) != 4 {
		t.Errorf("client token does not fit its hint %q", acc.ClientTokenHint)
	}
	if !strings.HasPrefix(acc.ServerToken, "mps_") || !strings.HasSuffix(acc.ServerToken, acc.ServerTokenHint) || len(acc.ServerTokenHint) != 4 {
		t.Errorf("server token does not fit its hint %q", acc.ServerTokenHint)
	}

	access, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	mapCalls := func(token string, status int) {
		t.Helper()
		for _, c := range callsWith(token) {
			s.send(t, c).want(status)
		}
	}
	mapCalls(access, 200)

	var refreshed tokensBody
	s.send(t, refreshCall(refresh)).want(200).wantHeader("Cache-Control", "no-store").into(&refreshed)
	second := secret(refreshed.Data.AccessToken)
	if second == access || refreshed.Data.RefreshToken != refresh || refreshed.Data.ExpiresIn != 900 {
		t.Errorf("refresh gave expiresIn %d, the same refresh token: %v", refreshed.Data.ExpiresIn,
			refreshed.Data.RefreshToken == refresh)
	}
	mapCalls(second, 200)

	// The same by the address of the origin service's clients, and as OAuth 2.
	again := refreshCall(refresh)
	again.path = external + "/auth/refresh"
	s.send(t, again).want(200).into(&refreshed)
	if refreshed.Data.RefreshToken != refresh {
		t.Error("auth/refresh gives another refresh token")
	}
	mapCalls(secret(refreshed.Data.AccessToken), 200)
	const form = "application/x-www-form-urlencoded"
	credentials := "grant_type=client_credentials&client_id=" + acc.ClientToken + "&client_secret="
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	s.send(t, call{method: "POST", path: external + "/token", contentType: form, body: credentials + acc.ServerToken}).
		want(200).wantHeader("Cache-Control", "no-store").into(&granted)
	mapCalls(secret(granted.AccessToken), 200)
	for body, status := range map[string]int{credentials + acc.ClientToken: 401, "": 400,
		"grant_type=refresh_token&refresh_token=x": 400, strings.Repeat("x=y&", 5<<10): 413} {
		s.send(t, call{method: "POST", path: external + "/token", contentType: form, body: body}).want(status)
	}

	// Suspended: the very next calls are refused, and so are the ways to new tokens.
	s.setStatus(t, user, acc.ID, "SUSPENDED")
	mapCalls(access, 401)
	mapCalls(second, 401)
	s.send(t, exchangeCall(acc.ClientToken, acc.ServerToken)).want(401)
	s.send(t, refreshCall(refresh)).want(401)

	// Active again: the earlier tokens stay invalid, and new ones can be exchanged.
	s.setStatus(t, user, acc.ID, "ACTIVE")
	mapCalls(access, 401)
	mapCalls(second, 401)
	s.send(t, refreshCall(refresh)).want(401)
	access, refresh = s.exchange(t, acc.ClientToken, acc.ServerToken)
	mapCalls(access, 200)

	// The grant is ended by its refresh token; another grant of the account is not.
	other, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	for range 2 {
		s.send(t, call{method: "POST", path: external + "/revoke", contentType: "application/json", body: `{"refresh_token":"` + refresh + `"}`}).
			want(204).wantHeader("Cache-Control", "no-store")
	}
	mapCalls(access, 401)
	s.send(t, refreshCall(refresh)).want(401)
	mapCalls(other, 200)

	// REVOKED is final.
	s.setStatus(t, user, acc.ID, "REVOKED")
	mapCalls(other, 401)
	s.send(t, exchangeCall(acc.ClientToken, acc.ServerToken)).want(401)
	var refused struct{ Error, Code string }
	s.send(t, call{method: "PATCH", path: accounts + "/" + acc.ID, bearer: user, contentType: "application/json", body: `{"status":"ACTIVE"}`}).
		want(409).into(&refused)
	if refused.Code != "INVALID_TRANSITION" || refused.Error == "" {
		t.Errorf("a change to a revoked account answers %+v", refused)
	}

	s.send(t, call{method: "DELETE", path: accounts + "/" + acc.ID, bearer: user}).want(204).wantHeader("Cache-Control", "no-store")
	s.send(t, call{path: accounts + "/" + acc.ID, bearer: user}).want(404)
	s.send(t, call{method: "DELETE", path: accounts + "/" + acc.ID, bearer: user}).want(404)
}

// callsWith lists the map requests that an account with both scopes may make, in every way to give the token.
func callsWith(token string) []call {
	return []call{
		{path: reverse + "?lat=39.7459&lon=-75.5466", bearer: token},
		{path: reverse + "?lat=39.7459&lon=-75.5466&apiKey=" + token},
		{path: coverage, bearer: token},
		{path: matchPath(dover, ""), bearer: token},
		{path: matchPath(dover, "&apiKey="+token)},
		{method: "POST", path: match, bearer: token, contentType: "application/json", body: doverJSON},
	}
}

const doverJSON = `{"path":[{"lat":39.15727,"lng":-75.52930},{"lat":39.15738,"lng":-75.52808},{"lat":39.15769,"lng":-75.52686},` +
	`{"lat":39.15779,"lng":-75.52568},{"lat":39.15803,"lng":-75.52462}]}`
