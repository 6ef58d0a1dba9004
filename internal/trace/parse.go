package trace

import (
	"bytes"
)

// Parse reads GPX, GeoJSON, CSV or the JSON of a request. It recognizes the format by the content. The error is an
// *InputError.
func Parse(text []byte, max int) (Document, error) {
	body := bytes.TrimLeft(withoutBOM(text), " \t\r\n")
	if len(body) > 0 && body[0] == '<' {
		points, err := ParseGPX(nil, text, max, nil)
		return Document{Points: points}, err
	}
	if isTable(body) {
		points, err := ParseCSV(nil, text, max, nil)
		return Document{Points: points}, err
	}
	if len(body) == 0 || body[0] != '{' {
		return Document{}, &InputError{Parameter: "trace", Point: -1,
			Problem: "neither GPX nor GeoJSON nor CSV nor JSON with a path"}
	}
	if hasMember(body, "path") {
		return ParseJSON(nil, text, max)
	}
	points, err := ParseGeoJSON(nil, text, max)
	return Document{Points: points}, err
}

// isTable reports whether a text begins with a line of several cells, like the header of CSV, and no JSON bracket.
func isTable(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return bytes.IndexByte(line, ',') > 0 && line[0] != '{' && line[0] != '['
}

// hasMember reports whether an object has a member of this name. It stops at a syntax error.
func hasMember(object []byte, name string) bool {
	r := newReader(object)
	r.Expect('{')
	for first := true; r.More('}', &first); r.Skip() {
		if string(r.Name()) == name {
			return true
		}
	}
	return false
}
