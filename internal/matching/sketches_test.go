package matching_test

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

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// sketch is a case on a map drawn in text.
type sketch struct {
	name string
	grid string  // see roadgraphtest.Sketch, as are ways and step
	step float64 // metres
	rows float64 // metres between two lines, if that is not step
	ways string
	// trace names places of the grid in order. "a@30" is at 30 seconds; "a>b/20" is from a to b with a point each 20 m,
	// "a>b/20@1" with one second for each.
	trace string
	noise float64 // sigma in metres; with noise, eight seeds are tried
	want  string  // names of the roads in order; "" for NoRoute, "*" is not checked
	// metres is the length, to within 2%, 3 m and three sigma; 0 is not checked.
	metres  float64
	leftOut string  // the numbers of the points that are not matched; "*" is not checked
	below   float64 // what confidence is at most; 0 is not checked
	profile matching.Profile
	above   float64 // what it is at least
}

func (s *sketch) run(t *testing.T) {
	d := roadgraphtest.Sketch{Grid: s.grid, Step: s.step, Rows: s.rows, Ways: s.ways}.Draw(t)
	seeds := uint64(1)
	if s.noise > 0 {
		seeds = 8
	}
	for seed := range seeds {
		points := parseTrace(t, d, s.trace, newNoise(seed, s.noise))
		s.check(t, d, points)
	}
}

func (s *sketch) check(t *testing.T, d *roadgraphtest.Drawn, points []trace.Point) {
	t.Helper()
	req := &matching.Request{Points: points, Details: true, Profile: s.profile}
	networks, err := matching.OpenNetworks(d.File)
	if err != nil {
		t.Fatal(err)
	}
	d.Graph = networks[s.profile]
	r, err := matching.NewLocal(networks, matching.Options{}).Match(context.Background(), req)
	if s.want == "" {
		if !errors.Is(err, matching.ErrNoRoute) {
			t.Errorf("the answer is %s, error %v; want NoRoute", describe(d, r), err)
		}
		return
	}
	if err != nil {
		t.Errorf("error %v; want %s", err, s.want)
		return
	}
	drive, err := check(d.Graph, req, r)
	if err != nil {
		t.Error(err)
		return
	}
	if got := strings.Join(streets(d.Graph, drive), " "); got != s.want && s.want != "*" {
		t.Errorf("the drive is %s; want %s", describe(d, r), s.want)
	}
	if s.metres > 0 && math.Abs(r.Distance-s.metres) > 3+3*s.noise+s.metres/50 {
		t.Errorf("the drive is %s; want %.0f m", describe(d, r), s.metres)
	}
	if got := strings.Trim(fmt.Sprint(unmatched(r)), "[]"); s.leftOut != "*" && got != s.leftOut {
		t.Errorf("the points %q are left out; want %q", got, s.leftOut)
	}
	if s.below > 0 && r.Confidence > s.below || r.Confidence < s.above {
		t.Errorf("the confidence is %.4f; want %v to %v", r.Confidence, s.above, s.below)
	}
}

func describe(d *roadgraphtest.Drawn, r *matching.Result) string {
	if r == nil {
		return "none"
	}
	drive, err := retrace(d.Graph, r.Path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, %.1f m, confidence %.4f, without %v", strings.Join(streets(d.Graph, drive), " "), r.Distance,
		r.Confidence, unmatched(r))
}

// parseTrace makes the points of a trace as sketch describes them.
func parseTrace(t *testing.T, d *roadgraphtest.Drawn, text string, n noise) (points []trace.Point) {
	t.Helper()
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	now := 0.0
	for _, word := range strings.Fields(text) {
		word, times, timed := strings.Cut(word, "@")
		add := func(p orb.Point) {
			point := n.on(p)
			if timed {
				point.Time = now
			}
			points = append(points, point)
		}
		places, step, along := strings.Cut(word, "/")
		if !along {
			if timed {
				now = number(times)
			}
			add(d.At(t, []rune(places)[0]))
			continue
		}
		from, to := d.At(t, []rune(places)[0]), d.At(t, []rune(places)[2])
		steps := int(math.Round(distance(from, to) / number(step)))
		for i := range steps + 1 {
			if timed && len(points) > 0 {
				now += number(times)
			}
			share := float64(i) / float64(steps)
			add(orb.Point{from[0] + share*(to[0]-from[0]), from[1] + share*(to[1]-from[1])})
		}
	}
	return points
}

