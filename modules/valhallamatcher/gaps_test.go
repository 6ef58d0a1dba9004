package valhallamatcher_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// joined is the recording of a trace with a point in the sea as a service answers it that joins both sides, when it
// looks for roads far enough from the points.
func joined(t *testing.T, radius float64) recording {
	sea, ok := read(t, "sea_point_route_osrm"), read(t, "ok_route_osrm")
	at := slices.IndexFunc(sea.answer.Tracepoints, func(p json.RawMessage) bool { return string(p) == "null" })
	sea.answer.Tracepoints = slices.Insert(ok.answer.Tracepoints, at, json.RawMessage("null"))
	sea.answer.Matchings, sea.radius = ok.answer.Matchings, radius
	return sea
}

// Recorded traces whose first response of Valhalla 3.5.1 has a gap. What is answered is on the roads of one drive, with
// no line across the gap.
func TestRecordedGaps(t *testing.T) {
	silent, ok := read(t, "silent_split_route_osrm"), read(t, "ok_route_osrm")
	sea := read(t, "sea_point_route_osrm")
	allButTenth := strings.Repeat("1", 9) + "0" + strings.Repeat("1", 10)
	for _, tt := range []struct {
		name    string
		drives  []recording // the first one is asked for
		more    string      // of the request
		matched string
		line    orb.LineString
		metres  float64
		asked   []int // points, each time
	}{
		{"no route between the parts, ever", []recording{silent}, ``, "0000" + strings.Repeat("1", 40), silent.line(t, 1),
			5749, []int{44, 44, 42}},
		{"a point in the sea", []recording{sea, ok}, ``, allButTenth, ok.line(t, 0), 3479.702, []int{20, 20, 19}},
		{"the first search is as wide as can be", []recording{sea, ok}, `,"radius":30`, allButTenth, ok.line(t, 0),
			3479.702, []int{20, 19}},
		{"a wider search joins them", []recording{sea, joined(t, 100)}, ``, allButTenth, ok.line(t, 0), 3479.702,
			[]int{20, 20}},
		{"a search too wide for it", []recording{sea, joined(t, 101), ok}, ``, allButTenth, ok.line(t, 0), 3479.702,
			[]int{20, 20, 19}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			f.set(func() { f.drives = tt.drives })
			s := start(t, f.URL, "")
			got := modulestest.ReadDrive(t, post(t, s, &tt.drives[0], tt.more))
			if got.Matched() != tt.matched || math.Abs(got.Distance-tt.metres) > tt.metres/200 {
				t.Errorf("matched %s, %v m, want %s, %v m", got.Matched(), got.Distance, tt.matched, tt.metres)
			}
			got.CheckLine(t, tt.line)
			var asked []int
			for _, q := range f.requests(route) {
				asked = append(asked, len(q.Shape))
			}
			if !slices.Equal(asked, tt.asked) {
				t.Errorf("asked for %v points, want %v", asked, tt.asked)
			}
		})
	}
}

// A drive with a gap is asked for again, farther from the points and then without some of them, or refused.
func TestGaps(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "ways off")
	const broken = "broken"
	for _, tt := range []struct {
		name    string
		answers []string // as modulestest.Matchings has them, a code of an error, or broken; the last one goes on
		matched string   // empty for no route
		asked   int64
	}{
		{"whole", []string{"aaaa"}, "1111", 1},
		{"the first point has no road", []string{"-aaa"}, "0111", 1},
		{"too few are left", []string{"---aa"}, "", 2},
		{"a wider search finds enough", []string{"---aa", "-aaaa"}, "01111", 2},
		{"a wider search joins", []string{"aaabbb", "aaaaaa"}, "111111", 2},
		{"a wider search finds roads", []string{"NoSegment", "aaaa"}, "1111", 2},
		{"there are no roads", []string{"NoSegment", "NoSegment"}, "", 2},
		{"the beginning is too short to be joined", []string{"aabbb"}, "00111", 2},
		{"joined without the sides of the gap", []string{"aaabbb", "aaabbb", "aaaa"}, "110011", 3},
		{"joined without the smallest part", []string{"aabccc", "aabccc", "aaaaa"}, "110111", 3},
		{"joined without the point between", []string{"aaa-bbb", "aaa-bbb", "aaaaaa"}, "1110111", 3},
		{"not joined without it", []string{"aaa-bbbb", "aaa-bbbb", "aaabbbb", "aabbb"}, "00001111", 4},
		{"the last of equal parts", []string{"aaabbb", "aaabbb", "aabb"}, "000111", 3},
		{"many parts", []string{"aabbccdd", "aabbccdd", "aabbcc", "aabb"}, "", 4},
		{"the wider search fails", []string{"aaabbb", broken, "aaaa"}, "110011", 3},
		{"everything fails later", []string{"aaabbb", broken}, "000111", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int64
			u.Answer(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				switch answer := tt.answers[min(int(asked.Add(1)), len(tt.answers))-1]; answer {
				case broken:
					w.WriteHeader(http.StatusInternalServerError)
				case "NoSegment":
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprint(w, osrmError(answer))
				default:
					fmt.Fprint(w, modulestest.Matchings(answer))
				}
			})
			points := max(len(tt.matched), 4)
			if tt.answers[0] != "NoSegment" {
				points = len(tt.answers[0])
			}
			a := s.With(t).Do(http.MethodPost, matchPath, "", rowOf(points, 0).question(""))
			if n := asked.Load(); n != tt.asked {
				t.Errorf("asked %d times, want %d", n, tt.asked)
			}
			if tt.matched == "" {
				check(t, u, a, "NoRoute")
			} else if got := modulestest.ReadDrive(t, a).Matched(); got != tt.matched {
				t.Errorf("matched %s, want %s", got, tt.matched)
			}
		})
	}
}
