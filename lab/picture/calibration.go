package picture

import (
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/lab/accuracy"
)

// Size of a calibration plot, in pixels.
const (
	plotSize   = 420.0
	plotLeft   = 70.0
	plotTop    = 60.0
	plotWidth  = plotLeft + plotSize + 30
	plotHeight = plotTop + plotSize + 70
)

// Calibration draws confidence against what was right: one point a bin, with the bin's confidences as a bar, and the
// diagonal that a perfect confidence lies on. Both axes begin where the lowest value lies.
func Calibration(title string, bins []accuracy.Bin) []byte {
	d := newDocument(plotWidth, plotHeight, title)
	low := 1.0
	drives := 0
	for i := range bins {
		low = min(low, bins[i].Low, bins[i].Right)
		drives += bins[i].Drives
	}
	low = max(0, math.Floor(low*10-0.01)/10)
	low = min(low, 0.9)
	x := func(v float64) float64 { return plotLeft + (v-low)/(1-low)*plotSize }
	y := func(v float64) float64 { return plotTop + plotSize - (v-low)/(1-low)*plotSize }

	d.text(plotWidth/2, 26, 16, "middle", "#222222", title)
	d.text(plotWidth/2, 46, 12, "middle", "#666666", fmt.Sprintf(
		"%d drives in %d bins of equal size; mean difference %.3f", drives, len(bins), accuracy.CalibrationError(bins)))
	for _, tick := range ticks(low) {
		d.line(`stroke="#e4e4e4"`, x(tick), y(low), x(tick), y(1))
		d.line(`stroke="#e4e4e4"`, x(low), y(tick), x(1), y(tick))
		d.text(x(tick), y(low)+18, 12, "middle", "#444444", fmt.Sprintf("%.2f", tick))
		d.text(x(low)-8, y(tick)+4, 12, "end", "#444444", fmt.Sprintf("%.2f", tick))
	}
	d.line(`stroke="#999999" stroke-dasharray="5 4"`, x(low), y(low), x(1), y(1))
	d.rectangle(x(low), y(1), plotSize, plotSize, `fill="none" stroke="#444444"`)
	var path []float64
	for i := range bins {
		b := &bins[i]
		d.line(`stroke="#8db7e8" stroke-width="2"`, x(b.Low), y(b.Right), x(b.High), y(b.Right))
		path = append(path, x(b.Confidence), y(b.Right))
	}
	d.line(`stroke="#1f6fc5" stroke-width="1.5"`, path...)
	for i := range bins {
		d.circle(x(bins[i].Confidence), y(bins[i].Right), 4, `fill="#1f6fc5" stroke="#ffffff"`)
	}
	d.text(x((1+low)/2), y(low)+42, 13, "middle", "#222222", "confidence of the answer")
	d.open(fmt.Sprintf(`transform="translate(20 %s) rotate(-90)"`, number(y((1+low)/2))))
	d.text(0, 0, 13, "middle", "#222222", "share that was right")
	d.close()
	return d.end()
}

// ticks are the labelled values of an axis from low to 1: about five.
func ticks(low float64) []float64 {
	step := 0.02
	for _, s := range []float64{0.05, 0.1, 0.2} {
		if (1-low)/step > 6 {
			step = s
		}
	}
	var out []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= 1+1e-9; i++ {
		out = append(out, i*step)
	}
	return out
}
