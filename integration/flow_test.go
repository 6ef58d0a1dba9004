package integration

import (
	"encoding/json"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// The way of a service account from its creation to its end, with the calls that it allows on the way.
func TestFlow(t *testing.T) {
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

	// Suspended: the very next calls are refused, and so are the ways to new tokens.
	s.setStatus(t, user, acc.ID, "SUSPENDED")
	mapCalls(access, 401)
	mapCalls(second, 401)
	s.send(t, exchangeCall(acc.ClientToken, acc.ServerToken)).want(401)
	s.send(t, refreshCall(refresh)).want(401)

	// Active again: tokens of before stay dead, new ones can be had.
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

// A deleted account's tokens end with it, and a lost scope is lost at once.
func TestDeletionAndLostScopes(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "lost-scopes")
	acc := s.create(t, user, nil)
	access, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	at := func() call { return call{path: reverse + "?lat=39.15&lon=-75.52", bearer: access} }
	s.send(t, at()).want(200)
	patch := func(body string) {
		t.Helper()
		s.send(t, call{method: "PATCH", path: accounts + "/" + acc.ID, bearer: user, contentType: "application/json", body: body}).want(200)
	}
	patch(`{"scopes":["DIRECTION"]}`)
	s.send(t, at()).want(403)
	s.send(t, call{path: matchPath(dover, ""), bearer: access}).want(200)
	patch(`{"scopes":["DIRECTION","REVERSEGEOCODING","GEOCODING"]}`)
	s.send(t, at()).want(200)

	s.send(t, call{method: "DELETE", path: accounts + "/" + acc.ID, bearer: user}).want(204)
	s.send(t, at()).want(401)
	s.send(t, refreshCall(refresh)).want(401)
	s.send(t, exchangeCall(acc.ClientToken, acc.ServerToken)).want(401)
}

// The two tokens of an exchange may be of two accounts, whose common scopes the access token has.
func TestTwoAccounts(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "two-accounts")
	app := s.create(t, user, map[string]any{"scopes": []string{"REVERSEGEOCODING", "DIRECTION"}})
	backend := s.create(t, user, map[string]any{"scopes": []string{"TILE", "REVERSEGEOCODING"}})
	access, refresh := s.exchange(t, app.ClientToken, backend.ServerToken)
	s.send(t, call{path: reverse + "?lat=39.15&lon=-75.52", bearer: access}).want(200)
	s.send(t, call{path: matchPath(dover, ""), bearer: access}).want(403)

	// Two that have nothing in common, and two of different organizations.
	tiles := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	s.send(t, exchangeCall(app.ClientToken, tiles.ServerToken)).want(403)
	stranger := s.create(t, s.userToken(t, "two-accounts-other"), nil)
	s.send(t, exchangeCall(app.ClientToken, stranger.ServerToken)).want(401)
	s.send(t, exchangeCall(app.ServerToken, app.ClientToken)).want(401)

	// Either account ends the token.
	s.setStatus(t, user, backend.ID, "SUSPENDED")
	s.send(t, call{path: reverse + "?lat=39.15&lon=-75.52", bearer: access}).want(401)
	s.send(t, refreshCall(refresh)).want(401)
}

