package modulestest

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

// Drive is a response of the map matching endpoint. Positions are latitude and longitude.
type Drive struct {
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

// ReadDrive reads a response that must be a drive.
func ReadDrive(t testing.TB, a Response) *Drive {
	t.Helper()
	d := new(Drive)
	if err := json.Unmarshal([]byte(a.Body), d); err != nil || a.Status != 200 {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return d
}

// Matched has a 1 for each point that is matched, and a 0 for each other.
func (d *Drive) Matched() string {
	var b strings.Builder
	for _, p := range d.Tracepoints {
		b.WriteString(map[bool]string{true: "1", false: "0"}[p.Matched])
	}
	return b.String()
}

// CheckLine checks that a drive is on one line from its first position to its last: it has all positions of that line,
// one after the other, and between them only those of matched points.
func (d *Drive) CheckLine(t testing.TB, line orb.LineString) {
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

// Row are positions 100 m apart on one parallel, a number of metres north of the street that Matchings answers. They
// have six decimals.
func Row(points int, metres float64) orb.LineString {
	const metresOfDegree = 111195.0
	step := 100 / (metresOfDegree * math.Cos(41*math.Pi/180))
	var row orb.LineString
	for i := range points {
		row = append(row, orb.Point{rounded(-8 - step*float64(i)), rounded(41 + metres/metresOfDegree)})
	}
	return row
}

func rounded(degrees float64) float64 { return math.Round(degrees*1e6) / 1e6 }

// Matchings makes a response of OSRM's match service for the points of Row. A letter tells the matching of each point,
// `a` for the first one; `-` is a point that is left out. Each matching goes from its first point to its last.
func Matchings(points string) string {
	row := Row(len(points), 0)
	var tracepoints []string
	lines := map[byte]orb.LineString{}
	for i := range len(points) {
		part := points[i]
		if part == '-' {
			tracepoints = append(tracepoints, "null")
			continue
		}
		lines[part] = append(lines[part], row[i])
		tracepoints = append(tracepoints, fmt.Sprintf(`{"matchings_index":%d,"location":[%v,%v],"name":"Street %c"}`,
			part-'a', row[i][0], row[i][1], part))
	}
	var matchings []string
	for part := byte('a'); len(lines[part]) > 0; part++ {
		line := lines[part]
		ends, _ := json.Marshal(orb.LineString{line[0], line[len(line)-1]})
		matchings = append(matchings, fmt.Sprintf(`{"confidence":0.5,"duration":%d,"geometry":{"coordinates":%s}}`,
			part-'a'+1, ends))
	}
	return fmt.Sprintf(`{"code":"Ok","matchings":[%s],"tracepoints":[%s]}`,
		strings.Join(matchings, ","), strings.Join(tracepoints, ","))
}
