package trace

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// MinPoints is the least number of points of a trace.
const MinPoints = 2

// Unix seconds of the years 1 and 9999, the range of RFC 3339. A time in milliseconds lies outside it.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

// collector collects the points of one input and its first error.
type collector struct {
	points []Point
	max    int
	name   string // of the parameter, in errors
	err    error
}

// fail keeps the first error. It is about a point or, if point is negative, the whole input.
func (c *collector) fail(point int, problem string) {
	if c.err == nil {
		c.err = &InputError{Parameter: c.name, Point: point, Problem: problem}
	}
}

// room reports whether another point may follow.
func (c *collector) room() bool {
	if c.err == nil && len(c.points) >= c.max {
		c.fail(-1, fmt.Sprintf("more than %d points", c.max))
	}
	return c.err == nil
}

// add adds a point. Call room first.
func (c *collector) add(p Point) {
	if problem := outside(p.Location[1], p.Location[0]); problem != "" {
		c.fail(len(c.points), problem)
		return
	}
	c.points = append(c.points, p)
}

// finish returns the points, or an error if there are too few.
func (c *collector) finish() ([]Point, error) {
	if c.err == nil && len(c.points) < MinPoints {
		c.fail(-1, fmt.Sprintf("at least %d points are needed, and it has %d", MinPoints, len(c.points)))
	}
	return c.points, c.err
}

// outside describes a coordinate that is out of range; "" if none is.
func outside(lat, lon float64) string {
	switch {
	case !(lat >= -90 && lat <= 90):
		return "latitude " + shortest(lat) + " is not in -90 to 90"
	case !(lon >= -180 && lon <= 180):
		return "longitude " + shortest(lon) + " is not in -180 to 180"
	}
	return ""
}

func shortest(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// readTime reads a time: RFC 3339 in a string, Unix seconds as a number, or null for none.
func readTime(r *reader) (seconds float64, problem string) {
	switch r.Peek() {
	case 'n':
		r.Null()
		return math.NaN(), ""
	case '"':
		text := r.String()
		var t time.Time
		if r.Err() == nil && t.UnmarshalText(text) != nil {
			return 0, "time is neither RFC 3339 nor Unix seconds"
		}
		return unixSeconds(t), ""
	}
	seconds = r.Number()
	if r.Err() == nil && !(seconds >= firstSecond && seconds <= lastSecond) {
		return 0, "time " + shortest(seconds) + " is not in Unix seconds"
	}
	return seconds, ""
}

func unixSeconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// readAccuracy reads a standard deviation in metres, or null for none.
func readAccuracy(r *reader) (metres float64, problem string) {
	if r.Peek() == 'n' {
		r.Null()
		return math.NaN(), ""
	}
	metres = r.Number()
	if r.Err() == nil && !(metres > 0 && metres <= math.MaxFloat64) {
		return 0, "accuracy " + shortest(metres) + " is not a positive number of metres"
	}
	return metres, ""
}
