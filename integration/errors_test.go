package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// refusal is one request that must be refused, and how.
type refusal struct {
	name   string
	call   call
	status int
	code   string // of the body; "" where the body has no code
	says   string // what the body's text must contain
	header map[string]string
}

// Bodies of the platform's family: {"error": text} or {"error": text, "code": code}.
func (r refusal) checkPlatform(t *testing.T, s *server) {
	a := s.send(t, r.call).want(r.status)
	var fields map[string]string
	a.into(&fields)
	text := fields["error"]
	if text == "" || !strings.Contains(text, r.says) || fields["code"] != r.code {
		t.Errorf("body %s: want code %q and a text with %q", a.body, r.code, r.says)
	}
	want := 1
	if r.code != "" {
		want = 2
	}
	if len(fields) != want {
		t.Errorf("body %s has %d fields, want %d", a.body, len(fields), want)
	}
	r.checkHeaders(a)
}

// Bodies of the routing family: {"error":{"code","message","status"}}.
func (r refusal) checkRouting(t *testing.T, s *server) {
	a := s.send(t, r.call).want(r.status)
	var body map[string]map[string]any
	a.into(&body)
	e := body["error"]
	message, _ := e["message"].(string)
	if len(body) != 1 || len(e) != 3 || e["code"] != r.code || e["status"] != float64(r.status) || message == "" ||
		!strings.Contains(message, r.says) {
		t.Errorf("body %s: want code %q, status %d and a message with %q", a.body, r.code, r.status, r.says)
	}
	r.checkHeaders(a)
}

func (r refusal) checkHeaders(a *answer) {
	for name, value := range r.header {
		a.wantHeader(name, value)
	}
	if a.status == http.StatusUnauthorized && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") {
		a.t.Errorf("a 401 without WWW-Authenticate: %v", a.header)
	}
}

const (
	jsonType   = "application/json"
	validation = "FAILED_VALIDATION"
	badKey     = "invalid or missing api key"
)