func TestReverseGeocodingAnswer(t *testing.T) {
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "reverse-answer"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	var body struct {
		Data struct {
			Query   string `json:"query"`
			Results []struct {
				ID          string             `json:"id"`
				Name        string             `json:"name"`
				DisplayName string             `json:"display_name"`
				Category    string             `json:"category"`
				Type        string             `json:"type"`
				Distance    *float64           `json:"distance"`
				Location    map[string]float64 `json:"location"`
				Address     map[string]string  `json:"address"`
			} `json:"results"`
		} `json:"data"`
	}
	s.send(t, call{path: reverse + "?lat=39.1573&lon=-75.5197&size=5", bearer: access}).want(200).
		wantHeader("Cache-Control", "private").wantHeader("Vary", "Authorization").wantHeader("Referrer-Policy", "no-referrer").into(&body)
	if body.Data.Query != "39.157300,-75.519700" {
		t.Errorf("query is %q", body.Data.Query)
	}
	if n := len(body.Data.Results); n != 5 {
		t.Fatalf("%d results, want 5 in the middle of Dover", n)
	}
	last := -1.0
	for _, r := range body.Data.Results {
		kind, _, _ := strings.Cut(r.ID, ":")
		if !slices.Contains([]string{"node", "way", "relation"}, kind) {
			t.Errorf("id is %q", r.ID)
		}
		if r.Distance == nil || *r.Distance < last {
			t.Errorf("%s: distance %v after %v", r.ID, r.Distance, last)
		} else {
			last = *r.Distance
		}
		if math.Abs(r.Location["lat"]-39.1573) > 0.01 || math.Abs(r.Location["lng"]+75.5197) > 0.01 {
			t.Errorf("%s: location is %v", r.ID, r.Location)
		}
		if r.Name == "" || r.DisplayName == "" || r.Category == "" || r.Type == "" {
			t.Errorf("a field is empty: %+v", r)
		}
		if r.Address["country_code"] != "USA" || r.Address["country"] != "United States" || r.Address["city"] != "Dover" {
			t.Errorf("%s: address is %v", r.ID, r.Address)
		}
	}

	// Outside what the region covers there is nothing, which is no error.
	body.Data.Results = nil
	s.send(t, call{path: reverse + "?lat=52.52&lon=13.405", bearer: access}).want(200).into(&body)
	if body.Data.Results == nil || len(body.Data.Results) != 0 {
		t.Errorf("results in Berlin: %v", body.Data.Results)
	}
}

func TestMatchingAnswer(t *testing.T) {
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "matching-answer"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)

	var plain map[string]json.RawMessage
	s.send(t, call{path: matchPath(dover, ""), bearer: access}).want(200).into(&plain)
	if len(plain) != 2 || plain["coordinates"] == nil || plain["distance"] == nil {
		t.Errorf("the answer has other fields than coordinates and distance: %v", plain)
	}

	type drive struct {
		Coordinates [][2]float64 `json:"coordinates"`
		Distance    float64      `json:"distance"`
		Confidence  float64      `json:"confidence"`
		Duration    float64      `json:"duration"`
		Tracepoints []*struct {
			Location *[2]float64 `json:"location"`
			Distance float64     `json:"distance"`
			Name     string      `json:"name"`
			Matched  bool        `json:"matched"`
		} `json:"tracepoints"`
	}
	var got drive
	s.send(t, call{path: matchPath(dover, "&details=true"), bearer: access}).want(200).into(&got)
	if math.Abs(got.Distance-415) > 25 {
		t.Errorf("distance is %v m, want about 415", got.Distance)
	}
	var length float64
	for i, c := range got.Coordinates[1:] {
		length += metres(got.Coordinates[i], c)
	}
	if math.Abs(length-got.Distance) > 1 {
		t.Errorf("the coordinates are %v m long, distance is %v", length, got.Distance)
	}
	if got.Confidence <= 0 || got.Confidence > 1 || got.Duration < 10 || got.Duration > 120 {
		t.Errorf("confidence %v, duration %v", got.Confidence, got.Duration)
	}
	if len(got.Tracepoints) != len(dover) {
		t.Fatalf("%d tracepoints for %d points", len(got.Tracepoints), len(dover))
	}
	for i, p := range got.Tracepoints {
		if !p.Matched || p.Location == nil || p.Distance > 15 || !strings.Contains(p.Name, "Loockerman Street") {
			t.Errorf("point %d: %+v", i, p)
		}
	}

	// The same trace in every form gives the same drive.
	var gpx, line strings.Builder
	gpx.WriteString(`<?xml version="1.0"?><gpx version="1.1" creator="t" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>`)
	for i, p := range dover {
		gpx.WriteString(`<trkpt lat="` + number(p[0]) + `" lon="` + number(p[1]) + `"/>`)
		if i > 0 {
			line.WriteByte(',')
		}
		line.WriteString("[" + number(p[1]) + "," + number(p[0]) + "]")
	}
	gpx.WriteString(`</trkseg></trk></gpx>`)
	geometry := `{"type":"LineString","coordinates":[` + line.String() + `]}`
	forms := map[string]call{
		"objects": {path: match + "?details=true&path=" + url.QueryEscape(strings.TrimSuffix(strings.TrimPrefix(doverJSON, `{"path":`), "}"))},
		"raw":     {path: strings.TrimSuffix(match, "/") + "?details=true&path=" + rawPath(dover)},
		"JSON":    {method: "POST", path: match, contentType: "application/json", body: strings.Replace(doverJSON, "{", `{"details":true,`, 1)},
		"GPX":     {method: "POST", path: match + "?details=true", contentType: "application/gpx+xml", body: gpx.String()},
		"GeoJSON": {method: "POST", path: match + "?details=true", contentType: "application/geo+json", body: geometry},
		"Feature": {method: "POST", path: match + "?details=true", contentType: "application/geo+json", body: `{"type":"Feature","properties":null,"geometry":` + geometry + `}`},
	}
	for name, c := range forms {
		t.Run(name, func(t *testing.T) {
			c.bearer = access
			var same drive
			s.send(t, c).want(200).into(&same)
			if same.Distance != got.Distance || !slices.Equal(same.Coordinates, got.Coordinates) {
				t.Errorf("another drive: %v m, want %v", same.Distance, got.Distance)
			}
		})
	}

	var feature struct {
		Type     string
		Geometry struct {
			Type        string
			Coordinates [][2]float64
		}
	}
	a := s.send(t, call{path: matchPath(dover, "&format=geojson&details=true"), bearer: access}).want(200).
		wantHeader("Content-Type", "application/geo+json")
	if err := json.Unmarshal(a.body, &feature); err != nil {
		t.Fatal(err)
	}
	if feature.Type != "Feature" || feature.Geometry.Type != "LineString" || len(feature.Geometry.Coordinates) != len(got.Coordinates) ||
		feature.Geometry.Coordinates[0] != [2]float64{got.Coordinates[0][1], got.Coordinates[0][0]} {
		t.Errorf("GeoJSON: %+v", feature)
	}
}

