package mismatch

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

// line makes a line of places given as x, y, x, y, … in metres around a place in the north, where a degree of longitude
// is half as long as one of latitude.
func line(xy ...float64) orb.LineString {
	flat := plane{lat: 60, lon: 10, perLat: 111195.08, perLon: 111195.08 / 2}
	var l orb.LineString
	for i := 0; i+1 < len(xy); i += 2 {
		l = append(l, orb.Point{flat.lon + xy[i]/flat.perLon, flat.lat + xy[i+1]/flat.perLat})
	}
	return l
}

func TestOf(t *testing.T) {
	straight := line(0, 0, 1000, 0)
	for _, tt := range []struct {
		name                       string
		truth, path                orb.LineString
		missed, added, truths, all float64
	}{
		{"the same", straight, straight, 0, 0, 1000, 1000},
		{"the same backward, cut otherwise", straight, line(1000, 0, 400, 0, 0, 0), 0, 0, 1000, 1000},
		{"beside, within the tolerance", straight, line(0, 1.4, 1000, 1.4), 0, 0, 1000, 1000},
		{"beside, beyond it", straight, line(0, 1.6, 1000, 1.6), 1000, 1000, 1000, 1000},
		{"too short by 300 m, less what the end's tolerance reaches", straight, line(0, 0, 700, 0), 300 - Tolerance, 0, 1000, 700},
		{"too long by 250 m", straight, line(-100, 0, 1150, 0), 0, 250 - 2*Tolerance, 1000, 1250},
		{"a spike of 50 m there and back", straight, line(0, 0, 500, 0, 500, 50, 500, 0, 1000, 0), 0, 100 - 2*Tolerance, 1000, 1100},
		{"round the block", straight, line(0, 0, 400, 0, 400, 80, 600, 80, 600, 0, 1000, 0),
			200 - 2*Tolerance, 360 - 2*Tolerance, 1000, 1160},
		{"over it at a right angle", straight, line(500, -100, 500, 100), 1000 - 2*Tolerance, 200 - 2*Tolerance, 1000, 200},
		{"elsewhere", straight, line(0, 5000, 1000, 5000), 1000, 1000, 1000, 1000},
		{"no path", straight, nil, 1000, 0, 1000, 0},
		{"one place twice", straight, line(500, 0, 500, 0), 1000, 0, 1000, 0},
		{"driven twice", line(0, 0, 1000, 0, 0, 0), straight, 0, 0, 2000, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := Of(tt.truth, tt.path)
			for _, v := range []struct {
				name      string
				got, want float64
			}{{"missed", m.Missed, tt.missed}, {"added", m.Added, tt.added}, {"truth", m.Truth, tt.truths}, {"path", m.Path, tt.all}} {
				if math.Abs(v.got-v.want) > 0.01+v.want*1e-4 {
					t.Errorf("%s is %.3f m, want %.3f", v.name, v.got, v.want)
				}
			}
		})
	}
}

func TestShares(t *testing.T) {
	m := Mismatch{Missed: 100, Added: 60, Truth: 1000, Path: 960}.Plus(Mismatch{Truth: 1000, Path: 1040})
	if got, want := m.Share(), 0.08; math.Abs(got-want) > 1e-12 {
		t.Errorf("Share is %v, want %v", got, want)
	}
	if got, want := m.Right(), 0.96; math.Abs(got-want) > 1e-12 {
		t.Errorf("Right is %v, want %v", got, want)
	}
	if got := Of(nil, nil); got.Share() != 0 || got.Right() != 1 {
		t.Errorf("two empty lines differ by %+v", got)
	}
}

// The exact answer is what close sampling comes to.
func TestOutsideIsWhatSamplesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.Float64Range(-30, 30)
		lines := rapid.SliceOfN(coordinate, 4, 12)
		a, b := lines.Draw(t, "a"), lines.Draw(t, "b")
		flat := around(line(0, 0))
		ones, others := flat.pieces(line(a...)), flat.pieces(line(b...))
		tolerance := rapid.Float64Range(0.5, 10).Draw(t, "tolerance")
		const samples = 1000
		want := 0.0
		for i := range ones {
			p := &ones[i]
			for k := range samples {
				s := (float64(k) + 0.5) / samples
				x, y := p.ax+s*(p.bx-p.ax), p.ay+s*(p.by-p.ay)
				if !within(x, y, others, tolerance) {
					want += p.length() / samples
				}
			}
		}
		// Each piece of the others makes at most two ends of an interval, and each end is off by at most one sample.
		slack := 1e-6
		for i := range ones {
			slack += ones[i].length() / samples * float64(2*len(others)+1)
		}
		if got := outside(ones, others, tolerance); math.Abs(got-want) > slack {
			t.Errorf("outside is %.4f, samples say %.4f", got, want)
		}
	})
}

// within reports whether a place is within a distance of any piece.
func within(x, y float64, pieces []piece, distance float64) bool {
	for i := range pieces {
		p := &pieces[i]
		dx, dy := p.bx-p.ax, p.by-p.ay
		s := 0.0
		if n := dx*dx + dy*dy; n > 0 {
			s = min(max(((x-p.ax)*dx+(y-p.ay)*dy)/n, 0), 1)
		}
		if math.Hypot(x-p.ax-s*dx, y-p.ay-s*dy) <= distance {
			return true
		}
	}
	return false
}

func BenchmarkOf(b *testing.B) {
	var xy []float64
	for i := range 1000 {
		xy = append(xy, float64(i)*10, 40*math.Sin(float64(i)/7))
	}
	truth := line(xy...)
	for b.Loop() {
		Of(truth, truth)
	}
}