func TestTokenErrors(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "token-errors")
	acc := s.create(t, user, nil)
	other := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	_, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	typo := func(token string) string { // another last character: the checksum no longer fits
		last := byte('a')
		if token[len(token)-1] == last {
			last = 'b'
		}
		return token[:len(token)-1] + string(last)
	}
	post := func(path, body string) call {
		return call{method: "POST", path: external + path, contentType: jsonType, body: body}
	}
	noStore := map[string]string{"Cache-Control": "no-store"}
	var tests []refusal
	for _, e := range []struct{ path, field, good string }{
		{"/auth", "client_token", `{"server_token":"` + acc.ServerToken + `"}`},
		{"/auth", "server_token", `{"client_token":"` + acc.ClientToken + `"}`},
		{"/refresh", "refresh_token", `{}`},
		{"/revoke", "refresh_token", `{}`},
	} {
		with := func(value string) string {
			return strings.Replace(strings.Replace(e.good, "{", `{"`+e.field+`":`+value+",", 1), ",}", "}", 1)
		}
		tests = append(tests,
			refusal{e.path + " without " + e.field, post(e.path, e.good), 400, validation, e.field, noStore},
			refusal{e.path + " with a number as " + e.field, post(e.path, with("7")), 400, validation, e.field, noStore},
			refusal{e.path + " with null as " + e.field, post(e.path, with("null")), 400, validation, e.field, noStore},
		)
	}
	for _, path := range []string{"/auth", "/refresh", "/revoke"} {
		tests = append(tests,
			refusal{path + " without a body", post(path, ""), 400, validation, "", noStore},
			refusal{path + " with broken JSON", post(path, `{"client_token":`), 400, validation, "", noStore},
			refusal{path + " with an array", post(path, `[]`), 400, validation, "", noStore},
			refusal{path + " with text after the object", post(path, `{} {}`), 400, validation, "", noStore},
			refusal{path + " with a form", call{method: "POST", path: external + path,
				contentType: "application/x-www-form-urlencoded", body: "a=b"}, 415, "", "", noStore},
			refusal{path + " with 17 KiB", post(path, `{"x":"`+strings.Repeat("x", 17<<10)+`"}`), 413, "", "", noStore},
			refusal{path + " by GET", call{path: external + path}, 405, "", "", map[string]string{"Allow": "POST"}},
			refusal{path + " by DELETE", call{method: "DELETE", path: external + path}, 405, "", "",
				map[string]string{"Allow": "POST"}},
		)
	}
	pair := func(client, server string) call { return exchangeCall(client, server) }
	tests = append(tests,
		refusal{"malformed client token", pair("x", acc.ServerToken), 401, "", badKey, noStore},
		refusal{"mistyped client token", pair(typo(acc.ClientToken), acc.ServerToken), 401, "", badKey, noStore},
		refusal{"mistyped server token", pair(acc.ClientToken, typo(acc.ServerToken)), 401, "", badKey, noStore},
		refusal{"tokens in each other's place", pair(acc.ServerToken, acc.ClientToken), 401, "", badKey, noStore},
		refusal{"no scope in common", pair(acc.ClientToken, other.ServerToken), 403, "INSUFFICIENT_SCOPE",
			"insufficient scope",
			map[string]string{"WWW-Authenticate": `Bearer error="insufficient_scope"…`, "Cache-Control": "no-store"}},
		refusal{"malformed refresh token", refreshCall("x"), 401, "", badKey, noStore},
		refusal{"mistyped refresh token", refreshCall(typo(refresh)), 401, "", badKey, noStore},
		refusal{"client token as refresh token", refreshCall(acc.ClientToken), 401, "", badKey, noStore},
		refusal{"unknown path", call{path: external + "/nothing"}, 404, "", "", nil},
		refusal{"jwks.json by POST", post("/jwks.json", `{}`), 405, "", "", map[string]string{"Allow": "GET…"}},
	)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.checkPlatform(t, s) })
	}

	// A missing Content-Type is read as JSON, and a charset is no other media type.
	c := exchangeCall(acc.ClientToken, acc.ServerToken)
	for _, contentType := range []string{"", "application/json; charset=utf-8"} {
		c.contentType = contentType
		var tokens tokensBody
		s.send(t, c).want(200).into(&tokens)
		secret(tokens.Data.AccessToken)
		secret(tokens.Data.RefreshToken)
	}
	// Revoking says nothing about the token.
	for _, token := range []string{"x", typo(refresh), acc.ClientToken} {
		s.send(t, post("/revoke", `{"refresh_token":"`+token+`"}`)).want(204)
	}
}

