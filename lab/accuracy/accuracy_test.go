package accuracy

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/mismatch"
)

// ladder is two long streets with a crossing every 200 m.
func ladder(t *testing.T) *matching.Local {
	town := &roadgraphtest.Town{}
	var south, north []uint32
	for x := 0.0; x <= 1000; x += 200 {
		south, north = append(south, town.Node(x, 0)), append(north, town.Node(x, 150))
	}
	town.Road("South", south...)
	town.Road("North", north...)
	for i := range south {
		town.Road("Rung", south[i], north[i])
	}
	return matching.New(town.Open(t), matching.Options{})
}

// along is a line through places given as x, y, x, y, … in metres.
func along(xy ...float64) orb.LineString {
	var l orb.LineString
	for i := 0; i+1 < len(xy); i += 2 {
		l = append(l, roadgraphtest.At(xy[i], xy[i+1]))
	}
	return l
}

func TestRun(t *testing.T) {
	cell := drives.Cell{Sigma: 4, Interval: 5}
	other := drives.Cell{Sigma: 20, Interval: 60}
	ds := []drives.Drive{
		{Cell: cell, Trace: along(100, 1, 300, -2, 500, 2, 700, 0), Truth: along(100, 0, 700, 0)},
		{Cell: cell, Trace: along(100, 1, 300, -2, 500, 2, 700, 0), Truth: along(100, 0, 400, 0, 400, 150, 700, 150)},
		{Cell: other, Trace: along(100, 9000, 700, 9000), Truth: along(100, 0, 700, 0)},
	}
	outcomes, err := Run(context.Background(), ladder(t), ds, SigmaRadius)
	if err != nil {
		t.Fatal(err)
	}
	if o := outcomes[0]; o.Share() > 0.001 || o.Lost || o.LeftOut != 0 || o.Confidence < 0.5 {
		t.Errorf("a plain drive: %+v", o)
	}
	if o := outcomes[1]; math.Abs(o.Missed-450+mismatch.Tolerance) > 1 || math.Abs(o.Added-300+mismatch.Tolerance) > 1 {
		t.Errorf("a drive whose truth is elsewhere: %+v", o)
	}
	if o := outcomes[2]; !o.Lost || o.LeftOut != 2 || math.Abs(o.Share()-1) > 1e-9 {
		t.Errorf("a drive far from all roads: %+v", o)
	}
	table := Tabulate(outcomes)
	wrong := outcomes[1].Missed + outcomes[1].Added
	if s := table[cell]; s.Drives != 2 || s.Lost != 0 || math.Abs(s.Share()-wrong/1350) > 0.001 {
		t.Errorf("the first cell: %+v", s)
	}
	if s := table[other]; s.Drives != 1 || s.Lost != 1 {
		t.Errorf("the second cell: %+v", s)
	}
	if got, want := table.Mean(), (table[cell].Share()+1)/2; math.Abs(got-want) > 1e-9 {
		t.Errorf("the mean is %v, want %v", got, want)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ds := []drives.Drive{{Trace: along(100, 0, 700, 0), Truth: along(100, 0, 700, 0)}}
	if _, err := Run(ctx, ladder(t), ds, NoRadius); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestCalibrate(t *testing.T) {
	outcome := func(confidence, wrong float64) Outcome {
		m := mismatch.Mismatch{Missed: wrong, Added: wrong, Truth: 100, Path: 100}
		return Outcome{Mismatch: m, Confidence: confidence}
	}
	outcomes := []Outcome{outcome(0.9, 0), outcome(0.4, 60), outcome(0.8, 20), outcome(0.6, 80), {Lost: true},
		outcome(math.NaN(), 0)}
	bins := Calibrate(outcomes, 2)
	want := []Bin{{Low: 0.4, High: 0.6, Confidence: 0.5, Right: 0.3, Drives: 2},
		{Low: 0.8, High: 0.9, Confidence: 0.85, Right: 0.9, Drives: 2}}
	if len(bins) != len(want) {
		t.Fatalf("the bins are %+v", bins)
	}
	for i, w := range want {
		b := bins[i]
		if b.Low != w.Low || b.High != w.High || b.Drives != w.Drives || math.Abs(b.Confidence-w.Confidence) > 1e-9 ||
			math.Abs(b.Right-w.Right) > 1e-9 {
			t.Errorf("bin %d is %+v, want %+v", i, b, w)
		}
	}
	if got := CalibrationError(bins); math.Abs(got-0.125) > 1e-9 {
		t.Errorf("the mean difference is %v", got)
	}
	if got := Calibrate(outcomes, 15); len(got) != 4 {
		t.Errorf("four answers make %d bins", len(got))
	}
	if got := CalibrationError(Calibrate(nil, 15)); got != 0 {
		t.Errorf("no drives differ by %v", got)
	}
}

// By changes the profile of a copy, not the caller's request.
func TestBy(t *testing.T) {
	var asked matching.Profile
	m := By(matcherFunc(func(_ context.Context, req *matching.Request) (*matching.Result, error) {
		asked = req.Profile
		return &matching.Result{Distance: float64(len(req.Points))}, nil
	}), matching.Foot)
	req := &matching.Request{Points: drives.Points(along(0, 0, 1, 1))}
	r, err := m.Match(context.Background(), req)
	if err != nil || asked != matching.Foot || r.Distance != 2 || req.Profile != matching.Car {
		t.Errorf("%v was asked, %+v, %v; the request's profile is %v now", asked, r, err, req.Profile)
	}
}

type matcherFunc func(ctx context.Context, req *matching.Request) (*matching.Result, error)

func (f matcherFunc) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	return f(ctx, req)
}