func rawPath(points [][2]float64) string {
	var b strings.Builder
	for i, p := range points {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("{" + number(p[0]) + "," + number(p[1]) + "}")
	}
	return "[" + b.String() + "]"
}

// metres is the great-circle distance of two positions [lat,lng].
func metres(a, b [2]float64) float64 {
	const rad = math.Pi / 180
	sin := func(x float64) float64 { return math.Sin(x) * math.Sin(x) }
	h := sin((b[0]-a[0])*rad/2) + math.Cos(a[0]*rad)*math.Cos(b[0]*rad)*sin((b[1]-a[1])*rad/2)
	return 2 * 6371008.8 * math.Asin(math.Sqrt(h))
}

// Accounts are listed newest first, by pages, and only to their organization.
func TestAccountsOfAnOrganization(t *testing.T) {
	s := sharedServer(t)
	user, stranger := s.userToken(t, "list"), s.userToken(t, "list-other")
	var ids []string // newest first
	for i := range 5 {
		acc := s.create(t, user, map[string]any{"description": strings.Repeat("x", i)})
		ids = append([]string{acc.ID}, ids...)
	}
	theirs := s.create(t, stranger, nil)
	s.setStatus(t, user, ids[1], "SUSPENDED")

	type page struct {
		Data       []serviceAccount `json:"data"`
		NextCursor *string          `json:"nextCursor"`
	}
	list := func(query string) (got []string) {
		t.Helper()
		cursor := ""
		for range 10 {
			var p page
			a := s.send(t, call{path: accounts + "?" + query + cursor, bearer: user}).want(200).wantHeader("Cache-Control", "no-store")
			a.into(&p)
			for _, acc := range p.Data {
				got = append(got, acc.ID)
				if acc.ClientToken != "" || acc.ServerToken != "" {
					t.Errorf("the list shows the tokens of %s", acc.ID)
				}
				if _, err := time.Parse(time.RFC3339, acc.UpdatedAt); err != nil || !strings.HasSuffix(acc.UpdatedAt, "Z") {
					t.Errorf("updatedAt is %q", acc.UpdatedAt)
				}
			}
			if p.NextCursor == nil {
				return got
			}
			cursor = "&cursor=" + url.QueryEscape(*p.NextCursor)
		}
		t.Fatal("the list does not end")
		return nil
	}
	if got := list("limit=2"); !slices.Equal(got, ids) {
		t.Errorf("listed %v, want %v", got, ids)
	}
	if got := list("limit=200"); !slices.Equal(got, ids) {
		t.Errorf("listed %v, want %v", got, ids)
	}
	if got := list("status=SUSPENDED"); !slices.Equal(got, ids[1:2]) {
		t.Errorf("listed %v, want %v", got, ids[1:2])
	}
	if got := list("limit=1&status=ACTIVE"); !slices.Equal(got, append([]string{ids[0]}, ids[2:]...)) {
		t.Errorf("listed %v", got)
	}

	one := accounts + "/" + theirs.ID
	s.send(t, call{path: one, bearer: user}).want(404)
	s.send(t, call{method: "PATCH", path: one, bearer: user, contentType: "application/json", body: `{"status":"REVOKED"}`}).want(404)
	s.send(t, call{method: "DELETE", path: one, bearer: user}).want(404)
	var still accountBody
	s.send(t, call{path: one, bearer: stranger}).want(200).into(&still)
	if still.Data.Status != "ACTIVE" || still.Data.UpdatedAt != theirs.UpdatedAt {
		t.Errorf("another organization changed the account: %+v", still.Data)
	}
	// A change that changes nothing leaves the time of the last one.
	var same accountBody
	s.send(t, call{method: "PATCH", path: one, bearer: stranger, contentType: "application/json", body: `{"platform":"WEB"}`}).want(200).into(&same)
	if same.Data.UpdatedAt != theirs.UpdatedAt {
		t.Errorf("updatedAt moved from %s to %s by a change of nothing", theirs.UpdatedAt, same.Data.UpdatedAt)
	}
}

