package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

var drive = matching.Result{
	Path: orb.LineString{{-75.5197, 39.1573}, {-75.52000001, 39}}, Distance: 1234.567, Confidence: 0.98765,
	Duration: 61.25,
	Tracepoints: []matching.Tracepoint{
		{Matched: true, Location: orb.Point{-75.5197, 39.1573}, Distance: 0.004, Name: `State "St"`},
		{},
		{Matched: true, Location: orb.Point{-75.52000001, 39}, Index: 1},
	},
	Ways: []matching.Way{{ID: 1 << 40, Name: `State "St"`, From: 0, To: 1}},
}

const (
	measures = `"distance":1234.57,"confidence":0.9877,"duration":61.3,"tracepoints":[`
	leftOut  = `{"location":null,"distance":null,"name":"","matched":false,"index":null}`
	ways     = `,"ways":[{"id":1099511627776,"name":"State \"St\"","from":0,"to":1}]`
	details  = measures +
		`{"location":[39.1573000,-75.5197000],"distance":0,"name":"State \"St\"","matched":true,"index":0},` + leftOut +
		`,{"location":[39.0000000,-75.5200000],"distance":0,"name":"","matched":true,"index":1}]`
	polylineHead  = "{\"polyline\":\"gb~tiAflj`oCffrHvQ\","
	detailsLngLat = measures +
		`{"location":[-75.5197000,39.1573000],"distance":0,"name":"State \"St\"","matched":true,"index":0},` + leftOut +
		`,{"location":[-75.5200000,39.0000000],"distance":0,"name":"","matched":true,"index":1}]`
)

