package osrmmatcher_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// sampled are the times of n points, a constant number of seconds apart.
func sampled(n int, step float64) (times []float64) {
	for i := range n {
		times = append(times, float64(i)*step)
	}
	return times
}

// A drive that is cut at a pause, as `gaps split` says, is not asked for again; one with a gap elsewhere is.
func TestSplit(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "gaps split")
	for _, tt := range []struct {
		parts []int
		asked int64
	}{
		{[]int{0, 0, 0, 1, 1, 1, 1, 1}, 1},
		{[]int{0, 0, 0, 0, 0, 1, 1, 1}, 2},
	} {
		var asked atomic.Int64
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			parts := tt.parts
			if asked.Add(1) > 1 {
				parts = make([]int, 6)
			}
			fmt.Fprint(w, made(parts))
		})
		var path []string
		for i, at := range []int{0, 2, 4, 30, 32, 34, 36, 38} { // a pause behind the third
			path = append(path, fmt.Sprintf(`{"lat":41,"lng":%.6f,"time":%d}`, -8-float64(i)/1000, at))
		}
		a := s.Do(http.MethodPost, matchPath, "", `{"path":[`+strings.Join(path, ",")+`]}`)
		if n := asked.Load(); a.Status != http.StatusOK || n != tt.asked {
			t.Errorf("%v: %d %s, asked %d times, want %d", tt.parts, a.Status, a.Body, n, tt.asked)
		}
	}
}

// OSRM takes whole seconds, and finds no way between points of the same one. So times go along where they rise all the
// same, and where they do not, the drive is found without them.
func TestTimes(t *testing.T) {
	u := modulestest.NewUpstream(t)
	e := new(engine)
	e.serve(u)
	s := start(t, u.URL, "")
	for _, tt := range []struct {
		name  string
		times []float64
		sent  string
	}{
		{"2 Hz", sampled(40, 0.5), ""},
		{"10 Hz", sampled(40, 0.1), ""},
		{"1 Hz", []float64{7, 8, 9, 10}, "7;8;9;10"},
		{"1 Hz, fractions", []float64{0.9, 1.95, 3.0}, "0;1;3"},
		{"1 Hz, early by a little", []float64{1.0, 1.99, 3.0}, ""},
		{"pauses", []float64{5, 65.5, 4000}, "5;65;4000"},
		{"two of a second in the middle", []float64{1, 2, 2, 3}, ""},
		{"all of a second", []float64{4, 4, 4}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var path []string
			for i, at := range tt.times {
				path = append(path, fmt.Sprintf(`{"lat":41,"lng":%.6f,"time":%v}`, -8-float64(i)/1000, at))
			}
			a := s.With(t).Do(http.MethodPost, matchPath, "", `{"path":[`+strings.Join(path, ",")+`],"details":true}`)
			asked := e.take()
			if a.Status != http.StatusOK || len(asked) != 1 {
				t.Fatalf("%d %s, asked %q", a.Status, a.Body, asked)
			}
			if got := strings.Join(option(asked[0], "timestamps"), ";"); got != tt.sent {
				t.Errorf("times %q, want %q", got, tt.sent)
			}
			if gaps := option(asked[0], "gaps"); (gaps != nil) != (tt.sent != "") {
				t.Errorf("gaps %q beside times %q", gaps, tt.sent)
			}
			got := modulestest.ReadDrive(t, a)
			for i, p := range got.Tracepoints {
				if !p.Matched {
					t.Errorf("point %d is left out", i)
				}
			}
		})
	}
}