// TestSketches are drives on small maps where one thing at a time matters.
func TestSketches(t *testing.T) {
	for _, s := range slices.Concat(fastRoads(), backwards(), turningBack(), destinationOnly(), profiles(), streetSketches, sketches) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// fastRoads are the same straight drive at every speed: a detour never makes up for a route that is direct.
func fastRoads() (list []sketch) {
	for _, speed := range []int{30, 50, 80, 90, 100, 110, 120, 130, 200} {
		way := fmt.Sprintf("highway=primary maxspeed=%d", speed)
		fast := func(name string, s sketch) {
			s.name = fmt.Sprintf("%s at %d km/h", name, speed)
			list = append(list, s)
		}
		fast("to shortly before a dead end", sketch{step: 100, grid: `a1.................2b`, ways: "ab " + way,
			trace: "a 2", want: "ab", metres: 1900})
		fast("the same with times", sketch{step: 100, grid: `a1.................2b`, ways: "ab " + way,
			trace: fmt.Sprintf("a@0 2@%.0f", 1.2*1900*3.6/float64(speed)), want: "ab", metres: 1900})
		fast("between two dead ends", sketch{step: 100, grid: `a1................2b`, ways: "ab " + way,
			trace: "1 2", want: "ab", metres: 1700})
		fast("between roundabouts", sketch{step: 100, grid: `
 c                                                                                                              f
b a1                 2                 3                 4                 5                 6                 7d g
 e                                                                                                              h`,
			ways:  "ad " + way + "\naceba junction=roundabout highway=primary\ndhgfd junction=roundabout highway=primary",
			trace: "1 2 3 4 5 6 7", want: "ad", metres: 10800})
		fast("through a tunnel, points at its mouths", sketch{step: 100, grid: `a...1b...............c2...d`,
			ways: "ab " + way + "\nbc tunnel=yes " + way + "\ncd " + way, trace: "a 1 2 d", want: "ab bc cd", metres: 2600})
		fast("past a slip road that leads back", sketch{step: 100, grid: `
a1........b.........2c
          |          |
          e..........d`, ways: "abc " + way + "\ncdeb highway=residential maxspeed=30", trace: "1 2", want: "abc", metres: 1900})
	}
	return list
}

// backwards are drives against one-way streets, with points close together and far apart.
func backwards() (list []sketch) {
	for _, step := range []float64{10, 15, 20, 30, 40, 60, 80, 100} {
		against := func(name string, s sketch) {
			s.name, s.step = fmt.Sprintf("%s, points %v m apart", name, step), step
			list = append(list, s)
		}
		against("against a one-way", sketch{grid: "abcd", ways: "abcd oneway=yes", trace: "d c b a"})
		against("against a chain of one-ways", sketch{grid: "abcd", ways: "ab oneway=yes\nbc oneway=yes\ncd oneway=yes",
			trace: "d c b a"})
		against("against a one-way, many points", sketch{grid: "abcdefghijkl", ways: "abcdefghijkl oneway=yes",
			trace: "l k j i h g f e d c b a"})
		beside := sketch{grid: "abcd\nefgh", rows: 10,
			ways:  "ab oneway=yes\nbc oneway=yes\ncd oneway=yes\nhg oneway=yes\ngf oneway=yes\nfe oneway=yes",
			trace: "d c b a", want: "hg gf fe", metres: 3 * step}
		against("against a one-way, with one in the direction 10 m beside it", beside)
	}
	return list
}

// turningBack are drives that turn back where the trace does, not at a dead end or round a block farther on.
func turningBack() (list []sketch) {
	for _, beyond := range []int{9, 16, 30} {
		for _, spacing := range []int{10, 30} {
			list = append(list, sketch{name: fmt.Sprintf("back %d m before a dead end, points %d m apart", 10*beyond, spacing),
				grid: "a..............b" + strings.Repeat(".", beyond-1) + "c", ways: "ac", noise: 3,
				trace: fmt.Sprintf("a>b/%d b>a/%[1]d", spacing), want: "ac", metres: 300})
		}
	}
	return append(list,
		sketch{name: "back before a block", noise: 2, ways: "ac\ncd\nce\nef\nfd", trace: "a>b/10 b>a/10", want: "ac", metres: 300,
			grid: "a..............b...c........d\n\n\n\n                   e........f"},
		sketch{name: "out and back, three points", step: 20, grid: "a.........b.........c", ways: "ac", trace: "a b a",
			want: "ac", metres: 400},
		sketch{name: "out and back, seven points", step: 50, grid: "a.........1.........2.........3.........b", ways: "ab",
			trace: "a 1 2 3 2 1 a", want: "ab", metres: 3000},
		sketch{name: "into a side street and back", step: 50, ways: "abc\nbde", trace: "a b d b c", want: "abc bde abc",
			grid: "a.........b.........c\n\n\n\n\n          d\n\n\n\n          e", metres: 1500},
		sketch{name: "no_u_turn where the trace turns back", step: 20, grid: "a.......b.......c\n        d\n        e",
			ways: "ab\nbc\nbde\nab/b/ab restriction=no_u_turn", trace: "a b a", want: "*", metres: 400})
}

// destinationOnly are drives through and into a short cut of 300 m and a lane off its middle with destination-only
// access, with a way round that is 200 m longer, and a street for all beside the lane.
func destinationOnly() (list []sketch) {
	const grid = `
         r..........s
a..1....2b3...m4...5c6...7....8d
           9 f
         x 0 g
           y
            l  e`
	for _, test := range []struct{ name, access, trace, want string }{
		{"nothing recorded on it", "access=destination", "2 6", "ab round cd"},
		{"and points farther apart", "access=destination", "1 8", "ab round cd"},
		{"and back again", "access=destination", "8 1", "cd round ab"},
		{"open to all", "access=yes", "2 6", "ab short cd"},
		{"open to cars", "bicycle=destination foot=destination", "2 6", "ab short cd"},
		{"recorded on it", "access=destination", "1 2 3 4 6 8", "ab short cd"},
		{"a destination there", "access=destination", "1 2 3 f l", "ab short lane"},
		{"a destination there, points far apart", "access=destination", "1 l", "ab short lane"},
		{"from there", "access=destination", "l f 4 6 8", "lane short cd"},
		{"all of it there", "access=destination", "3 f g l", "short lane"},
		{"nearer to another street", "access=destination", "1 2 3 9 0 y", "ab short lane"},
	} {
		list = append(list, sketch{name: "destination-only: " + test.name, grid: grid, step: 25, trace: test.trace, want: test.want,
			ways: "ab\nbmc name=short " + test.access + "\ncd\nbrsc name=round\nmfgl name=lane " + test.access + "\nxe"})
	}
	return list
}

// profiles are drives on a one-way street with a path through a park at its eastern end, and between a cycleway and a
// motorway. A profile without a drive has none, or one that is much longer.
func profiles() (list []sketch) {
	const (
		grid = "a1..2..3..4b\n            \n            \n           5\n           6\n           c\n\n\nd..........e\n 7  8  9  0\nf..........g"
		ways = "ab oneway=yes\nbc highway=footway\nde highway=cycleway\nfg highway=motorway oneway=yes"
	)
	for _, test := range []struct {
		name, trace string
		want        [3]string // by profile; "" for none
	}{
		{"along the one-way", "1 2 3 4", [3]string{"ab", "ab", "ab"}},
		{"against the one-way", "4 3 2 1", [3]string{"", "", "ab"}},
		{"into the park", "3 4 5 6", [3]string{"*", "*", "ab bc"}},
		{"between cycleway and motorway", "7 8 9 0", [3]string{"fg", "de", "de"}},
	} {
		for _, p := range matching.Profiles() {
			list = append(list, sketch{name: fmt.Sprintf("%s by %v", test.name, p), grid: grid, step: 40, rows: 15, ways: ways,
				trace: test.trace, want: test.want[p], profile: p, leftOut: "*"})
		}
	}
	return list
}

// streetSketches are drives on streets that are easily taken for others.
var streetSketches = []sketch{
	{name: "a forbidden turn, and nothing recorded on the way round", step: 50, trace: "1 2 3 4", want: "ab bc cd de ef", metres: 900, ways: "ab\nbc\ncd\nde\nbe\nef\nab/b/be restriction=no_left_turn",
		grid: "    f\n    4\n    3\n\n    e...d\n\n\n\na12.b...c"},
	{name: "one side of a dual carriageway", step: 50, rows: 14, noise: 6, trace: "1>2/30", want: "ab", metres: 800, ways: "ab oneway=yes\ncd oneway=yes\nbc\nda",
		grid: "d..................c\na.1...............2b"},
	{name: "a one-way street, nearer to one the other way", step: 20, rows: 12, trace: "1>2/40", want: "cd", metres: 800, ways: "ab oneway=yes\ncd oneway=yes\nbc\nda",
		grid: "d.................................................c\n\n  2                                       1\na.................................................b"},
	{name: "backwards on a one-way street is noise", step: 10, trace: "1 3 2 5 4 7 6 8", want: "ab", metres: 150, ways: "ab oneway=yes\nbcda oneway=yes",
		grid: "a..1.2.3.4.5..6.7.8...........b\n\n\n\n\n\nd.............................c"},
	{name: "round a one-way block", step: 20, trace: "1 2 b 3 4 a 1", want: "ab bcda ab", metres: 2 * (29 + 3) * 20, ways: "ab oneway=yes\nbcda oneway=yes",
		grid: "a...1.....2..................b\n\n\nd.....4............3.........c"},
	{name: "beside another street", step: 25, rows: 20, noise: 5, trace: "1>2/50", want: "ab", metres: 400, ways: "ab\ncd\nad\nbc",
		grid: "d...................c\n\na.1...............2.b"},
	{name: "beside another street, with a point nearer to it", step: 50, rows: 4, trace: "1 2 3 4 5", want: "ab", metres: 400, ways: "ab\ncd\nad\nbc",
		grid: "d...................c\n\n\n\n      3\n\n\n\n\n\na.1.2...4.5.........b"},
	{name: "past a ramp", step: 50, rows: 4, noise: 4, trace: "1>2/30", want: "abc", metres: 1500, ways: "abc oneway=yes highway=motorway\nbrst oneway=yes highway=motorway_link",
		grid: "a.......1.....b.......................2...c\n\n                  r\n\n                        s\n\n\n\n                              t"},
	{name: "up a ramp", step: 50, rows: 4, noise: 4, trace: "1>b/15 b>r/15 r>s/15 s>t/15", want: "abc brst", metres: 1100, ways: "abc oneway=yes highway=motorway\nbrst oneway=yes highway=motorway_link",
		grid: "a.......1.....b.......................2...c\n\n                  r\n\n                        s\n\n\n\n\n\n\n                              t"},
	{name: "over a bridge, nearer to the road below", step: 10, trace: "1 2 3 4 5", want: "ab", metres: 280, ways: "ab bridge=yes layer=1\ncd",
		grid: "              c\n              3\n\na1......2............4.......5b\n\n              d"},
	{name: "a footpath is nearer", step: 20, rows: 12, trace: "1 2 3", want: "ab", metres: 400, ways: "ab\ncd highway=footway",
		grid: "a..............................b\nc....1.........2.........3.....d"},
	{name: "a short cut for bicycles", step: 50, trace: "1 2 3 4 5", want: "as aebc cn", metres: 700, ways: "as\naebc\ncn\nac highway=cycleway",
		grid: "n\n5\n\nc.4b\n\n   3\n\na2.e\n\n1\ns"},
	{name: "a point on a crescent", step: 10, trace: "a>e/10 4 f>b/10", want: "aefb ecdf aefb", metres: 440, ways: "aefb\necdf",
		grid: "              c.4.d\n\n\n\n\n\n\na.............e...f...........b"},
	{name: "no time for the crescent", step: 10, trace: "a>e/10@1 4@16 f>b/10@1", want: "aefb", metres: 300, leftOut: "*", ways: "aefb\necdf",
		grid: "              c.4.d\n\n\n\n\n\n\na.............e...f...........b"},
}

var sketches = []sketch{
	{name: "one point back along the road", noise: 3, step: 20, ways: "ab", trace: "a>2/20 1 3>b/20", want: "ab", metres: 800, leftOut: "20",
		grid: "a..............1...2.3..................b"},
	{name: "two points back along the road are a drive there", noise: 3, step: 40, ways: "ab", trace: "1>2/40 2>1/40 1>b/40", want: "ab", metres: 2000,
		grid: "a.........1.........2.........3.........b"},
	{name: "back where a dual carriageway begins", step: 20, noise: 4, ways: "ab highway=primary\nbhgf highway=primary oneway=yes\nfedb highway=primary oneway=yes", trace: "1>b/20 b>a/20", want: "ab", metres: 11*20 + 22*20,
		grid: "                       d....................................................e\na..........1..........b                                                      f\n                       h....................................................g"},
	{name: "the same with a point every 200 m", step: 20, ways: "ac highway=primary\ncb highway=primary maxspeed=70\nbhgf highway=primary oneway=yes\nfedb highway=primary oneway=yes", trace: "a 1 b 1 a", want: "ac cb ac", metres: 44 * 20,
		grid: "                       d....................................................e\na..........1.........cb                                                      f\n                       h....................................................g"},
	{name: "a point on a road far from the others'", step: 10, ways: "abcd\nefgh", trace: "a>b/25 1 c>d/25", want: "abcd", metres: 300, leftOut: "5",
		grid: "a.........b.........c.........d\n\n\n\n\n\n\n\n\n\ne.........f....1....g.........h"},
	{name: "the same with points far apart", step: 20, ways: "ab\ncde\nac\nbe", trace: "1 2 3 4 8 6 7", want: "ab", metres: 600, leftOut: "4",
		grid: "a....1....2....3....4....5....6....7....b\n\n\n\n\nc..........d..............8..............e"},
	{name: "half of the points are elsewhere", step: 10, ways: "abcd", trace: "a>d/20 1>2/20", want: "abcd", metres: 300, leftOut: "*", below: 0.7,
		grid: "a.........b.........c.........d\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n1.............................2"},
	{name: "up a closed driveway", step: 10, noise: 3, ways: "abc\nbd highway=service access=no", trace: "a>b/10 b>d/5 d>b/5 b>c/10", want: "abc", leftOut: "*", below: 0.9,
		grid: "a.........b.........c\n\n\n\n\n\n\n\n\n          d"},
	{name: "up a private driveway", step: 10, noise: 3, ways: "abc\nbd highway=service access=private", trace: "a>b/10 b>d/5 d>b/5 b>c/10", want: "abc bd abc", above: 0.95,
		grid: "a.........b.........c\n\n\n\n\n\n\n\n\n          d"},
	{name: "round a block, one way as good as the other", step: 20, noise: 3, ways: "ab\nbcde\nbghe\nef", trace: "1 2", want: "*", below: 0.75,
		grid: "          c...................d\na...1.....b                   e.....2...f\n          g...................h"},
	{name: "round a block, with a point that tells", step: 20, noise: 3, ways: "ab\nbcde\nbghe\nef", trace: "1 3 2", want: "ab bcde ef", above: 0.95,
		grid: "          c.........3.........d\na...1.....b                   e.....2...f\n          g...................h"},
	{name: "every other point is elsewhere", step: 20, ways: "abcdefghijkl", trace: "a 1 c 2 e 3 g 4 i 5 k l", want: "*", leftOut: "*", below: 0.6,
		grid: "a.b.c.d.e.f.g.h.i.j.k.l\n\n\n\n  1   2   3   4   5"},
	{name: "a plain drive", step: 10, noise: 4, ways: "abc\ncde", trace: "a>c/15 d>e/15", want: "abc cde", metres: 320, above: 0.95,
		grid: "a.........b.........c\n                    .\n                    d.........e"},
}

// TestTimesInMinutes: rounded times do not make a drive impossible.
func TestTimesInMinutes(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 100, Grid: "a.............................b", Ways: "ab"}.Draw(t)
	list := parseTrace(t, d, "a>b/200", clean())
	for i := range list {
		list[i].Time = 60 * math.Floor(float64(i)*200/13/60)
	}
	r, _ := matchRequest(t, d.Graph, &matching.Request{Points: list, Details: true})
	if math.Abs(r.Distance-3000) > 1 || len(unmatched(r)) > 0 {
		t.Errorf("%.0f m without %v, want 3000", r.Distance, unmatched(r))
	}
}

// TestBesideARoad: a movement across a road is none along it.
func TestBesideARoad(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 10, Grid: "     4\n     3\n\na....1....b\n\n     2", Ways: "ab"}.Draw(t)
	for _, places := range []string{"1 2", "1 3", "3 2", "1 1 4 4 4"} {
		list := parseTrace(t, d, places, clean())
		for i := range list {
			list[i].Accuracy = 4
		}
		if r, _ := matchRequest(t, d.Graph, &matching.Request{Points: list}); r.Distance > 1 {
			t.Errorf("%s: %v m", places, r.Distance)
		}
	}
}
