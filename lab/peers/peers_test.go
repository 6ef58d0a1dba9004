package peers

import (
	"math"
	"testing"

	"github.com/mapsedge/caddy-maps/lab/drives"
)

func TestBars(t *testing.T) {
	for _, tt := range []struct {
		table           Table
		sigma, interval float64
		want            float64
	}{
		{GivenDrives, 4, 1, 0.006375},       // 0.75 of 0.0085
		{GivenDrives, 4, 5, 0.0025},         // 0.75 of 0.0029 is less
		{GivenDrives, 4, 15, 0.00345},       // 0.75 of 0.0046
		{GivenDrives, 10, 1, 0.020},         // 0.75 of 0.204 is more than a dense trace may have
		{GivenDrives, 20, 5, 0.040},         // likewise
		{GivenDrives, 20, 15, 0.023775},     // no such bound at 15 s
		{GivenDrives, 10, 30, 0.01953},      // 0.9 of 0.0217
		{GivenDrives, 4, 60, 0.04796},       // 1.1 of 0.0436
		{OtherDrives, 4, 1, 0.0025},         // 0.75 of 0.0025 is less
		{OtherDrives, 10, 15, 0.011625},     // Valhalla is the better one
		{OtherDrives, 20, 60, 0.0888 * 1.1}, // OSRM is
	} {
		got, ok := tt.table.Bar(drives.Cell{Sigma: tt.sigma, Interval: tt.interval})
		if !ok || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("the bar at σ %v m and %v s is %v, want %v", tt.sigma, tt.interval, got, tt.want)
		}
	}
	if _, ok := GivenDrives.Bar(drives.Cell{Sigma: 5, Interval: 1}); ok {
		t.Error("there is a bar for a cell without figures")
	}
}

func TestMean(t *testing.T) {
	if m := OtherDrives.Mean(); math.Abs(m.OSRM-5.7877/15) > 1e-4 || math.Abs(m.Valhalla-1.7169/15) > 1e-4 {
		t.Errorf("the means are %+v", m)
	}
}
