package trace

import (
	"bytes"
)

// Document is a JSON request body: a trace, and other parameters if the body has them.
type Document struct {
	Points  []Point
	Radius  *float64
	Details *bool
	Format  *string
	Profile *string
}

// ParseJSON reads a body
//
//	{"path":[{"lat","lng","time"?,"accuracy"?},…],"radius"?,"details"?,"format"?,"profile"?}
//
// with lon as another name for lng, time in RFC 3339 or Unix seconds and accuracy as standard deviation in metres.
// Unknown members are ignored. The points are appended to dst[:0]; reading stops at the first point beyond max. The
// values of other parameters are not checked. The error is an *InputError.
func ParseJSON(dst []Point, body []byte, max int) (Document, error) {
	var doc Document
	r := newReader(withoutBOM(body))
	c := collector{points: dst[:0], max: max, name: "path"}
	found := false
	r.Expect('{')
	for first := true; r.Err() == nil && r.More('}', &first); {
		name := string(r.Name())
		again, kind := false, ""
		switch name {
		case "path":
			again, found = found, true
			if again {
				break
			}
			if r.Peek() != '[' {
				kind = "an array of points"
				break
			}
			if readPath(&c, r, false); c.err != nil {
				return doc, c.err
			}
		case "radius":
			again = doc.Radius != nil
			if c := r.Peek(); c != '-' && (c < '0' || c > '9') {
				kind = "a number"
				break
			}
			v := r.Number()
			doc.Radius = &v
		case "details":
			again = doc.Details != nil
			if c := r.Peek(); c != 't' && c != 'f' {
				kind = "true or false"
				break
			}
			v := r.Bool()
			doc.Details = &v
		case "format":
			again = doc.Format != nil
			if r.Peek() != '"' {
				kind = "a string"
				break
			}
			v := string(r.String())
			doc.Format = &v
		case "profile":
			again = doc.Profile != nil
			if r.Peek() != '"' {
				kind = "a string"
				break
			}
			v := string(r.String())
			doc.Profile = &v
		default:
			r.Skip()
		}
		switch {
		case r.Err() != nil:
		case again:
			return doc, &InputError{Parameter: name, Point: -1, Problem: "appears more than once"}
		case kind != "":
			return doc, &InputError{Parameter: name, Point: -1, Problem: "must be " + kind}
		}
	}
	r.End()
	if err := r.Err(); err != nil {
		return doc, &InputError{Parameter: "body", Point: -1, Problem: "not the JSON of a trace: " + err.Error()}
	}
	if !found {
		return doc, &InputError{Parameter: "path", Point: -1, Problem: "is missing"}
	}
	var err error
	doc.Points, err = c.finish()
	return doc, err
}

// withoutBOM removes a byte order mark.
func withoutBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }
