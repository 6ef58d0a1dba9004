package country

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/paulmach/orb"
)

// sample is a position and the country there by brute force on the full polygons, before they were cut and rounded:
// Natural Earth's after the generator's tables of territories and corrections. So it tests the grid, not Natural Earth.
type sample struct {
	point orb.Point
	code  string // "" for none
}

const samplesAnywhere = 10_000 // the rest lie within 20 km of a border or coast

func readSamples(t testing.TB) []sample {
	t.Helper()
	data, err := os.ReadFile("testdata/samples.bin")
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	for ; len(data) >= 9; data = data[9:] {
		s := sample{point: orb.Point{
			float64(int32(binary.LittleEndian.Uint32(data))) / 1e6,
			float64(int32(binary.LittleEndian.Uint32(data[4:]))) / 1e6,
		}}
		if n := data[8]; n > 0 {
			s.code = countries[n-1].Code
		}
		samples = append(samples, s)
	}
	if len(samples) <= samplesAnywhere {
		t.Fatalf("only %d samples", len(samples))
	}
	return samples
}

func TestLookupAgreesWithFullPolygons(t *testing.T) {
	samples := readSamples(t)
	for _, group := range []struct {
		name    string
		samples []sample
	}{
		{"anywhere", samples[:samplesAnywhere]},
		{"within 20 km of a border or coast", samples[samplesAnywhere:]},
	} {
		t.Run(group.name, func(t *testing.T) {
			differ, onLand := 0, 0
			for _, s := range group.samples {
				got, _ := Lookup(s.point)
				if got.Code != s.code {
					differ++
					t.Logf("%v: got %q, the full polygons have %q", s.point, got.Code, s.code)
				}
				if s.code != "" {
					onLand++
				}
			}
			agree := 1 - float64(differ)/float64(len(group.samples))
			t.Logf("%d samples, %d on land, %.3f%% agree", len(group.samples), onLand, 100*agree)
			if agree < 0.999 {
				t.Errorf("%.3f%% agree, want at least 99.9%%", 100*agree)
			}
			if onLand < len(group.samples)/5 {
				t.Errorf("only %d of %d samples are on land", onLand, len(group.samples))
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	samples := readSamples(b)
	for _, bench := range []struct {
		name    string
		samples []sample
	}{
		{"Anywhere", samples[:samplesAnywhere]},
		{"NearBorder", samples[samplesAnywhere:]},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				Lookup(bench.samples[i%len(bench.samples)].point)
			}
		})
	}
}
