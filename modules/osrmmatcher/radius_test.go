package osrmmatcher_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A radius that OSRM refuses is the client's mistake only if the client named it. Otherwise the drive is found with
// less, and that is remembered.
func TestMaxRadius(t *testing.T) {
	u := modulestest.NewUpstream(t)
	type request struct {
		text   string // what the request says beside the points
		points string // what each point says beside its position; of all but the first where it begins with "-"
		status int
		asked  string // the radius of the first point in each question, _ where the question has none
	}
	const plain, accurate = "", `,"accuracy":30`
	for _, tt := range []struct {
		name     string
		engine   *engine
		requests []request
	}{
		{"no limit", &engine{}, []request{{plain, plain, 200, "10"}, {`,"radius":20`, plain, 200, "20"}}},
		{"5 m", &engine{maxRadius: 5}, []request{
			{plain, plain, 200, "10 _"}, {plain, plain, 200, "_"},
			{`,"radius":4`, plain, 200, "4"},
			{`,"radius":50`, plain, 422, ""},
			{plain, accurate, 422, ""},
			{plain, `,"accuracy":3`, 200, "3"},
		}},
		{"5 m, the client names one first", &engine{maxRadius: 5}, []request{
			{`,"radius":50`, plain, 422, "33.3"}, {plain, plain, 200, "10 _"}, {plain, plain, 200, "_"},
		}},
		{"5 m, accuracies first", &engine{maxRadius: 5}, []request{
			{plain, accurate, 422, "30"}, {plain, accurate, 422, ""}, {plain, plain, 200, "10 _"},
		}},
		{"5 m, one accuracy", &engine{maxRadius: 5}, []request{{plain, "-" + `,"accuracy":4`, 200, "10 "}}},
		{"5 m, no road", &engine{maxRadius: 5, roadless: true}, []request{
			{plain, plain, 404, "10 _"}, {plain, plain, 404, "_"},
		}},
		// A radius between the first search and the wide one rules only the wide one out.
		{"20 m, no road", &engine{maxRadius: 20, roadless: true}, []request{
			{plain, plain, 404, "10 33.3"}, {plain, plain, 404, "10"}, {`,"radius":15`, plain, 404, "15"},
		}},
		{"60 m, no road", &engine{maxRadius: 60, roadless: true}, []request{
			{plain, plain, 404, "10 33.3"}, {`,"radius":50`, plain, 404, "33.3"},
		}},
		{"too many points", &engine{maxSize: 3, maxRadius: 5}, []request{{plain, plain, 422, "10"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.engine.serve(u)
			s := start(t, u.URL, "")
			for i, r := range tt.requests {
				var path []string
				for k := range 4 {
					more, rest := strings.CutPrefix(r.points, "-")
					if rest && k != 1 {
						more = ""
					}
					path = append(path, fmt.Sprintf(`{"lat":41,"lng":%.6f%s}`, -8-float64(k)/1000, more))
				}
				a := s.Do(http.MethodPost, matchPath, "", `{"path":[`+strings.Join(path, ",")+`]`+r.text+`}`)
				asked := ""
				for _, query := range tt.engine.take() {
					radiuses := append(option(query, "radiuses"), "_")
					asked += " " + radiuses[0]
				}
				if a.Status != r.status || strings.TrimPrefix(asked, " ") != r.asked {
					t.Errorf("request %d: %d %s, asked with %q, want %d, %q", i, a.Status, a.Body, asked, r.status, r.asked)
				}
				parameter := "path"
				if tt.engine.maxSize == 0 {
					parameter = map[bool]string{true: "accuracy", false: "radius"}[r.points == accurate]
				}
				if r.status == 422 && !strings.Contains(a.Body, parameter+": ") {
					t.Errorf("request %d: %s, want it to name %s", i, a.Body, parameter)
				}
			}
		})
	}
	t.Run("refuses what was not sent", func(t *testing.T) {
		s := start(t, u.URL, "")
		u.Send(400, `{"code":"TooBig","message":"Radius search size is too large for map matching."}`)
		check(t, u, s.Do(http.MethodGet, matchPath+"?path=[{41,-8},{41,-8.001}]", "", ""), 502, "BadGateway")
	})
}
