package guidance_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

var modes = map[guidance.Mode]region.Modes{guidance.Driving: region.Car, guidance.Cycling: region.Bicycle,
	guidance.Walking: region.Foot}

// describe draws a sketch and describes the shortest way between two of its letters.
func describe(t *testing.T, s roadgraphtest.Sketch, ends string, o guidance.Options) []guidance.Step {
	t.Helper()
	if o.Mode == "" {
		o.Mode = guidance.Driving
	}
	d := s.Draw(t)
	g := roadgraphtest.Open(t, d.File, modes[o.Mode])
	letters := []rune(ends)
	states, first, last := shortest(t, g, placesAt(g, d.At(t, letters[0])), placesAt(g, d.At(t, letters[1])))
	p := pathOf(g, states, first, last)
	steps := guidance.Steps(g, p, o)
	if err := check(p, steps); err != nil {
		t.Error(err)
	}
	return steps
}

// check finds what is wrong with the steps of any path.
func check(p *guidance.Path, steps []guidance.Step) error {
	if len(steps) < 2 || steps[0].Maneuver.Type != "depart" || steps[len(steps)-1].Maneuver.Type != "arrive" {
		return fmt.Errorf("%d steps, the first of which does not depart or the last not arrive", len(steps))
	}
	at, metres, seconds := p.First[0], 0.0, 0.0
	for i := range steps {
		s := &steps[i]
		if s.First != at || s.Last < at {
			return fmt.Errorf("step %d from %d to %d does not begin at %d", i, s.First, s.Last, at)
		}
		at, metres, seconds = s.Last, metres+s.Distance, seconds+s.Duration
		if s.Instruction == "" || strings.ContainsAny(s.Instruction, "{}[]") || strings.Contains(s.Instruction, "  ") {
			return fmt.Errorf("step %d: %q", i, s.Instruction)
		}
		if len(s.Intersections) == 0 || s.Intersections[0].Index != s.First {
			return fmt.Errorf("step %d has no intersection where it begins", i)
		}
		for k := range s.Intersections {
			x := &s.Intersections[k]
			first, last := i == 0 && k == 0, i == len(steps)-1
			switch {
			case x.Index < s.First || x.Index > s.Last:
				return fmt.Errorf("step %d has an intersection elsewhere", i)
			case !slices.IsSorted(x.Bearings) || x.Bearings[0] < 0 || x.Bearings[len(x.Bearings)-1] > 359:
				return fmt.Errorf("step %d: bearings %v", i, x.Bearings)
			case len(x.Entry) != len(x.Bearings):
				return fmt.Errorf("step %d: %d entries", i, len(x.Entry))
			case (x.In < 0) != first || x.In >= len(x.Bearings), (x.Out < 0) != last || x.Out >= len(x.Bearings):
				return fmt.Errorf("step %d: from %d to %d of %d roads", i, x.In, x.Out, len(x.Bearings))
			case x.Out >= 0 && !x.Entry[x.Out]:
				return fmt.Errorf("step %d goes by a road that is closed", i)
			}
		}
	}
	for _, s := range steps[1 : len(steps)-1] {
		k := slices.Index(p.First, s.First)
		if p.First[k+1] == s.First {
			continue // two nodes at the same place
		}
		by := float64(s.Maneuver.BearingAfter) - along(p.Line[s.First:p.First[k+1]+1])
		if math.Abs(math.Remainder(by, 360)) > 2 && k < len(p.States)-1 && math.Abs(p.Line[s.First][1]) < 80 {
			return fmt.Errorf("the bearing at %v is %v° wrong", p.Line[s.First], by)
		}
	}
	length, sum := 0.0, 0.0
	for i := p.First[0]; i < p.First[len(p.States)]; i++ {
		length += geo.Distance(p.Line[i][1], p.Line[i][0], p.Line[i+1][1], p.Line[i+1][0])
	}
	for _, d := range p.Durations {
		sum += d
	}
	switch {
	case at != p.First[len(p.States)]:
		return fmt.Errorf("the steps end at %d", at)
	case math.Abs(length-metres) > 0.002*float64(len(p.States)+1)+1e-5*length:
		return fmt.Errorf("the steps have %.3f m, the line %.3f m", metres, length)
	case math.Abs(sum-seconds) > 1e-6*(1+sum):
		return fmt.Errorf("the steps take %.3f s, the path %.3f s", seconds, sum)
	}
	return nil
}

