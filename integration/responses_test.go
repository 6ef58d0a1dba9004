package integration

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// coverage is the path of the list of regions.
const coverage = "/v2/search/coverage"

// The list of regions is for whoever may ask for places, and tells of Delaware what its file says.
func TestCoverageAnswer(t *testing.T) {
	s := sharedServer(t)
	user := s.userToken(t, "coverage")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	other := s.create(t, user, map[string]any{"scopes": []string{"DIRECTION", "TILE"}})
	stranger, _ := s.exchange(t, other.ClientToken, other.ServerToken)

	s.send(t, call{path: coverage, ungated: true}).want(401)
	s.send(t, call{path: coverage, bearer: stranger}).want(403)
	s.send(t, call{method: "POST", path: coverage, bearer: access}).want(405).wantHeader("Allow", "GET, HEAD")
	s.send(t, call{path: coverage + "/", bearer: access}).want(404)
	s.send(t, call{method: "HEAD", path: coverage, bearer: access}).want(200)
	s.send(t, call{path: coverage + "?apiKey=" + access}).want(200)
	var got struct {
		Data struct {
			Regions []struct {
				Name        string
				Bounds      struct{ MinLat, MinLon, MaxLat, MaxLon float64 }
				Date        string
				Attribution string
			}
		}
	}
	s.send(t, call{path: coverage, bearer: access}).want(200).
		wantHeader("Cache-Control", "private").wantHeader("Vary", "Authorization").
		wantHeader("Referrer-Policy", "no-referrer").into(&got)
	if len(got.Data.Regions) != 1 {
		t.Fatalf("%+v", got)
	}
	r := got.Data.Regions[0]
	if r.Name != "delaware" || !strings.Contains(r.Attribution, "OpenStreetMap") || !strings.HasPrefix(r.Date, "20") ||
		!(r.Bounds.MinLat > 38 && r.Bounds.MinLat < 38.6 && r.Bounds.MaxLat > 39.7 && r.Bounds.MaxLat < 40.5 &&
			r.Bounds.MinLon > -76.5 && r.Bounds.MinLon < -75.7 && r.Bounds.MaxLon > -75.1 && r.Bounds.MaxLon < -74) {
		t.Errorf("%+v", r)
	}
}

// What details add to a drive, in every format: the ways, and where in the line each point is.
func TestMatchingDetails(t *testing.T) {
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "matching-details"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	type details struct {
		Distance    float64
		Tracepoints []struct {
			Location *[2]float64
			Index    *int
		}
		Ways []struct {
			ID       int64
			Name     string
			From, To int
		}
	}
	var plain struct {
		Coordinates [][2]float64
		details
	}
	s.send(t, call{path: matchPath(dover, "&details=true"), bearer: access}).want(200).into(&plain)
	at := 0
	for i, w := range plain.Ways {
		if w.From != at || w.To <= w.From || w.ID <= 0 || !strings.Contains(w.Name, "Loockerman Street") ||
			i > 0 && w.ID == plain.Ways[i-1].ID {
			t.Errorf("way %d of %+v", i, plain.Ways)
		}
		at = w.To
	}
	if len(plain.Ways) == 0 || at != len(plain.Coordinates)-1 {
		t.Errorf("the ways %+v do not cover %d coordinates", plain.Ways, len(plain.Coordinates))
	}
	for i, p := range plain.Tracepoints {
		if p.Index == nil || p.Location == nil || *p.Index >= len(plain.Coordinates) ||
			plain.Coordinates[*p.Index] != *p.Location {
			t.Errorf("point %d is at no coordinate: %+v", i, p)
		}
	}

	var feature struct {
		Geometry   struct{ Coordinates [][2]float64 }
		Properties details
	}
	a := s.send(t, call{path: matchPath(dover, "&details=true&format=geojson"), bearer: access}).want(200)
	if err := json.Unmarshal(a.body, &feature); err != nil {
		t.Fatal(err)
	}
	var encoded struct {
		Polyline string
		details
	}
	s.send(t, call{path: matchPath(dover, "&details=true&format=polyline6"), bearer: access}).want(200).
		wantHeader("Content-Type", jsonType).into(&encoded)
	line, err := geo.DecodePolyline([]byte(encoded.Polyline), geo.Polyline6)
	if err != nil || len(line) != len(plain.Coordinates) || len(feature.Geometry.Coordinates) != len(line) {
		t.Fatalf("%d, %d and %d coordinates, error %v", len(plain.Coordinates), len(feature.Geometry.Coordinates), len(line),
			err)
	}
	for i, p := range plain.Coordinates {
		if feature.Geometry.Coordinates[i] != [2]float64{p[1], p[0]} || math.Abs(line[i].Lat()-p[0]) > 6e-7 ||
			math.Abs(line[i].Lon()-p[1]) > 6e-7 {
			t.Errorf("coordinate %d: %v, %v, %v", i, p, feature.Geometry.Coordinates[i], line[i])
		}
	}
	for name, other := range map[string]details{"geojson": feature.Properties, "polyline6": encoded.details} {
		if fmt.Sprint(other.Ways) != fmt.Sprint(plain.Ways) || other.Distance != plain.Distance ||
			len(other.Tracepoints) != len(plain.Tracepoints) {
			t.Errorf("%s: %+v, want %+v", name, other, plain.details)
		}
	}
	var short map[string]any
	s.send(t, call{path: matchPath(dover, "&format=polyline6"), bearer: access}).want(200).into(&short)
	if len(short) != 2 || short["polyline"] == nil || short["distance"] != plain.Distance {
		t.Errorf("without details: %v", short)
	}
}

