package osrmmatcher_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// made makes a response of OSRM: parts tells the matching of each point, -1 for none.
func made(parts []int) string {
	count := 0
	var points []string
	for i, p := range parts {
		count = max(count, p+1)
		if p < 0 {
			points = append(points, "null")
			continue
		}
		points = append(points, fmt.Sprintf(`{"matchings_index":%d,"location":[%v,41],"name":"Street %d","distance":1}`,
			p, -8-float64(i)/1000, p))
	}
	var matchings []string
	for p := range count {
		matchings = append(matchings, fmt.Sprintf(`{"confidence":0.5,"duration":%d,`+
			`"geometry":{"type":"LineString","coordinates":[[-8,41],[-8.%03d,41]]}}`, p+1, len(parts)))
	}
	return fmt.Sprintf(`{"code":"Ok","matchings":[%s],"tracepoints":[%s]}`,
		strings.Join(matchings, ","), strings.Join(points, ","))
}

// A response in parts loses the smaller ones, as ours does, and says NoRoute where too little is left.
func TestParts(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	for _, tt := range []struct {
		name     string
		answers  [][]int // one for each request; the last one stands for all that follow
		status   int
		duration float64
		matched  string
	}{
		{"one part", [][]int{{0, 0, 0, 0}}, 200, 1, "1111"},
		{"outliers", [][]int{{-1, 0, 0, -1}}, 200, 1, "0110"},
		{"too many outliers", [][]int{{-1, 0, 0, -1, -1}}, 404, 0, ""},
		{"a single point", [][]int{{0, -1}}, 404, 0, ""},
		{"the second is smaller", [][]int{{0, 0, 0, 1, 1}}, 200, 1, "11100"},
		{"the first is smaller", [][]int{{0, 0, 1, 1, 1}}, 200, 2, "00111"},
		{"equal", [][]int{{0, 0, 1, 1}}, 200, 2, "0011"},
		{"too little left", [][]int{{0, 0, 1, 1, -1}}, 404, 0, ""},
		{"joined without the one between", [][]int{{0, 0, 1, 2, 2, 2}, {0, 0, 0, 0, 0}}, 200, 1, "110111"},
		{"not joined", [][]int{{0, 0, 1, 2, 2, 2}, {0, 0, 1, 1, 1}}, 200, 2, "000111"},
		{"an invalid response when asked again", [][]int{{0, 0, 1, 2, 2, 2}}, 200, 3, "000111"},
		{"never joined", [][]int{{0, 0, 1, 2, 3, 4}, {0, 0, 1, 2, 3}, {0, 0, 1, 2}, {0, 0, 1}}, 404, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int64
			u.Answer(func(w http.ResponseWriter, r *http.Request) {
				n := min(int(asked.Add(1)), len(tt.answers))
				fmt.Fprint(w, made(tt.answers[n-1]))
			})
			var path []string
			for i := range tt.answers[0] {
				path = append(path, fmt.Sprintf(`{"lat":41,"lng":%v}`, -8-float64(i)/1000))
			}
			a := s.With(t).Do(http.MethodPost, matchPath, "", `{"path":[`+strings.Join(path, ",")+`],"details":true}`)
			if a.Status != tt.status {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			if n := asked.Load(); n > 8 {
				t.Errorf("asked %d times", n)
			}
			if tt.status != 200 {
				return
			}
			got := modulestest.ReadDrive(t, a)
			if matched := got.Matched(); matched != tt.matched || got.Duration != tt.duration {
				t.Errorf("matched %s, duration %v, want %s, %v", matched, got.Duration, tt.matched, tt.duration)
			}
		})
	}
}
