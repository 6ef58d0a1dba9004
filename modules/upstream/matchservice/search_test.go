package matchservice

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

const degreesPerMetre = 180 / math.Pi / geo.EarthRadius

// answerOf makes a response of the part of each point, as describe tells them, that lies off metres beside the points.
func answerOf(t *testing.T, parts string, used []int, off float64) *Matchings {
	t.Helper()
	a := &Matchings{used: used}
	for n, text := range strings.Fields(parts) {
		p := tracepoint{part: -1}
		if text != "-" {
			id, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			p.part = id
			p.location = orb.Point{-8 + off*degreesPerMetre/math.Cos(41*math.Pi/180), 41 + float64(used[n])*100*degreesPerMetre}
			for len(a.parts) <= id {
				a.parts = append(a.parts, part{confidence: math.NaN()})
			}
			a.parts[id].points++
			a.parts[id].path = append(a.parts[id].path, p.location)
		}
		a.points = append(a.points, p)
	}
	if len(a.points) != len(used) {
		t.Fatalf("%q for %d points", parts, len(used))
	}
	return a
}

func TestFewer(t *testing.T) {
	for parts, want := range map[string]string{
		"0 0 - 1 1":             "[0 1 3 4]", // a point without a road between two parts
		"0 0 - - 1 1 - 2":       "[0 1 4 5 7]",
		"0 0 1 1":               "[0 3]", // the two sides of a gap
		"0 0 0 1 1 1":           "[0 1 4 5]",
		"- 0 0 1 1 -":           "[0 1 4 5]", // no road before and behind them keeps nothing apart
		"0 0 - 0 1 1 1":         "[0 1 2 5 6]",
		"0 0 0 1 2 2":           "[0 1 2 4 5]",          // the smallest part
		"0 0 0 0 0 1 2 3 3 3 3": "[0 1 2 3 4 7 8 9 10]", // all small parts
		"0 0 1 1 1 2 2 2 - 3 3": "[0 1 2 3 4 5 6 7 9 10]",
	} {
		a := answerOf(t, parts, sent(len(strings.Fields(parts))), 0)
		if got := fmt.Sprint(a.fewer()); got != want {
			t.Errorf("%s: %s, want %s", parts, got, want)
		}
	}
	a := answerOf(t, "0 - 1", []int{2, 3, 7}, 0)
	if got := a.fewer(); !slices.Equal(got, []int{2, 7}) {
		t.Errorf("%v are not those that were sent", got)
	}
}

// step is a question, and what becomes of it.
type step struct {
	points string // indexes of the points that are asked for
	terms  Terms
	answer string // as describe tells it
	off    float64
	err    error
	cancel bool // the client goes away meanwhile
}

// atMost allows so many questions.
func atMost(n int) func() bool {
	return func() bool {
		n--
		return n > 0
	}
}