// along is the bearing from the beginning of a line to the place 10 m along it, or to its end.
func along(line orb.LineString) float64 {
	left := 10.0
	for i := 1; ; i++ {
		to, length := line[i], geo.Distance(line[i-1][1], line[i-1][0], line[i][1], line[i][0])
		if i < len(line)-1 && length < left {
			left -= length
			continue
		}
		share := min(1, left/length)
		x := geo.LongitudeDegrees(line[i-1][0]+share*geo.LongitudeDegrees(to[0]-line[i-1][0])-line[0][0]) *
			math.Cos(line[0][1]*math.Pi/180)
		return math.Atan2(x, line[i-1][1]+share*(to[1]-line[i-1][1])-line[0][1]) * 180 / math.Pi
	}
}

// told returns the steps between departure and arrival, as "type modifier | name | exit".
func told(steps []guidance.Step) string {
	var all []string
	for _, s := range steps[1 : len(steps)-1] {
		text := strings.TrimSpace(s.Maneuver.Type+" "+s.Maneuver.Modifier) + " | " + s.Name
		if s.Maneuver.Exit > 0 {
			text += fmt.Sprintf(" | %d", s.Maneuver.Exit)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// A crossing, a fork, a T, a ring and others. A column is 50 m wide.
const (
	cross = `
		..n..
		w.m.e
		..s..`
	wye = `
		....l
		w.m..
		....r`
	tee = `
		..n
		w.m
		..s`
	narrow = `
		......................l
		w.........m............
		......................r`
	// Six on a ring of about 40 m.
	circle = `
		...n...
		...a...
		w.b.d.e
		...c...
		...s...`
	// A ring with an arm of two carriageways.
	split = `
		......n
		......a
		v..f

		w..b......d.e
		......c
		......s`
)

func TestSteps(t *testing.T) {
	const (
		plain = "wm name=A\nme name=A\nmn name=B\nms name=B\n"
		ring  = "abcda junction=roundabout oneway=yes name="
		arms  = "\nna\nwb\nsc\ned"
		apart = "afbcda junction=roundabout oneway=yes name=\nna\nwb oneway=yes\nfv oneway=yes\nsc\ned"
		left  = "adcba junction=roundabout oneway=yes name="
	)
	tests := map[string]struct {
		grid, ways, ends string
		want             string
		step             float64 // metres; 50 if 0
		options          guidance.Options
	}{
		// Obvious ways on.
		"straight on":               {grid: cross, ways: plain, ends: "we"},
		"right":                     {grid: cross, ways: plain, ends: "ws", want: "turn right | B"},
		"left":                      {grid: cross, ways: plain, ends: "wn", want: "turn left | B"},
		"left into the same street": {grid: cross, ways: "wmn name=A\nsme name=B", ends: "wn", want: "continue left | A"},
		"only the name changes":     {grid: cross, ways: "wm name=A\nme name=C\nnms name=B", ends: "we"},
		"a bend without a junction": {grid: cross, ways: "wmn name=A", ends: "wn"},
		"a bend and another name":   {grid: cross, ways: "wm name=A\nmn name=B", ends: "wn"},
		"a driveway straight on":    {grid: cross, ways: "wm name=A\nmn name=A\nme highway=service", ends: "wn"},
		"into the driveway": {
			grid: cross, ends: "we",
			ways: "wmn name=A\nme highway=service name=",
			want: "turn straight | ",
		},
		"past a driveway": {grid: cross, ways: "wme name=A\nmn highway=service", ends: "we"},
		"into one at a side": {
			grid: cross, ends: "wn",
			ways: "wme name=A\nmn highway=service name=",
			want: "turn left | ",
		},
		"a larger road turns off": {
			grid: cross, ends: "we",
			ways: "wmn highway=primary name=A\nme name=B",
			want: "turn straight | B",
		},
		"along the larger road": {
			grid: cross, ends: "wn",
			ways: "wmn highway=primary name=A\nme name=B",
			want: "continue left | A",
		},
		"a slight bend, named anew": {
			grid: wye, ends: "wl",
			ways: "wm highway=primary name=A\nml highway=primary name=B\nmr highway=service name=C",
			want: "new name slight left | B",
		},
		"to a one-way": {
			grid: cross, ends: "wn",
			ways: "wm name=A\nme name=A\nsm oneway=yes name=B\nmn oneway=yes name=B",
			want: "turn left | B",
		},
		"forced to turn": {
			grid: cross, ends: "wn",
			ways: "wm name=A\nem oneway=yes name=A\nmn name=B",
			want: "turn left | B",
		},
		"turn restriction": {
			grid: cross, ends: "we",
			ways: "wm name=A\nme name=A\nmn name=B\nwm/m/mn restriction=no_left_turn",
		},
		"a branch at a small angle": {
			grid: "l...\n.w.m.e", ends: "el",
			ways: "wme name=A\nlm name=B",
			want: "fork slight right | B",
		},
		"a sharp turn": {
			grid: "w....m..e\n.\n.r", ends: "wr",
			ways: "wme name=A\nmr name=B",
			want: "turn sharp right | B",
		},
		"a reference only": {grid: cross, ways: "wm name= ref=B1\nme name= ref=B1\nnms name=N", ends: "we"},
		"back at a dead end": {
			grid: "a.b.c\n..d", ends: "ac",
			ways: "ab name=A\nbd name=B\nbc oneway=yes name=A\nab/b/bd restriction=no_right_turn",
		},
		"a name after a short link": {
			grid: "w....m....e\n.....x\n.....s", ends: "ws", step: 10,
			ways: "wme name=A\nmx name=\nxs name=B",
			want: "turn right | B",
		},
		// Ends of roads.
		"the end of a road, right": {
			grid: tee, ends: "ws",
			ways: "wm name=A\nnms name=B",
			want: "end of road right | B",
		},
		"the end of a road, left": {
			grid: tee, ends: "wn",
			ways: "wm name=A\nnms name=B",
			want: "end of road left | B",
		},
		"the same road goes on": {grid: tee, ways: "wmn name=A\nms name=B", ends: "wn", want: "continue left | A"},
		"a one-way at the end": {
			grid: tee, ends: "ws",
			ways: "wm name=A\nnms name=B oneway=yes",
			want: "end of road right | B",
		},
		"a private road straight on": {grid: cross, ways: "wmn name=A\nme access=private name=B", ends: "wn"},
		"a restriction over ways": {
			grid: "....g\na.b.c\nf.e.d", ends: "ag", step: 20,
			ways: "ab oneway=yes name=A\nbc oneway=yes name=A\nfe oneway=yes name=F\ned oneway=yes name=F\n" +
				"be name=\ncg name=G\nab/be/ed restriction=no_u_turn",
		},
		// Forks.
		"a fork, left": {
			grid: wye, ends: "wl",
			ways: "wm name=A\nml name=B\nmr name=C",
			want: "fork slight left | B",
		},
		"a fork, right": {
			grid: wye, ends: "wr",
			ways: "wm name=A\nml name=B\nmr name=C",
			want: "fork slight right | C",
		},
		"a fork in three": {
			grid: "....l\nw.m.e\n....r", ends: "we",
			ways: "wm name=A\nml name=B\nmr name=C\nme name=D",
			want: "fork straight | D",
		},
		"a motorway divides": {
			grid: narrow, ends: "wr", step: 20,
			ways: "wm highway=motorway ref=M1 name=\nml highway=motorway ref=M1 name=\n" +
				"mr highway=motorway ref=M2 name=",
			want: "fork slight right | ",
		},
		"a ramp divides": {
			grid: narrow, ends: "wl", step: 20,
			ways: "wm highway=motorway_link name=\nml highway=motorway_link name=L\nmr highway=motorway_link name=R",
			want: "fork slight left | L",
		},
		// Ramps.
		"past an exit": {
			grid: narrow, ends: "wl", step: 20,
			ways: "wm highway=motorway name=M\nml highway=motorway name=M\nmr highway=motorway_link name=",
		},
		"an exit": {
			grid: narrow, ends: "wr", step: 20,
			ways: "wm highway=motorway name=M\nml highway=motorway name=M\nmr highway=motorway_link name=",
			want: "off ramp slight right | ",
		},
		"an exit left": {
			grid: narrow, ends: "wl", step: 20,
			ways: "wm highway=motorway name=M\nmr highway=motorway name=M\nml highway=motorway_link name=",
			want: "off ramp slight left | ",
		},
		"onto a ramp": {
			grid: cross, ends: "ws",
			ways: "wme highway=secondary name=A\nms highway=motorway_link oneway=yes name=",
			want: "on ramp right | ",
		},
		"past a ramp": {
			grid: cross, ends: "we",
			ways: "wme highway=secondary name=A\nms highway=motorway_link oneway=yes name=",
		},
		"onto a motorway": {
			grid: narrow, ends: "rw", step: 20,
			ways: "lm highway=motorway name=M oneway=yes\nmw highway=motorway name=M oneway=yes\n" +
				"rm highway=motorway_link name= oneway=yes",
			want: "merge slight right | M",
		},
		"from the other side": {
			grid: narrow, ends: "lw", step: 20,
			ways: "rm highway=motorway name=M oneway=yes\nmw highway=motorway name=M oneway=yes\n" +
				"lm highway=motorway_link name= oneway=yes",
			want: "merge slight left | M",
		},
		"straight onto a motorway": {
			grid: "r.....m.....w\n\nl", ends: "rw", step: 20,
			ways: "lm highway=motorway name=M oneway=yes\nmw highway=motorway name=M oneway=yes\n" +
				"rm highway=motorway_link name= oneway=yes",
			want: "merge slight right | M",
		},
		"on the motorway past it": {
			grid: narrow, ends: "rw", step: 20,
			ways: "rm highway=motorway name=M oneway=yes\nmw highway=motorway name=M oneway=yes\n" +
				"lm highway=motorway_link name= oneway=yes",
		},
		"two motorways meet": {
			grid: narrow, ends: "lw", step: 20,
			ways: "rm highway=motorway name=M oneway=yes\nmw highway=motorway name=M oneway=yes\n" +
				"lm highway=motorway name=N oneway=yes",
			want: "merge slight left | M",
		},
		"the end of a ramp": {
			grid: tee, ends: "ws",
			ways: "wm highway=motorway_link name= oneway=yes\nnms highway=secondary name=B",
			want: "end of road right | B",
		},
		"a slip road": {
			grid: "w..a..m..e\n\n......b\n\n......s", ends: "ws", step: 10,
			ways: "wame highway=primary name=A\nmbs highway=primary name=B\nab highway=primary_link oneway=yes name=",
			want: "turn right | B",
		},
		"a long one": {
			grid: "w.a..m.e\n\n\n\n.....b\n.....s", ends: "ws", step: 40,
			ways: "wame highway=trunk name=A\nmbs highway=primary name=B\nab highway=trunk_link oneway=yes name=",
			want: "off ramp right | ",
		},
		// Roundabouts.
		"the first exit": {
			grid: circle, ends: "ws", step: 20,
			ways: ring + arms,
			want: "roundabout right | sc | 1; exit roundabout right | sc",
		},
		"the second": {
			grid: circle, ends: "we", step: 20,
			ways: ring + arms,
			want: "roundabout right | ed | 2; exit roundabout right | ed",
		},
		"the third": {
			grid: circle, ends: "wn", step: 20,
			ways: ring + arms,
			want: "roundabout right | na | 3; exit roundabout right | na",
		},
		"into a roundabout": {
			grid: circle, ends: "wc", step: 20,
			ways: ring + arms,
			want: "roundabout right | ",
		},
		"out of one": {
			grid: circle, ends: "cn", step: 20,
			ways: ring + arms,
			want: "exit roundabout right | na",
		},
		"past a driveway on one": {
			grid: circle, ends: "we", step: 20,
			ways: ring + "\nna\nwb\nsc highway=service\ned",
			want: "roundabout right | ed | 1; exit roundabout right | ed",
		},
		"to the driveway": {
			grid: circle, ends: "ws", step: 20,
			ways: ring + "\nna\nwb\nsc highway=service\ned",
			want: "roundabout right | sc | 1; exit roundabout right | sc",
		},
		"past an entry": {
			grid: circle, ends: "we", step: 20,
			ways: ring + "\nna\nwb\nsc oneway=yes\ned",
			want: "roundabout right | ed | 1; exit roundabout right | ed",
		},
		"a small one, right": {
			grid: circle, ends: "ws", step: 10,
			ways: ring + arms,
			want: "roundabout turn right | sc | 1",
		},
		"a small one, straight": {
			grid: circle, ends: "we", step: 10,
			ways: ring + arms,
			want: "roundabout turn straight | ed | 2",
		},
		"a small one, left": {
			grid: circle, ends: "wn", step: 10,
			ways: ring + arms,
			want: "roundabout turn left | na | 3",
		},
		"a rotary": {
			grid: circle, ends: "we", step: 20,
			ways: "abcda junction=roundabout oneway=yes name=Place" + arms,
			want: "rotary right | ed | 2; exit rotary right | ed",
		},
		"a large ring": {
			grid: circle, ends: "we", step: 70,
			ways: ring + arms,
			want: "rotary right | ed | 2; exit rotary right | ed",
		},
		"left driving": {
			grid: circle, ends: "wn", step: 20, options: guidance.Options{LeftDriving: true},
			ways: left + arms,
			want: "roundabout left | na | 1; exit roundabout left | na",
		},
		"left driving, third": {
			grid: circle, ends: "ws", step: 20, options: guidance.Options{LeftDriving: true},
			ways: left + arms,
			want: "roundabout left | sc | 3; exit roundabout left | sc",
		},
		"left driving, small": {
			grid: circle, ends: "ws", step: 10, options: guidance.Options{LeftDriving: true},
			ways: left + arms,
			want: "roundabout turn right | sc | 3",
		},
		"round and back": {
			grid: split, ends: "wv", step: 10,
			ways: apart,
			want: "roundabout straight | fv | 4; exit roundabout straight | fv",
		},
		"arms with two carriageways": {
			grid: split, ends: "we", step: 10,
			ways: apart,
			want: "roundabout straight | ed | 2; exit roundabout straight | ed",
		},
		// Dual carriageways and staggered crossings.
		"back on the other carriageway": {
			grid: "f.....e.....d\n\na.....b.....c", ends: "af", step: 10,
			ways: "abc oneway=yes name=A\ndef oneway=yes name=A\nbe name=",
			want: "continue uturn | A",
		},
		"left driving, back": {
			grid: "a.....b.....c\n\nf.....e.....d", ends: "af", step: 10, options: guidance.Options{LeftDriving: true},
			ways: "abc oneway=yes name=A\ndef oneway=yes name=A\nbe name=",
			want: "continue uturn | A",
		},
		"round a block": {
			grid: "f.....e.....d\n\n\n\n\na.....b.....c", ends: "af", step: 10,
			ways: "abc oneway=yes name=A\ndef oneway=yes name=A\nbe name=B",
			want: "turn left | B; end of road left | A",
		},
		"into a dual carriageway": {
			grid: "f.....e.....d\n\na.....b.....c\n\n......s", ends: "sf", step: 10,
			ways: "abc oneway=yes name=A\ndef oneway=yes name=A\nsbe name=B",
			want: "end of road left | A",
		},
		"off a dual carriageway": {
			grid: "......n\n\nf.....e.....d\n\na.....b.....c", ends: "an", step: 10,
			ways: "abc oneway=yes name=A\ndef oneway=yes name=A\nben name=B",
			want: "turn left | B",
		},
		"across it": {
			grid: "......n\n\nf.....e.....d\n\na.....b.....c\n\n......s",
			ends: "sn", step: 10,
			ways: "abc oneway=yes name=A\ndef oneway=yes name=A\nsben name=B",
		},
		"staggered": {
			grid: "......n\n\nw.....a..b.....e\n\n.........s", ends: "ns", step: 10,
			ways: "wabe name=A\nna name=B\nbs name=B",
		},
		"far staggered": {
			grid: "......n\n\nw.....a......b.....e\n\n.............s",
			ends: "ns", step: 10,
			ways: "wabe name=A\nna name=B\nbs name=B",
			want: "end of road left | A; turn right | B",
		},
		"staggered, other name": {
			grid: "......n\n\nw.....a..b.....e\n\n.........s", ends: "ns", step: 10,
			ways: "wabe name=A\nna name=B\nbs name=C",
			want: "end of road left | A; turn right | C",
		},
		// Ferries.
		"a ferry": {
			grid: "a.b.c.d", ends: "ad",
			ways: "ab\nbc route=ferry name=Ferry\ncd",
			want: "notification straight | Ferry; notification straight | cd",
		},
		"a turn after it": {
			grid: "a.b.c.d\n....e", ends: "ae",
			ways: "ab\nbc route=ferry name=Ferry\ncd\nce",
			want: "notification straight | Ferry; turn right | ce",
		},
		// Other modes.
		"on foot": {
			grid: cross, ends: "ws", options: guidance.Options{Mode: guidance.Walking},
			ways: "wm highway=footway\nme highway=footway\nnms highway=footway",
			want: "turn right | nms",
		},
		"steps": {
			grid: tee, ends: "wn", options: guidance.Options{Mode: guidance.Walking},
			ways: "wm name=A\nmn highway=steps name=\nms name=B",
			want: "end of road left | ",
		},
		"past a path": {
			grid: cross, ends: "we", options: guidance.Options{Mode: guidance.Walking},
			ways: "wme name=A\nmn highway=footway",
		},
		"on a bicycle": {
			grid: cross, ends: "we", options: guidance.Options{Mode: guidance.Cycling},
			ways: "wm name=A\nme highway=cycleway name=\nmn name=A",
		},
		"cyclists do not merge": {
			grid: narrow, ends: "rw", step: 20, options: guidance.Options{Mode: guidance.Cycling},
			ways: "lm name=M oneway=yes\nmw name=M oneway=yes\nrm highway=primary_link name= oneway=yes",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.step == 0 {
				test.step = 50
			}
			steps := describe(t, roadgraphtest.Sketch{Grid: test.grid, Ways: test.ways, Step: test.step}, test.ends,
				test.options)
			if got := told(steps); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