// Tables and collections are read like every other form, and what is wrong with them is named.
func TestMatchingTablesAndCollections(t *testing.T) {
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "matching-tables"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	table, line := "\ufeffTime,LON,Lat,accuracy\r\n", ""
	for i, p := range dover {
		table += fmt.Sprintf("2026-05-01T10:00:%02dZ,%v,\"%v\",\r\n", 10*i, p[1], p[0])
		line += fmt.Sprintf(",[%v,%v]", p[1], p[0])
	}
	collection := `{"type":"FeatureCollection","features":[{"type":"Feature","properties":null,` +
		`"geometry":{"type":"Point","coordinates":[1,2]}},` +
		`{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[` + line[1:] + `]}}]}`
	const csvType, geoType = "text/csv", "application/geo+json"
	for _, sent := range []struct{ media, body string }{{csvType, table}, {csvType + "; charset=utf-8", table},
		{geoType, collection}} {
		var got struct{ Distance float64 }
		s.send(t, call{method: "POST", path: match, bearer: access, contentType: sent.media, body: sent.body}).want(200).
			into(&got)
		if math.Abs(got.Distance-415) > 25 {
			t.Errorf("%s: %v m, want about 415", sent.media, got.Distance)
		}
	}
	for _, wrong := range []struct{ media, body, says string }{
		{csvType, "lat,lng\n39.1,-75.5\n39.2,x\n", `csv: point 1: line 3, column lng: "x" is not a number`},
		{csvType, "a,b\n1,2\n", "csv: the header has no column lat"},
		{geoType, strings.ReplaceAll(collection, "LineString", "MultiPoint"),
			"features: 0 have a LineString; a trace is one"},
	} {
		var got struct {
			Error struct{ Code, Message string }
		}
		s.send(t, call{method: "POST", path: match, bearer: access, contentType: wrong.media, body: wrong.body}).want(422).
			into(&got)
		if got.Error.Code != "InvalidInput" || got.Error.Message != wrong.says {
			t.Errorf("%q: %+v", wrong.body, got)
		}
	}
}

// A trace without a route is told where it lies.
func TestNoRouteSaysWhere(t *testing.T) {
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "no-route"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	for _, tc := range []struct {
		points [][2]float64
		says   string
	}{
		{[][2]float64{{52.52, 13.4}, {52.52, 13.41}}, "the whole trace lies outside the region's coverage"},
		{append([][2]float64{{52.5, 13.4}, {52.52, 13.4}, {52.52, 13.41}}, dover[:2]...),
			"3 of 5 points, lies outside the region's coverage"},
		{[][2]float64{{39.05, -75.38}, {39.05, -75.37}}, "inside the region's coverage"}, // on the bay
	} {
		var got struct {
			Error struct{ Code, Message string }
		}
		s.send(t, call{path: matchPath(tc.points, ""), bearer: access}).want(404).into(&got)
		if got.Error.Code != "NoRoute" || !strings.Contains(got.Error.Message, tc.says) {
			t.Errorf("%v: %+v, want %q", tc.points, got, tc.says)
		}
	}
}
