package accuracy

import (
	"cmp"
	"math"
	"slices"
)

// Bin is a group of drives of similar confidence.
type Bin struct {
	Low, High  float64 // of the confidences in it
	Confidence float64 // their mean
	Right      float64 // the mean of what was right in truth, 0 to 1
	Drives     int
}

// Calibrate sorts drives by the confidence of their answers into n bins of the same size, and compares it with what was
// right. Lost drives and those of a service that does not know its confidence (NaN) are left out; fewer drives than
// bins make fewer bins.
func Calibrate(outcomes []Outcome, n int) []Bin {
	answered := slices.DeleteFunc(slices.Clone(outcomes), func(o Outcome) bool {
		return o.Lost || math.IsNaN(o.Confidence)
	})
	slices.SortStableFunc(answered, func(a, b Outcome) int { return cmp.Compare(a.Confidence, b.Confidence) })
	n = min(n, len(answered))
	bins := make([]Bin, n)
	for i := range bins {
		part := answered[len(answered)*i/n : len(answered)*(i+1)/n]
		b := &bins[i]
		b.Low, b.High, b.Drives = part[0].Confidence, part[len(part)-1].Confidence, len(part)
		for k := range part {
			b.Confidence += part[k].Confidence / float64(len(part))
			b.Right += part[k].Right() / float64(len(part))
		}
	}
	return bins
}

// CalibrationError is the expected difference between confidence and what is right: the mean over the drives of their
// bin's difference. 0 is perfect.
func CalibrationError(bins []Bin) float64 {
	sum, drives := 0.0, 0
	for i := range bins {
		sum += math.Abs(bins[i].Confidence-bins[i].Right) * float64(bins[i].Drives)
		drives += bins[i].Drives
	}
	return sum / float64(max(1, drives))
}