func TestSearch(t *testing.T) {
	near, wide := Terms{Sigma: 10}, Terms{Sigma: 10, Wide: true}
	broken := errors.New("broken")
	const all = "0 1 2 3 4 5"
	for _, tt := range []struct {
		name   string
		search Search
		steps  []step
		want   string // answer, at points; or an error
	}{
		{"whole", Search{CanWiden: true, WidenGaps: true}, []step{{all, near, "0 0 - 0 0 0", 0, nil, false}},
			"0 0 - 0 0 0 at " + all},
		{"no road near", Search{CanWiden: true},
			[]step{{all, near, "", 0, matching.ErrNoRoute, false}, {all, wide, "0 0 0 0 0 0", 0, nil, false}},
			"0 0 0 0 0 0 at " + all},
		{"no road at all", Search{CanWiden: true},
			[]step{{all, near, "", 0, matching.ErrNoRoute, false}, {all, wide, "", 0, matching.ErrNoRoute, false}},
			matching.ErrNoRoute.Error()},
		{"no road, and nothing wider", Search{}, []step{{all, near, "", 0, matching.ErrNoRoute, false}},
			matching.ErrNoRoute.Error()},
		{"no road near, and broken", Search{CanWiden: true},
			[]step{{all, near, "", 0, matching.ErrNoRoute, false}, {all, wide, "", 0, broken, false}},
			matching.ErrNoRoute.Error()},
		{"broken", Search{CanWiden: true}, []step{{all, near, "", 0, broken, false}}, "broken"},
		{"gone", Search{CanWiden: true},
			[]step{{all, near, "", 0, matching.ErrNoRoute, false}, {all, wide, "", 0, broken, true}}, "context canceled"},
		{"less exact", Search{CanWiden: true},
			[]step{{all, near, "0 0 0 0 0 0", 20, nil, false}, {all, Terms{Sigma: 29.7}, "0 0 0 0 0 0", 21, nil, false}},
			"0 0 0 0 0 0 at " + all},
		{"exact enough", Search{}, []step{{all, near, "0 0 0 0 0 0", 10, nil, false}}, "0 0 0 0 0 0 at " + all},
		{"less exact, and worse", Search{},
			[]step{{all, near, "0 0 0 0 0 0", 20, nil, false}, {all, Terms{Sigma: 29.7}, "0 0 0 1 1 1", 0, nil, false}},
			"0 0 0 0 0 0 at " + all},
		{"a gap, whole in a wide search", Search{CanWiden: true, WidenGaps: true},
			[]step{{all, near, "0 0 0 1 1 1", 0, nil, false}, {all, wide, "0 0 0 0 0 0", 0, nil, false}},
			"0 0 0 0 0 0 at " + all},
		{"a gap, without its sides", Search{CanWiden: true},
			[]step{{all, near, "0 0 0 1 1 1", 0, nil, false}, {"0 1 4 5", near, "0 0 0 0", 0, nil, false}},
			"0 0 0 0 at 0 1 4 5"},
		{"a gap, without its sides in a wide search", Search{CanWiden: true, WidenGaps: true},
			[]step{{all, near, "0 0 0 1 1 -", 0, nil, false}, {all, wide, "0 0 0 1 1 1", 0, nil, false},
				{"0 1 4 5", wide, "0 0 0 0", 0, nil, false}},
			"0 0 0 0 at 0 1 4 5"},
		{"a gap that stays", Search{},
			[]step{{all, near, "0 0 0 0 1 1", 0, nil, false}}, "0 0 0 0 1 1 at " + all},
		{"broken after a response", Search{},
			[]step{{all, near, "0 0 0 1 1 1", 0, nil, false}, {"0 1 4 5", near, "", 0, broken, false}},
			"0 0 0 1 1 1 at " + all},
		{"gone after a response", Search{},
			[]step{{all, near, "0 0 0 1 1 1", 0, nil, false}, {"0 1 4 5", near, "", 0, broken, true}}, "context canceled"},
		{"fewer points, and less of them at first", Search{},
			[]step{{all, near, "0 0 0 1 2 2", 0, nil, false}, {"0 1 2 4 5", near, "0 0 - 1 1", 0, nil, false},
				{"0 1 4 5", near, "0 0 0 0", 0, nil, false}},
			"0 0 0 0 at 0 1 4 5"},
		{"fewer points, and less of them to the end", Search{},
			[]step{{all, near, "0 0 0 1 2 2", 0, nil, false}, {"0 1 2 4 5", near, "0 0 - 1 1", 0, nil, false},
				{"0 1 4 5", near, "0 0 - 1", 0, nil, false}},
			"0 0 0 1 2 2 at " + all},
		{"asked no more than four times", Search{},
			[]step{{all, near, "0 1 2 3 4 5", 0, nil, false}, {"1 2 3 4 5", near, "0 1 2 3 4", 0, nil, false},
				{"2 3 4 5", near, "0 1 2 3", 0, nil, false}, {"3 4 5", near, "0 1 2", 0, nil, false}},
			"0 1 2 at 3 4 5"},
		{"no gap in a wide search, but no drive either", Search{CanWiden: true, WidenGaps: true},
			[]step{{all, near, "0 0 0 0 1 1", 0, nil, false}, {all, wide, "- - - - 0 0", 0, nil, false}},
			"0 0 0 0 1 1 at " + all},
		{"a part of no points", Search{}, []step{{all, near, "0 0 0 2 2 2", 0, nil, false}}, "0 0 0 2 2 2 at " + all},
		{"cut at a pause", Search{Pause: 0.5}, []step{{all, near, "0 0 0 1 1 1", 0, nil, false}}, "0 0 0 1 1 1 at " + all},
		{"cut at a pause with a point of no road", Search{Pause: 1.5}, []step{{all, near, "0 0 - 1 1 -", 0, nil, false}},
			"0 0 - 1 1 - at " + all},
		{"a gap that is no pause", Search{Pause: 1},
			[]step{{all, near, "0 0 0 1 1 1", 0, nil, false}, {"0 1 4 5", near, "0 0 0 0", 0, nil, false}},
			"0 0 0 0 at 0 1 4 5"},
		{"cut at a pause, and a gap", Search{Pause: 0.5},
			[]step{{all, near, "0 0 1 2 2 2", 0, nil, false}, {"0 1 3 4 5", near, "0 0 1 1 1", 0, nil, false}},
			"0 0 1 1 1 at 0 1 3 4 5"},
		{"fewer points, as often as is allowed", Search{MayAsk: atMost(2)},
			[]step{{all, near, "0 0 0 1 2 2", 0, nil, false}, {"0 1 2 4 5", near, "0 0 - 1 1", 0, nil, false}},
			"0 0 0 1 2 2 at " + all},
		{"no road near, and no more is allowed", Search{CanWiden: true, MayAsk: atMost(1)},
			[]step{{all, near, "", 0, matching.ErrNoRoute, false}}, matching.ErrNoRoute.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := tt.search
			if s.MayAsk == nil {
				s.MayAsk = func() bool { return true }
			}
			s.Request, s.Sigma = &matching.Request{Points: line(len(strings.Fields(all)))}, near.Sigma
			asked := 0
			s.Ask = func(used []int, terms Terms) (*Matchings, error) {
				if asked == len(tt.steps) {
					t.Fatalf("asked once more, for %v, %+v", used, terms)
				}
				step := tt.steps[asked]
				asked++
				terms.Sigma = math.Round(terms.Sigma*10) / 10
				if points := strings.Trim(fmt.Sprint(used), "[]"); points != step.points || terms != step.terms {
					t.Errorf("question %d: %s, %+v, want %s, %+v", asked, points, terms, step.points, step.terms)
				}
				if step.cancel {
					cancel()
				}
				if step.err != nil {
					return nil, step.err
				}
				return answerOf(t, step.answer, used, step.off), nil
			}
			a, err := s.Run(ctx)
			got := fmt.Sprint(err)
			if err == nil {
				got = describe(a) + " at " + strings.Trim(fmt.Sprint(a.used), "[]")
			}
			if got != tt.want || asked != len(tt.steps) {
				t.Errorf("%s after %d questions, want %s after %d", got, asked, tt.want, len(tt.steps))
			}
		})
	}
}

// The points of a drive with a gap are taken to be less exact, those of a whole drive are not.
func TestGapSigma(t *testing.T) {
	for parts, want := range map[string][]Terms{
		"0 0 0 0": {{Sigma: 5}},
		"0 0 1 1": {{Sigma: 5}, {Sigma: 10}},
	} {
		var asked []Terms
		s := Search{Request: &matching.Request{Points: line(4)}, Sigma: 5, GapSigma: 10,
			MayAsk: func() bool { return true }}
		s.Ask = func(used []int, terms Terms) (*Matchings, error) {
			asked = append(asked, terms)
			if terms.Sigma > 5 {
				return answerOf(t, "0 0 0 0", used, 0), nil
			}
			return answerOf(t, parts, used, 0), nil
		}
		a, err := s.Run(context.Background())
		if err != nil || !a.Whole() || !slices.Equal(asked, want) {
			t.Errorf("%s: %v, asked %+v, want %+v", parts, err, asked, want)
		}
	}
}