func TestMatch(t *testing.T) {
	unknown := drive // its ways and its confidence
	unknown.Ways, unknown.Confidence = nil, math.NaN()
	without := strings.NewReplacer(ways, "", `"confidence":0.9877,`, "")
	const line = `{"coordinates":[[39.1573000,-75.5197000],[39.0000000,-75.5200000]],`
	const feature = `{"type":"Feature","geometry":{"type":"LineString",` +
		`"coordinates":[[-75.5197000,39.1573000],[-75.5200000,39.0000000]]},"properties":{`
	for name, tc := range map[string]struct {
		append      func(dst []byte, m *matching.Result, details bool) []byte
		plain, full string
	}{
		"JSON":     {AppendMatch, line + `"distance":1234.57}`, line + details + ways + `}`},
		"polyline": {AppendMatchPolyline, polylineHead + `"distance":1234.57}`, polylineHead + details + ways + `}`},
		"feature":  {AppendMatchFeature, feature + `"distance":1234.57}}`, feature + detailsLngLat + ways + `}}`},
	} {
		for form, f := range map[string]struct {
			m       *matching.Result
			details bool
			want    string
		}{
			"plain": {&drive, false, tc.plain}, "details": {&drive, true, tc.full},
			"details of which two are not known": {&unknown, true, without.Replace(tc.full)},
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				got := string(tc.append(nil, f.m, f.details))
				if diff := cmp.Diff(f.want, got); diff != "" || !json.Valid([]byte(got)) {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A polyline may have any number of backslashes, which JSON wants doubled.
func TestPolylineInJSON(t *testing.T) {
	for i := range 2000 {
		m := matching.Result{Path: orb.LineString{{float64(i) / 1e6, float64(i%77) / 1e6}, {0, float64(i) / 1e6},
			{float64(i%61) / 1e6, 0}}}
		var got struct{ Polyline string }
		text := AppendMatchPolyline([]byte(nil), &m, false)
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		line, err := geo.DecodePolyline([]byte(got.Polyline), geo.Polyline6)
		if diff := cmp.Diff(m.Path, line, cmpopts.EquateApprox(0, 1e-9)); err != nil || diff != "" {
			t.Fatalf("%s: %v %s", text, err, diff)
		}
	}
}

func TestPlaces(t *testing.T) {
	got := string(AppendPlaces(nil, orb.Point{-75.5, math.Copysign(0, -1)}, &geocoding.Result{}))
	if want := `{"data":{"query":"0.000000,-75.500000","results":[]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	place := geocoding.Place{
		ID: "node:1", Name: "Café “X”", DisplayName: "Café, Dover", Category: "amenity", Type: "cafe",
		Location: orb.Point{-75.52, 39.15}, Distance: 12.345,
		Address: geocoding.Address{City: "Dover", Country: "United States", CountryCode: "USA"},
	}
	full := place
	full.Address.HouseNumber, full.Address.Street, full.Address.Suburb = "1a", "Main Street", "Old Town"
	full.Address.Hamlet, full.Address.County = "Elm", "Kent County"
	full.Address.State, full.Address.Postcode = "Delaware", "19901"
	got = string(AppendPlaces(nil, orb.Point{-75.5, 39.1}, &geocoding.Result{Places: []geocoding.Place{place, full}}))
	const head = `{"id":"node:1","name":"Café “X”","display_name":"Café, Dover","category":"amenity","type":"cafe",` +
		`"distance":12.35,` +
		`"location":{"lat":39.1500000,"lng":-75.5200000},"address":{`
	want := `{"data":{"query":"39.100000,-75.500000","results":[` +
		head + `"city":"Dover","country":"United States","country_code":"USA"}},` +
		head +
		`"house_number":"1a","street":"Main Street","suburb":"Old Town","hamlet":"Elm",` +
		`"city":"Dover","county":"Kent County","state":"Delaware","postcode":"19901",` +
		`"country":"United States","country_code":"USA"}}]}}`
	if diff := cmp.Diff(want, got); diff != "" || !json.Valid([]byte(got)) {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCoverage(t *testing.T) {
	if got, want := string(AppendCoverage(nil, nil)), `{"data":{"regions":[]}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got := string(AppendCoverage(nil, []Region{
		{Name: `a "b"`, Bounds: region.Bounds{MinLat: 38.4, MinLon: -75.8, MaxLat: 39.85, MaxLon: -74.9800001},
			Attribution: "© x", Date: time.Date(2026, 5, 1, 2, 0, 0, 5, time.FixedZone("", 7200))},
		{Name: "c"},
	}))
	const want = `{"data":{"regions":[{"name":"a \"b\"",` +
		`"bounds":{"minLat":38.4000000,"minLon":-75.8000000,"maxLat":39.8500000,"maxLon":-74.9800001},` +
		`"date":"2026-05-01T00:00:00Z","attribution":"© x"},` +
		`{"name":"c","bounds":{"minLat":0.0000000,"minLon":0.0000000,"maxLat":0.0000000,"maxLon":0.0000000},` +
		`"date":null,"attribution":""}]}}`
	if diff := cmp.Diff(want, got); diff != "" || !json.Valid([]byte(got)) {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteFailure(t *testing.T) {
	for _, tc := range []struct {
		err        error
		status     int
		body       string
		unexpected bool
	}{
		{&trace.InputError{Parameter: "path", Point: 2, Problem: "is odd"}, 422,
			`{"error":{"code":"InvalidInput","message":"path: point 2: is odd","status":422}}`, false},
		{fmt.Errorf("x: %w", matching.ErrNoRoute), 404,
			`{"error":{"code":"NoRoute","message":"no matching route for the given coordinates","status":404}}`, false},
		{fmt.Errorf("x: %w", &matching.NoRouteError{Reason: "a lake"}), 404,
			`{"error":{"code":"NoRoute","message":"no matching route for the given coordinates: a lake","status":404}}`, false},
		{fmt.Errorf("x: %w", matching.ErrWork), 422, `{"error":{"code":"InvalidInput","message":"path: the trace takes ` +
			`too much work to match: send it in parts, with fewer points, or with points that are closer together",` +
			`"status":422}}`, false},
		{&admission.OverloadError{RetryAfter: 1}, 503,
			`{"error":{"code":"Unavailable","message":"too many requests are under way","status":503}}`, false},
		{&region.DamageError{Path: "/secret/path", Problem: "x"}, 503,
			`{"error":{"code":"Unavailable","message":"service unavailable","status":503}}`, false},
		{fmt.Errorf("x: %w", regions.ErrUnavailable), 503,
			`{"error":{"code":"Unavailable","message":"service unavailable","status":503}}`, false},
		{context.DeadlineExceeded, 504, `{"error":{"code":"Timeout","message":"timeout","status":504}}`, false},
		{apierror.BadGateway(), 502, `{"error":{"code":"BadGateway","message":"bad gateway","status":502}}`, false},
		{context.Canceled, 499, ``, false},
		{errors.New("open /secret/path"), 500,
			`{"error":{"code":"InternalError","message":"internal server error","status":500}}`, true},
	} {
		rec := httptest.NewRecorder()
		unexpected := WriteFailure(rec, apierror.Routing, tc.err)
		body := strings.TrimSuffix(rec.Body.String(), "\n")
		if rec.Code != tc.status || unexpected != tc.unexpected || body != tc.body {
			t.Errorf("%v: %d %s, unexpected %v", tc.err, rec.Code, body, unexpected)
		}
	}
}