// An account with isAdmin manages its own organization by its access token, within the limits of an access token.
func TestAdminAccessToken(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "admin-accounts")
	admin := s.create(t, user, map[string]any{"isAdmin": true, "scopes": []string{"DIRECTION"}})
	access, _ := s.exchange(t, admin.ClientToken, admin.ServerToken)
	post := func(body string) call {
		return call{method: "POST", path: accounts, bearer: access, contentType: "application/json", body: body}
	}
	var made accountBody
	s.send(t, post(`{"platform":"IOS","scopes":["DIRECTION"]}`)).want(201).wantHeader("Location", accounts+"/sa_…").into(&made)
	secret(made.Data.ClientToken)
	secret(made.Data.ServerToken)
	if made.Data.CreatedBy != admin.ID {
		t.Errorf("createdBy is %q, want %q", made.Data.CreatedBy, admin.ID)
	}
	s.send(t, call{path: accounts + "/" + made.Data.ID, bearer: access}).want(200)
	s.send(t, call{method: "PATCH", path: accounts + "/" + made.Data.ID, bearer: access, contentType: "application/json", body: `{"description":"by automation"}`}).want(200)

	s.send(t, post(`{"platform":"IOS","scopes":["DIRECTION"],"isAdmin":true}`)).want(403)
	s.send(t, post(`{"platform":"IOS","scopes":["TILE"]}`)).want(403)
	self := accounts + "/" + admin.ID
	s.send(t, call{method: "PATCH", path: self, bearer: access, contentType: "application/json", body: `{"description":"me"}`}).want(403)
	s.send(t, call{method: "DELETE", path: self, bearer: access}).want(403)
	s.send(t, call{path: accounts + "?apiKey=" + access}).want(401)

	// Admin rights are looked at on each request.
	s.send(t, call{method: "PATCH", path: self, bearer: user, contentType: "application/json", body: `{"isAdmin":false}`}).want(200)
	s.send(t, call{path: accounts, bearer: access}).want(403)
}
