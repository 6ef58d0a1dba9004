package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// request asks for a drive along some positions, one second apart.
func request(line orb.LineString) *matching.Request {
	req := &matching.Request{Details: true, MaxRadius: 100}
	for i, at := range line {
		p := trace.At(at.Lat(), at.Lon())
		p.Time = float64(i)
		req.Points = append(req.Points, p)
	}
	return req
}

// all are the indexes of n points.
func all(n int) (used []int) {
	for i := range n {
		used = append(used, i)
	}
	return used
}

// read reads a response for some of the points of a request.
func read(body string, req *matching.Request, used []int) (*remote.Matchings, error) {
	d, err := remote.ReadMatchResponse([]byte(body), len(used))
	if err != nil {
		return nil, err
	}
	return d.Matchings(req, used)
}

// matched tells the points of a result, 1 for one that is matched.
func matched(m *remote.Matchings, req *matching.Request) string {
	result, err := m.Result(req)
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, p := range result.Tracepoints {
		text += map[bool]string{true: "1", false: "0"}[p.Matched]
	}
	return text
}

// Responses of OSRM's match service, and what is none.
func TestReadMatchings(t *testing.T) {
	const (
		line  = `{"geometry":"_p~iF~ps|U_ulLnnqC"}`
		first = `{"matchings_index":0,"location":[-12.02,3.85]}`
	)
	answer := func(matchings, tracepoints string) string {
		return `{"code":"Ok","matchings":[` + matchings + `],"tracepoints":[` + tracepoints + `]}`
	}
	index := func(i string) string {
		return answer(line, first+`,`+first+`,{"matchings_index":`+i+`,"location":[-12.02,3.85]}`)
	}
	three := first + `,` + first + `,` + first
	confidence := func(c string) string {
		return answer(`{"geometry":"_p~iF~ps|U_ulLnnqC","duration":null,"confidence":`+c+`}`, three)
	}
	const invalid = "invalid"
	none := math.NaN()
	for name, tt := range map[string]struct {
		body       string
		points     string // or invalid
		confidence float64
	}{
		"no confidence":         {answer(line, three), "111", none},
		"a confidence":          {confidence("0.25"), "111", 0.25},
		"a confidence of null":  {confidence("null"), "111", none},
		"one above 1":           {confidence("1.5"), "111", 1},
		"one below 0":           {confidence("-0.5"), "111", 0},
		"an infinite one":       {confidence("1e999"), invalid, 0},
		"a point left out":      {answer(line, `null,`+first+`,`+first), "011", none},
		"a point without one":   {index("null"), "110", none},
		"no such matching":      {index("1"), invalid, 0},
		"a negative one":        {index("-1"), invalid, 0},
		"half a one":            {index("0.5"), invalid, 0},
		"one of 32 bits":        {index("2147483648"), invalid, 0},
		"one of 65 bits":        {index("18446744073709551616"), invalid, 0},
		"no matching named":     {answer(line, first+`,`+first+`,{"location":[-12.02,3.85]}`), invalid, 0},
		"a point nowhere":       {answer(line, first+`,`+first+`,{"matchings_index":0}`), invalid, 0},
		"a point off the globe": {answer(line, first+`,`+first+`,{"matchings_index":0,"location":[-8,141]}`), invalid, 0},
		"a line as GeoJSON": {answer(`{"geometry":{"type":"LineString","coordinates":[[-12.02,3.85],[-12.02,4]]}}`, three),
			"111", none},
		"a line of nothing":     {answer(`{"geometry":""}`, three), invalid, 0},
		"half a polyline":       {answer("{\"geometry\":\"_p~iF~ps|\"}", three), invalid, 0},
		"a line off the globe":  {answer(`{"geometry":{"coordinates":[[-12.02,3.85],[-8,142]]}}`, three), invalid, 0},
		"no matchings":          {answer("", three), invalid, 0},
		"too many matchings":    {answer(strings.Repeat(line+`,`, 1000)+line, three), invalid, 0},
		"too few points":        {answer(line, first), invalid, 0},
		"too many points":       {answer(line, strings.Repeat(first+`,`, 1000)+first), invalid, 0},
		"other members":         {answer(`{"legs":[{"steps":[[]]}],"geometry":"_p~iF~ps|U_ulLnnqC"}`, three), "111", none},
		"nested too deep":       {`{"a":` + strings.Repeat("[", 100000), invalid, 0},
		"two documents":         {answer(line, three) + `{}`, invalid, 0},
		"null":                  {`null`, invalid, 0},
		"a member that repeats": {`{"code":"Ok","code":"Ok"}`, invalid, 0},
	} {
		req := request(orb.LineString{{-12.02, 3.85}, {-12.02, 3.85}, {-12.02, 3.85}})
		m, err := read(tt.body, req, all(3))
		if err != nil || tt.points == invalid {
			if err == nil || tt.points != invalid {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		result, err := m.Result(req)
		if err != nil || matched(m, req) != tt.points || len(result.Path) < 2 || !(result.Duration >= 0) ||
			result.Confidence != tt.confidence && !(math.IsNaN(result.Confidence) && math.IsNaN(tt.confidence)) {
			t.Errorf("%s: %v, points %s, %+v", name, err, matched(m, req), result)
		}
		m.ForgetConfidence()
		if result, err = m.Result(req); err != nil || !math.IsNaN(result.Confidence) {
			t.Errorf("%s: the confidence is not forgotten: %+v, %v", name, result, err)
		}
	}
	for body, want := range map[string]remote.MatchResponse{
		`{"code":"NoMatch","message":"Could not \"match\"."}`: {Code: "NoMatch", Message: `Could not "match".`},
		`{"error_code":158,"error":"Exceeded max radius"}`:    {ErrorCode: 158},
		`{"error_code":null}`:                                 {},
	} {
		d, err := remote.ReadMatchResponse([]byte(body), 2)
		if err != nil || d.Code != want.Code || d.Message != want.Message || d.ErrorCode != want.ErrorCode {
			t.Errorf("%s: %+v, %v", body, d, err)
		}
	}
}

// The largest matching is the drive, if it has at least two points and half of them.
func TestLargestMatching(t *testing.T) {
	for parts, want := range map[string]string{
		"aa": "11", "aa--": "1100", "aabbb": "00111", "aabb": "0011", "aabb-": "no route", "a-": "no route", "aa---": "no route",
	} {
		line := row(len(parts), 0)
		req := request(line)
		m, err := read(matchingsOf(parts, line), req, all(len(parts)))
		if err != nil {
			t.Fatal(err)
		}
		got := matched(m, req)
		if _, err := m.Result(req); errors.Is(err, matching.ErrNoRoute) {
			got = "no route"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", parts, got, want)
		}
	}
}

// A drive that no road could explain is refused, and one that a ferry or a fjord does is not.
func TestPlausible(t *testing.T) {
	type line = orb.LineString
	oslo, moss := orb.Point{10.7, 59.9}, orb.Point{10.66, 59.43}
	for _, tt := range []struct {
		name      string
		trace     line // and where its points are snapped to, unless snapped says so
		snapped   line
		geometry  line
		hours     float64 // that the trace took
		plausible bool
	}{
		{"a street", line{oslo, {10.701, 59.9}}, nil, line{oslo, {10.701, 59.9}}, 0, true},
		{"a loop", line{oslo, {10.72, 59.9}, oslo}, nil, line{oslo, {10.72, 59.9}, oslo}, 0, true},
		{"a ferry of one edge", line{{10.7, 59.9}, {12, 57}, {12.6, 55.7}}, nil, line{oslo, {12.6, 55.7}}, 0, true},
		{"around a fjord", line{{6.9, 61}, {7, 61.02}}, nil, line{{6.9, 61}, {7.5, 61.1}, {7, 61.02}}, 0, true},
		{"across the antimeridian", line{{179.99, -16.8}, {-179.99, -16.8}}, nil,
			line{{179.99, -16.8}, {-179.99, -16.8}}, 0, true},
		{"three decimals", line{{10.70049, 59.90049}, {10.71049, 59.9}}, nil, line{{10.7, 59.9}, {10.71, 59.9}}, 0, true},
		{"a polyline of another precision", line{oslo, moss}, nil, line{{1.07, 5.99}, {1.066, 5.943}}, 0, false},
		{"exchanged coordinates", line{oslo, moss}, nil, line{{59.9, 10.7}, {59.43, 10.66}}, 0, false},
		{"exchanged, snapped places too", line{oslo, moss}, line{{59.9, 10.7}, {59.43, 10.66}},
			line{{59.9, 10.7}, {59.43, 10.66}}, 0, false},
		{"another order", line{oslo, moss}, nil, line{moss, {10.68, 59.65}, oslo}, 0, false},
		{"only the beginning", line{oslo, moss}, nil, line{oslo, {10.69, 59.8}}, 0, false},
		{"a detour by Paris", line{oslo, moss}, nil, line{oslo, {2.35, 48.86}, moss}, 0, false},
		{"a detour by the Netherlands in an hour", line{oslo, {10.71, 59.9}}, nil, line{oslo, {2.35, 52}, {10.71, 59.9}}, 1, false},
		{"a detour by the Netherlands in twelve", line{oslo, {10.71, 59.9}}, nil, line{oslo, {2.35, 52}, {10.71, 59.9}}, 12, true},
		{"snapped 1,050 m away", line{oslo}, line{{10.7, 59.90944}}, line{{10.7, 59.90944}}, 0, true},
		{"snapped 1,200 m away", line{oslo}, line{{10.7, 59.91079}}, line{{10.7, 59.91079}}, 0, false},
	} {
		req := request(tt.trace)
		if tt.hours > 0 {
			req.Points[1].Time = 3600 * tt.hours
		}
		if tt.snapped == nil {
			tt.snapped = tt.trace
		}
		var points []string
		for _, p := range tt.snapped {
			points = append(points, fmt.Sprintf(`{"matchings_index":0,"location":[%v,%v]}`, p[0], p[1]))
		}
		geometry, _ := json.Marshal(tt.geometry)
		_, err := read(fmt.Sprintf(`{"code":"Ok","matchings":[{"geometry":{"coordinates":%s}}],"tracepoints":[%s]}`,
			geometry, strings.Join(points, ",")), req, all(len(points)))
		if (err == nil) != tt.plausible {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A search sends the points again, farther from their roads or without some of them, until the drive has no gap.
func TestSearch(t *testing.T) {
	optionsByName := map[string]remote.SearchOptions{
		"near": {Sigma: 10}, "wide": {Sigma: 10, Widened: true}, "coarse": {Sigma: 29.7}, "gap": {Sigma: 12},
	}
	broken := errors.New("broken")
	atMost := func(n int) func() bool {
		return func() bool {
			n--
			return n > 0
		}
	}
	const all, noRoute = "012345", "no route"
	for name, tt := range map[string]struct {
		search remote.Search
		steps  string // each: points, options, an answer as matchings has it, and by how many metres it is off
		want   string // the points that are matched, or an error
	}{
		"whole":                                        {remote.Search{CanWiden: true, WidenGaps: true}, "all near aa-aaa", "110111"},
		"no road near":                                 {remote.Search{CanWiden: true}, "all near none, all wide aaaaaa", "111111"},
		"no road at all":                               {remote.Search{CanWiden: true}, "all near none, all wide none", noRoute},
		"no road, and nothing wider":                   {remote.Search{}, "all near none", noRoute},
		"no road near, and broken":                     {remote.Search{CanWiden: true}, "all near none, all wide broken", noRoute},
		"broken":                                       {remote.Search{CanWiden: true}, "all near broken", "broken"},
		"gone":                                         {remote.Search{CanWiden: true}, "all near none, all wide gone", "context canceled"},
		"too few, enough in a wide search":             {remote.Search{CanWiden: true}, "all near ----aa, all wide -aaaaa", "011111"},
		"less exact":                                   {remote.Search{CanWiden: true}, "all near aaaaaa 20, all coarse aaaaa- 21", "111111"},
		"exact enough":                                 {remote.Search{}, "all near aaaaaa 10", "111111"},
		"less exact, and worse":                        {remote.Search{}, "all near aaaaaa 20, all coarse aaabbb", "111111"},
		"a gap, whole in a wide search":                {remote.Search{CanWiden: true, WidenGaps: true}, "all near aaabbb, all wide aaaaaa", "111111"},
		"a gap, whole for less exact points":           {remote.Search{GapSigma: 12}, "all near aaabbb, all gap aaaaaa", "111111"},
		"a gap, without its sides":                     {remote.Search{CanWiden: true}, "all near aaabbb, 0145 near aaaa", "110011"},
		"a gap, without its sides in a wide search":    {remote.Search{CanWiden: true, WidenGaps: true}, "all near aaabb-, all wide aaabbb, 0145 wide aaaa", "110011"},
		"a gap, without the point between":             {remote.Search{}, "all near aa-bbb, 01345 near aaaaa", "110111"},
		"no road before and behind":                    {remote.Search{}, "all near -aabb-, 0145 near aaaa", "110011"},
		"a gap that stays":                             {remote.Search{}, "all near aaaabb", "111100"},
		"the last of equal parts":                      {remote.Search{}, "all near aaabbb, 0145 near aabb", "000111"},
		"broken after a response":                      {remote.Search{}, "all near aaabbb, 0145 near broken", "000111"},
		"gone after a response":                        {remote.Search{}, "all near aaabbb, 0145 near gone", "context canceled"},
		"without the smallest part":                    {remote.Search{}, "all near aabccc, 01345 near aaaaa", "110111"},
		"fewer points, and less of them at first":      {remote.Search{}, "all near aaabcc, 01245 near aa-bb, 0145 near aaaa", "110011"},
		"fewer points, and less of them to the end":    {remote.Search{}, "all near aaabcc, 01245 near aa-bb, 0145 near aa-b", "111000"},
		"asked no more than four times":                {remote.Search{}, "all near abcdef, 12345 near abcde, 2345 near abcd, 345 near abc", noRoute},
		"no gap in a wide search, but no drive either": {remote.Search{CanWiden: true, WidenGaps: true}, "all near aaaabb, all wide ----aa", "111100"},
		"a part of no points":                          {remote.Search{}, "all near aaaccc", "000111"},
		"cut at a pause":                               {remote.Search{Pause: 0.5}, "all near aaabbb", "000111"},
		"cut at a pause with a point of no road":       {remote.Search{Pause: 1.5}, "all near aa-bbb", "000111"},
		"a gap that is no pause":                       {remote.Search{Pause: 1}, "all near aaabbb, 0145 near aaaa", "110011"},
		"cut at a pause, and a gap":                    {remote.Search{Pause: 0.5}, "all near aabccc, 01345 near aabbb", "000111"},
		"fewer points, as often as is allowed":         {remote.Search{MaySend: atMost(2)}, "all near aaabcc, 01245 near aa-bb", "111000"},
		"no road near, and no more is allowed":         {remote.Search{CanWiden: true, MaySend: atMost(1)}, "all near none", noRoute},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := tt.search
			if s.MaySend == nil {
				s.MaySend = func() bool { return true }
			}
			req := request(row(len(all), 0))
			s.Request, s.Sigma = req, 10
			steps, asked := strings.Split(tt.steps, ", "), 0
			s.Send = func(used []int, options remote.SearchOptions) (*remote.Matchings, error) {
				if asked == len(steps) {
					t.Fatalf("one more request, for %v, %+v", used, options)
				}
				step := strings.Fields(strings.Replace(steps[asked], "all", all, 1) + " 0")
				asked++
				options.Sigma = math.Round(options.Sigma*10) / 10
				var off float64
				_, _ = fmt.Sscan(step[3], &off)
				points, line := "", orb.LineString{}
				for _, i := range used {
					points += all[i : i+1]
					line = append(line, row(len(all), off)[i])
				}
				if points != step[0] || options != optionsByName[step[1]] {
					t.Errorf("request %d: %s, %+v, want %q", asked, points, options, step)
				}
				switch step[2] {
				case "none":
					return nil, matching.ErrNoRoute
				case "gone": // the client goes away meanwhile
					cancel()
					return nil, broken
				case "broken":
					return nil, broken
				}
				return read(matchingsOf(step[2], line), req, used)
			}
			m, err := s.Run(ctx)
			var got string
			if err == nil {
				if _, err = m.Result(req); err == nil {
					got = matched(m, req)
				}
			}
			if err != nil {
				got = err.Error()
			}
			if errors.Is(err, matching.ErrNoRoute) {
				got = noRoute
			}
			if got != tt.want || asked != len(steps) {
				t.Errorf("%s after %d requests, want %s after %d", got, asked, tt.want, len(steps))
			}
		})
	}
}

// How exact points are is what the request says, unless points that lie close together jitter by more.
func TestSigma(t *testing.T) {
	for _, tt := range []struct {
		name       string
		step       float64 // metres driven between points, to the north
		noise      float64 // metres, one sigma of either coordinate
		radius     float64
		accuracies int // of how many of the 60 points it is 30 m
		want       float64
	}{
		{"nothing is said", 100, 0, 0, 0, 10},
		{"a radius", 100, 0, 25, 0, 25},
		{"too small a radius", 100, 0, 1, 0, 5},
		{"most accuracies", 100, 0, 25, 31, 30},
		{"half of the accuracies", 100, 0, 25, 30, 25},
		{"dense points that jitter", 12, 20, 0, 0, 20},
		{"dense points that jitter less than is said", 12, 20, 40, 0, 40},
		{"far points, whose drive bends as much", 100, 20, 0, 0, 10},
		{"dense points that do not jitter", 12, 0, 0, 0, 10},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		req := &matching.Request{Radius: tt.radius}
		for i := range 60 {
			north := (tt.step*float64(i) + tt.noise*r.NormFloat64()) / metresOfDegree
			p := trace.At(north, tt.noise*r.NormFloat64()/metresOfDegree) // at the equator
			if i < tt.accuracies {
				p.Accuracy = 30
			}
			req.Points = append(req.Points, p)
		}
		sigma, step := remote.Sigma(req, 5, 10)
		if math.Abs(sigma-tt.want) > tt.want/5 || tt.noise == 0 && math.Abs(step-tt.step) > tt.step/100 {
			t.Errorf("%s: sigma %v, want about %v; step %v", tt.name, sigma, tt.want, step)
		}
	}
}
