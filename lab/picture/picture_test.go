package picture

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/lab/accuracy"
)

// elements reads an SVG document: all its elements by name.
func elements(t *testing.T, svg []byte) map[string][]xml.StartElement {
	t.Helper()
	found := map[string][]xml.StartElement{}
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local] = append(found[e.Name.Local], e.Copy())
		}
	}
}

func attribute(t *testing.T, e xml.StartElement, name string) float64 {
	t.Helper()
	for _, a := range e.Attr {
		if a.Name.Local == name {
			v, err := strconv.ParseFloat(a.Value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no %s", e.Name.Local, name)
	return 0
}

func TestCalibration(t *testing.T) {
	bins := []accuracy.Bin{
		{Low: 0.51, High: 0.7, Confidence: 0.6, Right: 0.8, Drives: 10},
		{Low: 0.9, High: 1, Confidence: 1, Right: 1, Drives: 10},
	}
	svg := Calibration("A < B", bins)
	circles := elements(t, svg)["circle"]
	if len(circles) != 2 {
		t.Fatalf("%d points", len(circles))
	}
	// The axes begin at 0.5, so 0.6 is a fifth of the way, and 0.8 three fifths.
	if x := attribute(t, circles[0], "cx"); math.Abs(x-(plotLeft+plotSize/5)) > 0.1 {
		t.Errorf("the first point is at x %v", x)
	}
	if y := attribute(t, circles[0], "cy"); math.Abs(y-(plotTop+plotSize*2/5)) > 0.1 {
		t.Errorf("the first point is at y %v", y)
	}
	if x, y := attribute(t, circles[1], "cx"), attribute(t, circles[1], "cy"); x != plotLeft+plotSize || y != plotTop {
		t.Errorf("the last point is at %v, %v", x, y)
	}
	for _, text := range []string{"A &lt; B", "20 drives in 2 bins", ">0.50<", ">1.00<"} {
		if !strings.Contains(string(svg), text) {
			t.Errorf("no %q in\n%s", text, svg)
		}
	}
}

func TestCalibrationOfNothing(t *testing.T) {
	if n := len(elements(t, Calibration("none", nil))["circle"]); n != 0 {
		t.Errorf("%d points", n)
	}
}

func TestMatch(t *testing.T) {
	town := &roadgraphtest.Town{}
	town.Street("Long", -200, 0, 0, 0, 200, 0)
	town.OneWay("Side", 1, town.Node(0, 150)).Layer = 0
	g := town.Open(t)
	m := Match{Title: "Crossing", Caption: "two roads", Graph: g, Center: roadgraphtest.At(0, 0), Reach: 250,
		Truth: orb.LineString{roadgraphtest.At(-100, 0), roadgraphtest.At(100, 0)}}
	req := &matching.Request{Details: true}
	for x := -100.0; x <= 100; x += 20 {
		m.Trace = append(m.Trace, roadgraphtest.At(x, 4))
	}
	m.Trace = append(m.Trace, roadgraphtest.At(110, -3000))
	for _, p := range m.Trace {
		req.Points = append(req.Points, trace.At(p.Lat(), p.Lon()))
	}
	var err error
	if m.Result, err = matching.New(g, matching.Options{}).Match(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	svg := m.Draw()
	circles := elements(t, svg)["circle"]
	// Eleven positions on the map, none for the one far outside, and two in the legend.
	if len(circles) != 13 {
		t.Fatalf("%d circles", len(circles))
	}
	scale := mapWidth / 500
	if x, y := attribute(t, circles[0], "cx"), attribute(t, circles[0], "cy"); math.Abs(x-(mapWidth/2-100*scale)) > 0.2 ||
		math.Abs(y-(mapHeight/2-4*scale)) > 0.2 {
		t.Errorf("the first position is drawn at %v, %v", x, y)
	}
	for _, text := range []string{"Crossing", "two roads", "OpenStreetMap contributors", styleMatch, styleTruth} {
		if !strings.Contains(string(svg), text) {
			t.Errorf("no %q in the picture", text)
		}
	}
}

func TestTicks(t *testing.T) {
	for low, want := range map[float64]int{0: 6, 0.5: 6, 0.8: 5, 0.9: 6} {
		got := ticks(low)
		if len(got) != want || math.Abs(got[len(got)-1]-1) > 1e-9 || got[0] < low-1e-9 {
			t.Errorf("from %v on: %v", low, got)
		}
	}
}
