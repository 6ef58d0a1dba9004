package remote

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// sent are the indexes of n points.
func sent(n int) (used []int) {
	for i := range n {
		used = append(used, i)
	}
	return used
}

// describe tells the part of each point, - for none.
func describe(a *Matchings) string {
	var parts []string
	for i := range a.points {
		text := "-"
		if p := a.points[i].part; p >= 0 {
			text = fmt.Sprint(p)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

func TestRead(t *testing.T) {
	const (
		line  = `{"geometry":"_p~iF~ps|U_ulLnnqC"}`
		first = `{"matchings_index":0,"location":[-12.02,3.85]}`
	)
	answer := func(matchings, tracepoints string) string {
		return `{"code":"Ok","matchings":[` + matchings + `],"tracepoints":[` + tracepoints + `]}`
	}
	index := func(i string) string {
		return answer(line, first+`,{"matchings_index":`+i+`,"location":[-12.02,3.85]}`)
	}
	confidence := func(c string) string {
		return answer(`{"geometry":"_p~iF~ps|U_ulLnnqC","duration":null,"confidence":`+c+`}`, first+`,`+first)
	}
	const invalid = "invalid"
	for _, tt := range []struct {
		name, body string
		points     string // or invalid
		confidence float64
	}{
		{"no confidence", answer(line, first+`,`+first), "0 0", math.NaN()},
		{"a confidence", confidence("0.25"), "0 0", 0.25},
		{"a confidence of null", confidence("null"), "0 0", math.NaN()},
		{"one above 1", confidence("1.5"), "0 0", 1},
		{"one below 0", confidence("-0.5"), "0 0", 0},
		{"an infinite one", confidence("1e999"), invalid, 0},
		{"points left out", answer(line, `null,`+first), "- 0", math.NaN()},
		{"points without a part", index("null"), "0 -", math.NaN()},
		{"a part that is not there", index("1"), invalid, 0},
		{"a negative one", index("-1"), invalid, 0},
		{"half a one", index("0.5"), invalid, 0},
		{"one that would not fit", index("2147483648"), invalid, 0},
		{"one that would wrap round", index("18446744073709551616"), invalid, 0},
		{"none", answer(line, first+`,{"location":[-12.02,3.85]}`), invalid, 0},
		{"a point nowhere", answer(line, first+`,{"matchings_index":0}`), invalid, 0},
		{"a point off the globe", answer(line, first+`,{"matchings_index":0,"location":[-8,141]}`), invalid, 0},
		{"a line as GeoJSON",
			answer(`{"geometry":{"type":"LineString","coordinates":[[-12.02,3.85],[-12.02,4]]}}`, first+`,`+first), "0 0", math.NaN()},
		{"a line of nothing", answer(`{"geometry":""}`, first+`,`+first), invalid, 0},
		{"a line off the globe", answer(`{"geometry":{"coordinates":[[-12.02,3.85],[-8,142]]}}`, first+`,`+first), invalid, 0},
		{"no parts", answer("", first+`,`+first), invalid, 0},
		{"as many parts as points", answer(line+`,`+line, first+`,`+first), "0 0", math.NaN()},
		{"too many parts", answer(strings.Repeat(line+`,`, 1000)+line, first+`,`+first), invalid, 0},
		{"too few points", answer(line, first), invalid, 0},
		{"too many points", answer(line, strings.Repeat(first+`,`, 1000)+first), invalid, 0},
		{"members of other names", answer(`{"legs":[{"steps":[[]]}],"geometry":"_p~iF~ps|U_ulLnnqC"}`, first+`,`+first),
			"0 0", math.NaN()},
		{"nested too deep", `{"a":` + strings.Repeat("[", 100000), invalid, 0},
		{"two documents", answer(line, first+`,`+first) + `{}`, invalid, 0},
		{"null", `null`, invalid, 0},
		{"a member that is repeated", `{"code":"Ok","code":"Ok"}`, invalid, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Read([]byte(tt.body), 2)
			var a *Matchings
			if err == nil {
				req := &matching.Request{Points: []trace.Point{trace.At(3.85, -12.02), trace.At(3.85, -12.02)}}
				a, err = d.Matchings(req, sent(2))
			}
			if tt.points == invalid {
				if err == nil {
					t.Errorf("read as %s", describe(a))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := a.parts[0].confidence
			if describe(a) != tt.points || got != tt.confidence && !(math.IsNaN(got) && math.IsNaN(tt.confidence)) {
				t.Errorf("points %s, confidence %v, want %s, %v", describe(a), got, tt.points, tt.confidence)
			}
			a.ForgetConfidence()
			if got := a.parts[0].confidence; !math.IsNaN(got) {
				t.Errorf("confidence %v is not forgotten", got)
			}
		})
	}
}

// What went wrong is told in OSRM's form, or in Valhalla's own.
func TestReadErrors(t *testing.T) {
	for body, want := range map[string]Document{
		`{"code":"NoMatch","message":"Could not \"match\"."}`: {Code: "NoMatch", Message: `Could not "match".`},
		`{"error_code":158,"error":"Exceeded max radius"}`:    {ErrorCode: 158},
		`{"error_code":null}`:                                 {},
	} {
		d, err := Read([]byte(body), 2)
		if err != nil || d.Code != want.Code || d.Message != want.Message || d.ErrorCode != want.ErrorCode {
			t.Errorf("%s: %+v, %v", body, d, err)
		}
	}
}

// A part of fewer than two points, or of less than half of those that were asked for, is no drive.
func TestResult(t *testing.T) {
	for parts, want := range map[string]string{
		"0 0": "0 0", "0 -": "", "0 0 - -": "0 0 - -", "0 0 - - -": "", "0 0 1 1 1": "1 1 1", "0 0 1 1": "1 1",
	} {
		a := answerOf(t, parts, sent(len(strings.Fields(parts))), 0)
		for i := range a.parts {
			a.parts[i].duration = float64(i) - 0.5
		}
		req := &matching.Request{Details: true, Points: line(len(a.points))}
		result, err := a.Result(req)
		if (err == nil) != (want != "") || err != nil && err != matching.ErrNoRoute {
			t.Errorf("%s: %v", parts, err)
			continue
		}
		if err != nil {
			continue
		}
		part := a.largest()
		if !math.IsNaN(result.Confidence) || result.Duration != max(0, a.parts[part].duration) || len(result.Path) < 2 {
			t.Errorf("%s: %+v", parts, result)
		}
		for i, p := range result.Tracepoints {
			if p.Matched != (a.points[i].part == part) {
				t.Errorf("%s: point %d matched: %v", parts, i, p.Matched)
			}
		}
	}
}

// line are points on a road, 100 m and a second apart.
func line(n int) (points []trace.Point) {
	for i := range n {
		p := trace.At(41+float64(i)*100*degreesPerMetre, -8)
		p.Time = float64(i)
		points = append(points, p)
	}
	return points
}
