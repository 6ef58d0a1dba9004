package extract

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

func TestParseDuration(t *testing.T) {
	tests := []struct {
		value   string
		seconds int // 0: none
	}{
		{"25", 1500}, {"00:25", 1500}, {"1:20", 4800}, {"01:20:30", 4830}, {"00:00:45", 45}, {" 10 ", 600}, {"10;20", 600},
		{"26:00", 93_600}, {"PT1H20M", 4800}, {"PT20M", 1200}, {"PT90S", 90}, {"P1DT2H", 93_600}, {"pt5m", 300},
		{"", 0}, {"0", 0}, {"00:00", 0}, {"-5", 0}, {"soon", 0}, {"1:2:3:4", 0}, {"1:", 0}, {"P", 0}, {"PT", 0}, {"PT5", 0},
		{"PTM", 0}, {"P1Y", 0}, {"P8D", 0}, {"99999999", 0}, {"1.5", 0}, {"١٠", 0},
	}
	for _, test := range tests {
		if got := parseDuration(test.value); got != test.seconds {
			t.Errorf("%q: %d s, want %d", test.value, got, test.seconds)
		}
	}
}

// TestCrossings: a ferry and a shuttle train of three nodes, some 2.2 km long.
func TestCrossings(t *testing.T) {
	tests := []struct {
		tags  string
		nodes []int64
		speed uint8 // of all
	}{
		{"route=ferry", []int64{0, 1, 2}, 10},
		{"route=ferry duration=00:10", []int64{0, 1, 2}, 13},
		{"route=ferry duration=00:10 maxspeed=60", []int64{0, 1, 2}, 13},
		{"route=ferry duration=PT1H", []int64{0, 1, 2}, 2},
		{"route=ferry duration=99:00", []int64{0, 1, 2}, 1},
		{"route=ferry duration=00:00:10", []int64{0, 1, 2}, 200},
		{"route=ferry duration=later", []int64{0, 1, 2}, 10},
		{"route=ferry duration=00:10", []int64{0, 1, 999, 2, 3}, 10},
		{"route=shuttle_train", []int64{0, 1, 2}, 40},
		{"route=shuttle_train duration=00:02", []int64{0, 1, 2}, 67},
	}
	for _, test := range tests {
		s := sketch{nodes: grid(), ways: []sketchWay{{1, test.nodes, test.tags}}}
		d := s.read(t)
		if len(d.Roads) == 0 {
			t.Errorf("%s: no road", test.tags)
		}
		for _, r := range d.Roads {
			if !r.Ferry || r.Class != mapdata.Ferry || r.Forward != everyone || r.Backward != everyone {
				t.Errorf("%s: %+v", test.tags, r)
			}
			for _, speed := range []uint8{r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed} {
				if speed != test.speed {
					t.Errorf("%s: %d km/h, want %d", test.tags, speed, test.speed)
				}
			}
		}
	}
	s := sketch{nodes: grid(), ways: []sketchWay{{1, []int64{0, 1, 2}, "highway=residential duration=00:10"}}}
	if r := s.read(t).Roads[0]; r.SpeedForward != 30 || r.FootSpeed != 5 {
		t.Errorf("a street is not timed: %+v", r)
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"25", "00:25", "01:20:30", "PT1H20M", "P1DT2H", "::", "P9DT", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if s := parseDuration(value); s < 0 || s > longestCrossing {
			t.Errorf("%q: %d s", value, s)
		}
	})
}
