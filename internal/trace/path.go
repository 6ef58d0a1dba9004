package trace

import (
	"math"
)

// ParsePath reads the decoded value of the `path` parameter: [{lat,lng},{lat,lng}]. Each pair is two numbers or
// {"lat":…,"lng":…}, where lng may be called lon; the second form may have time and accuracy too. The points are
// appended to dst[:0], whose memory is reused. Reading stops at the first point beyond max. The error is an
// *InputError.
func ParsePath(dst []Point, text []byte, max int) ([]Point, error) {
	c := collector{points: dst[:0], max: max, name: "path"}
	r := reader{data: text, plus: true}
	readPath(&c, &r, true)
	r.End()
	if err := r.Err(); err != nil {
		c.fail(-1, err.Error())
	}
	return c.finish()
}

// readPath reads an array of points. bare allows the form of two numbers.
func readPath(c *collector, r *reader, bare bool) {
	if !r.Expect('[') {
		return
	}
	for first := true; r.More(']', &first); {
		if !c.room() {
			return
		}
		if !r.Expect('{') {
			break
		}
		if bare && r.Peek() != '"' {
			lat := r.Number()
			r.Expect(',')
			lon := r.Number()
			r.Expect('}')
			if r.Err() != nil {
				break
			}
			c.add(At(lat, lon))
		} else if p, problem := readPoint(r); problem != "" {
			c.fail(len(c.points), problem)
		} else if r.Err() == nil {
			c.add(p)
		}
		if c.err != nil {
			return
		}
	}
	if err := r.Err(); err != nil {
		c.fail(len(c.points), err.Error())
	}
}

// The members of a point, as bits.
const (
	memberLat = 1 << iota
	memberLng
	memberLon // another name for memberLng
	memberTime
	memberAccuracy
)

// readPoint reads the members of a point, after its opening brace. It ignores unknown members.
func readPoint(r *reader) (p Point, problem string) {
	p = At(math.NaN(), math.NaN())
	seen := 0
	for first := true; r.More('}', &first); {
		name := r.Name()
		member := 0
		switch string(name) {
		case "lat":
			member = memberLat
			p.Location[1] = r.Number()
		case "lng":
			member = memberLng
			p.Location[0] = r.Number()
		case "lon":
			member = memberLon
			p.Location[0] = r.Number()
		case "time":
			member = memberTime
			p.Time, problem = readTime(r)
		case "accuracy":
			member = memberAccuracy
			p.Accuracy, problem = readAccuracy(r)
		default:
			r.Skip()
		}
		switch {
		case r.Err() != nil:
			return p, ""
		case problem != "":
			return p, problem
		case seen&member != 0:
			return p, string(name) + " appears more than once"
		}
		seen |= member
	}
	switch {
	case r.Err() != nil:
	case seen&memberLat == 0:
		problem = "lat is missing"
	case seen&(memberLng|memberLon) == 0:
		problem = "lng is missing"
	case seen&memberLng != 0 && seen&memberLon != 0:
		problem = "lng: means the same as lon; only one of them is accepted"
	}
	return p, problem
}