func TestAccountErrors(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "account-errors")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	one := accounts + "/" + acc.ID
	post := func(body string) call {
		return call{method: "POST", path: accounts, bearer: user, contentType: jsonType, body: body}
	}
	patch := func(body string) call {
		return call{method: "PATCH", path: one, bearer: user, contentType: jsonType, body: body}
	}
	get := func(query string) call { return call{path: accounts + "?" + query, bearer: user} }
	noStore := map[string]string{"Cache-Control": "no-store"}
	tests := []refusal{
		{"no token", call{path: accounts}, 401, "", badKey,
			map[string]string{"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}},
		{"no token, to change", call{method: "DELETE", path: one}, 401, "", badKey, nil},
		{"no JWT", call{path: accounts, bearer: "x"}, 401, "", badKey,
			map[string]string{"WWW-Authenticate": `Bearer error="invalid_token"…`}},
		{"a client token", call{path: accounts, bearer: acc.ClientToken}, 401, "", badKey, nil},
		{"a changed signature", call{path: accounts, bearer: user[:len(user)-8] + "AAAAAAAA"}, 401, "", badKey, nil},
		{"two tokens", call{path: accounts,
			header: map[string][]string{"Authorization": {"Bearer " + user, "Bearer " + user}}}, 401, "", badKey, nil},
		{"basic authentication", call{path: accounts, header: map[string][]string{"Authorization": {"Basic dTpw"}}}, 401, "",
			badKey, nil},
		{"an access token without admin rights", call{path: accounts, bearer: access}, 403, "INSUFFICIENT_SCOPE",
			"insufficient scope", nil},

		{"create: no body", post(""), 400, validation, "", noStore},
		{"create: broken JSON", post(`{"platform"`), 400, validation, "", nil},
		{"create: array", post(`[]`), 400, validation, "", nil},
		{"create: text after the object", post(`{"platform":"WEB","scopes":["TILE"]} x`), 400, validation, "", nil},
		{"create: no platform", post(`{"scopes":["TILE"]}`), 400, validation, "platform", nil},
		{"create: unknown platform", post(`{"platform":"web","scopes":["TILE"]}`), 400, validation, "platform", nil},
		{"create: platform of another type", post(`{"platform":7,"scopes":["TILE"]}`), 400, validation, "platform", nil},
		{"create: no scopes", post(`{"platform":"WEB"}`), 400, validation, "scopes", nil},
		{"create: empty scopes", post(`{"platform":"WEB","scopes":[]}`), 400, validation, "scopes", nil},
		{"create: scopes null", post(`{"platform":"WEB","scopes":null}`), 400, validation, "scopes", nil},
		{"create: unknown scope", post(`{"platform":"WEB","scopes":["TILE","tile"]}`), 400, validation, "scopes", nil},
		{"create: a scope twice", post(`{"platform":"WEB","scopes":["TILE","TILE"]}`), 400, validation, "scopes", nil},
		{"create: scopes of another type", post(`{"platform":"WEB","scopes":"TILE"}`), 400, validation, "scopes", nil},
		{"create: status REVOKED", post(`{"platform":"WEB","scopes":["TILE"],"status":"REVOKED"}`), 400, validation,
			"status", nil},
		{"create: unknown status", post(`{"platform":"WEB","scopes":["TILE"],"status":"active"}`), 400, validation, "status",
			nil},
		{"create: isAdmin of another type", post(`{"platform":"WEB","scopes":["TILE"],"isAdmin":"true"}`), 400, validation,
			"isAdmin", nil},
		{"create: long description", post(`{"platform":"WEB","scopes":["TILE"],"description":"` + strings.Repeat("é", 501) +
			`"}`), 400, validation, "description", nil},
		{"create: description of another type", post(`{"platform":"WEB","scopes":["TILE"],"description":{}}`), 400,
			validation, "description", nil},
		{"create: unknown field", post(`{"platform":"WEB","scopes":["TILE"],"organizationId":"other"}`), 400, validation,
			"organizationId", nil},
		{"create: media type", call{method: "POST", path: accounts, bearer: user, contentType: "text/plain", body: `{}`},
			415, "", "", noStore},
		{"create: 17 KiB", post(`{"description":"` + strings.Repeat("x", 17<<10) + `"}`), 413, "", "", noStore},

		{"list: limit 0", get("limit=0"), 400, validation, "limit", noStore},
		{"list: limit 201", get("limit=201"), 400, validation, "limit", nil},
		{"list: limit no number", get("limit=ten"), 400, validation, "limit", nil},
		{"list: limit twice", get("limit=1&limit=2"), 400, validation, "limit", nil},
		{"list: unknown status", get("status=GONE"), 400, validation, "status", nil},
		{"list: broken cursor", get("cursor=%00"), 400, validation, "cursor", nil},

		{"patch: empty object", patch(`{}`), 400, validation, "", noStore},
		{"patch: no body", patch(``), 400, validation, "", nil},
		{"patch: unknown platform", patch(`{"platform":"TV"}`), 400, validation, "platform", nil},
		{"patch: empty scopes", patch(`{"scopes":[]}`), 400, validation, "scopes", nil},
		{"patch: unknown scope", patch(`{"scopes":["ALL"]}`), 400, validation, "scopes", nil},
		{"patch: a scope twice", patch(`{"scopes":["TILE","TILE"]}`), 400, validation, "scopes", nil},
		{"patch: unknown status", patch(`{"status":"DELETED"}`), 400, validation, "status", nil},
		{"patch: isAdmin of another type", patch(`{"isAdmin":1}`), 400, validation, "isAdmin", nil},
		{"patch: long description", patch(`{"description":"` + strings.Repeat("x", 501) + `"}`), 400, validation,
			"description", nil},
		{"patch: unknown field", patch(`{"id":"sa_x"}`), 400, validation, "id", nil},
		{"patch: media type", call{method: "PATCH", path: one, bearer: user, contentType: "text/plain", body: `{}`}, 415, "",
			"", nil},
		{"patch: 17 KiB", patch(`{"description":"` + strings.Repeat("x", 17<<10) + `"}`), 413, "", "", nil},

		{"unknown account", call{path: accounts + "/sa_none", bearer: user}, 404, "", "service account not found", noStore},
		{"change an unknown account", call{method: "PATCH", path: accounts + "/sa_none", bearer: user, contentType: jsonType,
			body: `{"isAdmin":true}`}, 404, "", "service account not found", noStore},
		{"delete an unknown account", call{method: "DELETE", path: accounts + "/sa_none", bearer: user}, 404, "",
			"service account not found", noStore},
		{"a path below an account", call{path: one + "/tokens", bearer: user}, 404, "", "", nil},
		{"PUT of the list", call{method: "PUT", path: accounts, bearer: user}, 405, "", "",
			map[string]string{"Allow": "GET, HEAD, POST"}},
		{"POST of an account", call{method: "POST", path: one, bearer: user}, 405, "", "",
			map[string]string{"Allow": "GET, HEAD, PATCH, DELETE"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.checkPlatform(t, s) })
	}
	var same accountBody
	s.send(t, call{path: one, bearer: user}).want(200).into(&same)
	if same.Data.UpdatedAt != acc.UpdatedAt {
		t.Errorf("a refused change moved updatedAt from %s to %s", acc.UpdatedAt, same.Data.UpdatedAt)
	}
}

func TestReverseGeocodingErrors(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "reverse-errors")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	tiles := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	tilesAccess, _ := s.exchange(t, tiles.ClientToken, tiles.ServerToken)
	get := func(query string) call { return call{path: reverse + "?" + query, bearer: access} }
	var tests []refusal
	for _, p := range []struct{ name, others string }{{"lat", "lon=-75.5"}, {"lon", "lat=39.7"},
		{"size", "lat=39.7&lon=-75.5"}} {
		bad := []string{"", "x", "NaN", "Infinity", "0x1", "1e999", "1_0", "%201", "1%20", "-181", "181", ".5", "5."}
		if p.name == "size" {
			bad = append(bad, "0", "6", "-1", "1.5")
		}
		for _, value := range bad {
			tests = append(tests, refusal{p.name + "=" + value, get(p.others + "&" + p.name + "=" + value), 400, validation,
				p.name, nil})
		}
		tests = append(tests, refusal{p.name + " twice", get(p.others + "&" + p.name + "=1&" + p.name + "=1"), 400,
			validation, p.name, nil})
	}
	const good = "lat=39.7&lon=-75.5"
	noStore := func(challenge string) map[string]string {
		return map[string]string{"WWW-Authenticate": challenge, "Cache-Control": "no-store"}
	}
	invalid := noStore(`Bearer error="invalid_token"…`)
	tests = append(tests,
		refusal{"no lat", get("lon=-75.5"), 400, validation, "lat", nil},
		refusal{"no lon", get("lat=39.7"), 400, validation, "lon", nil},
		refusal{"lat=90.0001", get("lat=90.0001&lon=-75.5"), 400, validation, "lat", nil},
		refusal{"category twice", get(good + "&category=shop&category=amenity"), 400, validation, "category", nil},

		refusal{"no token", call{path: reverse + "?" + good}, 401, "", badKey, noStore("Bearer")},
		refusal{"empty apiKey", call{path: reverse + "?" + good + "&apiKey="}, 401, "", badKey, noStore("Bearer")},
		refusal{"no JWT", call{path: reverse + "?" + good + "&apiKey=x"}, 401, "", badKey, invalid},
		refusal{"a changed signature", call{path: reverse + "?" + good, bearer: access[:len(access)-8] + "AAAAAAAA"}, 401,
			"", badKey, invalid},
		refusal{"a user token", call{path: reverse + "?" + good, bearer: user}, 401, "", badKey, invalid},
		refusal{"a client token", call{path: reverse + "?" + good, bearer: acc.ClientToken}, 401, "", badKey, invalid},
		refusal{"apiKey twice", call{path: reverse + "?" + good + "&apiKey=" + access + "&apiKey=" + access}, 401, "",
			badKey, invalid},
		refusal{"header and apiKey", call{path: reverse + "?" + good + "&apiKey=" + access, bearer: access}, 401, "", badKey,
			invalid},
		refusal{"header twice", call{path: reverse + "?" + good,
			header: map[string][]string{"Authorization": {"Bearer " + access, "Bearer " + access}}}, 401, "", badKey, invalid},
		refusal{"5 KiB of token", call{path: reverse + "?" + good, bearer: strings.Repeat("a", 5<<10)}, 401, "", badKey,
			invalid},
		refusal{"scope missing", call{path: reverse + "?" + good, bearer: tilesAccess}, 403, "INSUFFICIENT_SCOPE",
			"insufficient scope",
			noStore(`Bearer error="insufficient_scope", scope="REVERSEGEOCODING"`)},
		refusal{"POST", call{method: "POST", path: reverse + "?" + good, bearer: access}, 405, "", "",
			map[string]string{"Allow": "GET, HEAD"}},
	)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.checkPlatform(t, s) })
	}
	for _, query := range []string{good + "&size=5", "lat=%2B39.7&lon=-75.5", "lat=3.97e1&lon=-755E-1",
		good + "&category=", good + "&unknown=1&unknown=2"} {
		s.send(t, get(query)).want(200)
	}
}

