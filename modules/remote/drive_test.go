package remote_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// metresOfDegree is the length of a degree of latitude.
const metresOfDegree = 111195.0

// row is positions 100 m apart on one parallel, a number of metres north of the street of matchings, in six decimals.
func row(points int, metres float64) (row orb.LineString) {
	rounded := func(degrees float64) float64 { return math.Round(degrees*1e6) / 1e6 }
	step := 100 / (metresOfDegree * math.Cos(41*math.Pi/180))
	for i := range points {
		row = append(row, orb.Point{rounded(-8 - step*float64(i)), rounded(41 + metres/metresOfDegree)})
	}
	return row
}

// path is positions as the parameter of a GET.
func path(line orb.LineString) string {
	var pairs []string
	for _, p := range line {
		pairs = append(pairs, fmt.Sprintf("{%v,%v}", p[1], p[0]))
	}
	return "[" + strings.Join(pairs, ",") + "]"
}

// matchings is a response of OSRM's match service for the points of row. A letter tells the matching of each point, `a`
// for the first; `-` is a point that is left out. Each matching goes from its first point to its last.
func matchings(points string) string { return matchingsOf(points, row(len(points), 0)) }

func matchingsOf(points string, at orb.LineString) string {
	var tracepoints, made []string
	lines := map[byte]orb.LineString{}
	for i := range len(points) {
		part := points[i]
		if part == '-' {
			tracepoints = append(tracepoints, "null")
			continue
		}
		lines[part] = append(lines[part], at[i])
		tracepoints = append(tracepoints, fmt.Sprintf(`{"matchings_index":%d,"location":[%v,%v],"name":"Street %c"}`,
			part-'a', at[i][0], at[i][1], part))
	}
	last := byte('a' - 1)
	for part := range lines {
		last = max(last, part)
	}
	for part := byte('a'); part <= last; part++ {
		ends := orb.LineString{at[0], at[0]} // of a matching without points
		if line := lines[part]; len(line) > 0 {
			ends = orb.LineString{line[0], line[len(line)-1]}
		}
		text, _ := json.Marshal(ends)
		made = append(made, fmt.Sprintf(`{"confidence":0.5,"duration":%d,"geometry":{"coordinates":%s}}`, part-'a'+1, text))
	}
	return fmt.Sprintf(`{"code":"Ok","matchings":[%s],"tracepoints":[%s]}`,
		strings.Join(made, ","), strings.Join(tracepoints, ","))
}

// drive is a response of the map matching endpoint. Positions are latitude and longitude.
type drive struct {
	Coordinates        [][2]float64
	Distance, Duration float64
	Confidence         *float64
	Tracepoints        []struct {
		Location *[2]float64
		Distance *float64
		Name     string
		Matched  bool
		Index    *int
	}
	Ways []struct {
		ID       int64
		Name     string
		From, To int
	}
}

// readDrive reads a response that must be a drive.
func readDrive(t testing.TB, a modulestest.Response) *drive {
	t.Helper()
	d := new(drive)
	if err := json.Unmarshal([]byte(a.Body), d); err != nil || a.Status != 200 {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return d
}

// matched has 1 for each matched point, and 0 for each other.
func (d *drive) matched() string {
	var b strings.Builder
	for _, p := range d.Tracepoints {
		b.WriteString(map[bool]string{true: "1", false: "0"}[p.Matched])
	}
	return b.String()
}

// checkLine checks that a drive is on one line from its first position to its last: it has all positions of that line,
// one after the other, and between them only those of matched points.
func (d *drive) checkLine(t testing.TB, line orb.LineString) {
	t.Helper()
	points := map[int]bool{}
	for i, p := range d.Tracepoints {
		if !p.Matched {
			continue
		}
		if p.Index == nil || *p.Index < 0 || *p.Index >= len(d.Coordinates) {
			t.Errorf("tracepoint %d is at no coordinate: %+v", i, p)
			continue
		}
		points[*p.Index] = d.Coordinates[*p.Index] == *p.Location
	}
	next := 0
	for i, c := range d.Coordinates {
		switch {
		case next < len(line) && math.Abs(c[0]-line[next][1]) < 1e-6 && math.Abs(c[1]-line[next][0]) < 1e-6:
			next++
		case !points[i]:
			t.Errorf("coordinate %d, %v, is neither on the line nor a matched point", i, c)
		}
	}
	if next != len(line) {
		t.Errorf("the drive leaves the line at position %d of %d", next, len(line))
	}
}