func TestMatchingErrors(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "matching-errors")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	tiles := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	tilesAccess, _ := s.exchange(t, tiles.ClientToken, tiles.ServerToken)
	get := func(query string) call { return call{path: match + "?" + query, bearer: access} }
	post := func(contentType, body string) call {
		return call{method: "POST", path: match, bearer: access, contentType: contentType, body: body}
	}
	const good = "path=[{39.15727,-75.5293},{39.15738,-75.52808}]"
	const input = "InvalidInput"
	const gpxHead = `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">`
	many := strings.TrimSuffix(strings.Repeat(`{"lat":39.15,"lng":-75.5},`, 10001), ",")
	tests := []refusal{
		{"no path", get("radius=5"), 422, input, "path", nil},
		{"empty path", get("path="), 422, input, "path", nil},
		{"path twice", get(good + "&" + good), 422, input, "path", nil},
		{"path that takes too much work", post("application/json", tooMuch), 422, input, "send it in parts", nil},
		{"path no list", get("path=39.1,-75.5"), 422, input, "path", nil},
		{"path cut off", get("path=[{39.1,-75.5},{39.1"), 422, input, "path", nil},
		{"path of no points", get("path=[]"), 422, input, "path", nil},
		{"path of one point", get("path=[{39.1,-75.5}]"), 422, input, "path", nil},
		{"latitude out of range", get("path=[{39.1,-75.5},{91,-75.5}]"), 422, input, "1", nil},
		{"longitude out of range", get("path=[{39.1,-75.5},{39.1,-75.5},{39.1,-181}]"), 422, input, "2", nil},
		{"coordinate no number", get("path=[{39.1,-75.5},{39.1,east}]"), 422, input, "1", nil},
		{"text after the path", get(good + "]"), 422, input, "path", nil},
		{"radius empty", get(good + "&radius="), 422, input, "radius", nil},
		{"radius 0", get(good + "&radius=0"), 422, input, "radius", nil},
		{"radius negative", get(good + "&radius=-1"), 422, input, "radius", nil},
		{"radius above the limit", get(good + "&radius=100.5"), 422, input, "radius", nil},
		{"radius no number", get(good + "&radius=ten"), 422, input, "radius", nil},
		{"radius NaN", get(good + "&radius=NaN"), 422, input, "radius", nil},
		{"radius twice", get(good + "&radius=5&radius=5"), 422, input, "radius", nil},
		{"details neither true nor false", get(good + "&details=maybe"), 422, input, "details", nil},
		{"details twice", get(good + "&details=true&details=true"), 422, input, "details", nil},
		{"unknown format", get(good + "&format=kml"), 422, input, "format", nil},
		{"format twice", get(good + "&format=geojson&format=geojson"), 422, input, "format", nil},

		{"POST without a body", post(jsonType, ""), 422, input, "", nil},
		{"POST broken JSON", post(jsonType, `{"path":[`), 422, input, "", nil},
		{"POST without path", post(jsonType, `{"radius":5}`), 422, input, "path", nil},
		{"POST one point", post(jsonType, `{"path":[{"lat":39.1,"lng":-75.5}]}`), 422, input, "path", nil},
		{"POST a point without lng", post(jsonType, `{"path":[{"lat":39.1,"lng":-75.5},{"lat":39.1}]}`), 422, input, "1",
			nil},
		{"POST bad time", post(jsonType, `{"path":[{"lat":39.1,"lng":-75.5},{"lat":39.1,"lng":-75.5,"time":"noon"}]}`), 422,
			input, "time", nil},
		{"POST bad accuracy", post(jsonType, `{"path":[{"lat":39.1,"lng":-75.5},{"lat":39.1,"lng":-75.5,"accuracy":-1}]}`),
			422, input, "accuracy", nil},
		{"POST bad radius", post(jsonType, strings.Replace(doverJSON, "{", `{"radius":-5,`, 1)), 422, input, "radius", nil},
		{"POST too many points", post(jsonType, `{"path":[`+many+`]}`), 422, input, "path", nil},
		{"POST broken GPX", post("application/gpx+xml", gpxHead+`<trk><trkseg><trkpt lat="39.1"`), 422, input, "", nil},
		{"POST GPX of one point", post("application/gpx+xml",
			gpxHead+`<trk><trkseg><trkpt lat="39.1" lon="-75.5"/></trkseg></trk></gpx>`), 422, input, "", nil},
		{"POST other XML", post("application/gpx+xml", `<kml/>`), 422, input, "", nil},
		{"POST GeoJSON point", post("application/geo+json", `{"type":"Point","coordinates":[-75.5,39.1]}`), 422, input, "",
			nil},
		{"POST GeoJSON out of range", post("application/geo+json",
			`{"type":"LineString","coordinates":[[-75.5,39.1],[-75.5,99]]}`), 422, input, "1", nil},
		{"POST media type", post("text/plain", "39.1,-75.5"), 415, "UnsupportedMediaType", "", nil},
		{"POST 9 MiB", post(jsonType, `{"path":[`+strings.Repeat(" ", 9<<20)+`]}`), 413, "TooLarge", "", nil},
		{"PUT", call{method: "PUT", path: match + "?" + good, bearer: access}, 405, "MethodNotAllowed", "",
			map[string]string{"Allow": "GET, HEAD, POST"}},

		{"no token", call{path: match + "?" + good}, 401, "Not Authorized - No Token", "",
			map[string]string{"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}},
		{"invalid token", call{path: match + "?" + good + "&apiKey=x"}, 401, "Not Authorized - Invalid Token", "",
			map[string]string{"WWW-Authenticate": `Bearer error="invalid_token"…`, "Cache-Control": "no-store"}},
		{"header and apiKey", call{path: match + "?" + good + "&apiKey=" + access, bearer: access}, 401,
			"Not Authorized - Invalid Token", "", nil},
		{"scope missing", call{path: match + "?" + good, bearer: tilesAccess}, 403, "InsufficientScope", "",
			map[string]string{"WWW-Authenticate": `Bearer error="insufficient_scope", scope="DIRECTION"`,
				"Cache-Control": "no-store"}},
		{"no road in the bay", get("path=[{39.2,-75.3},{39.21,-75.3},{39.22,-75.3}]"), 404, "NoRoute", "", nil},
		{"another continent", get("path=[{52.52,13.40},{52.53,13.41}]"), 404, "NoRoute", "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.checkRouting(t, s) })
	}
}

// What no endpoint of ours answers, Caddy's error route does, as JSON too.
func TestOtherAddresses(t *testing.T) {
	s := sharedServer(t)
	for _, path := range []string{"/", "/nothing", reverse + "/", "/v2/search", "/api/route/matching/more"} {
		r := refusal{call: call{path: path}, status: 404, says: "Not Found"}
		r.checkPlatform(t, s)
	}
	acc := s.create(t, s.userToken(t, "other-addresses"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	// nothing listens there
	refusal{call: call{path: route, bearer: access}, status: 502, says: "Bad Gateway"}.checkPlatform(t, s)
	refusal{call: call{path: route}, status: 401, says: badKey}.checkPlatform(t, s)
}

// HEAD works wherever GET does, and a list's or the matcher's last slash makes no difference.
func TestHeadAndSlash(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "head")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	for _, c := range []call{
		{path: external + "/jwks.json"},
		{path: accounts, bearer: user},
		{path: accounts + "/", bearer: user},
		{path: accounts + "/" + acc.ID, bearer: user},
		{path: reverse + "?lat=39.15&lon=-75.52", bearer: access},
		{path: matchPath(dover, ""), bearer: access},
		{path: strings.Replace(matchPath(dover, ""), "/?", "?", 1), bearer: access},
		{path: "/healthz"},
	} {
		got := s.send(t, c).want(200)
		c.method = "HEAD"
		head := s.send(t, c).want(200)
		if len(head.body) != 0 {
			t.Errorf("HEAD %s has a body", c.path)
		}
		head.wantHeader("Content-Type", got.header.Get("Content-Type"))
	}
	s.send(t, call{method: "HEAD", path: reverse + "?lat=39.15&lon=-75.52"}).want(401)
	var made accountBody
	s.send(t, call{method: "POST", path: accounts + "/", bearer: user, contentType: jsonType,
		body: `{"platform":"WEB","scopes":["TILE"]}`}).want(201).into(&made)
	secret(made.Data.ClientToken)
	secret(made.Data.ServerToken)
}

func TestJWKSAndHealth(t *testing.T) {
	s := sharedServer(t)
	var jwks struct {
		Keys []map[string]string `json:"keys"`
	}
	a := s.send(t, call{path: external + "/jwks.json"}).want(200)
	if err := json.Unmarshal(a.body, &jwks); err != nil {
		t.Fatal(err)
	}
	if a.header.Get("Cache-Control") == "no-store" {
		t.Error("jwks.json may be cached, and says that it may not")
	}
	if len(jwks.Keys) == 0 {
		t.Fatal("jwks.json has no key")
	}
	for _, key := range jwks.Keys {
		if key["kty"] != "OKP" || key["crv"] != "Ed25519" || key["kid"] == "" || key["x"] == "" || key["d"] != "" {
			t.Errorf("key %v", key)
		}
	}
	var health map[string]any
	s.send(t, call{path: "/healthz"}).want(200).into(&health)
	for _, field := range []string{"status", "store", "staleness", "regions"} {
		if _, ok := health[field]; !ok {
			t.Errorf("health %v lacks %s", health, field)
		}
	}
}

// Heads that Go's server refuses by itself stay plain text, and a long path fits the example's limit.
func TestHeads(t *testing.T) {
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "heads"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	long := make([][2]float64, 0, 4000)
	for i := range 4000 {
		long = append(long, dover[(i/1000)%len(dover)])
	}
	s.send(t, call{path: matchPath(long, ""), bearer: access}).want(200)

	for name, test := range map[string]struct{ head, status string }{
		"broken":    {"GET / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n", "400"},
		"oversized": {"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("x", 600<<10) + "\r\n\r\n", "431"},
	} {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		go func() { _, _ = io.WriteString(conn, test.head) }()
		line, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if err != nil || !strings.HasPrefix(line, fmt.Sprintf("HTTP/1.1 %s", test.status)) {
			t.Errorf("%s head: %q, %v", name, line, err)
		}
	}
}
