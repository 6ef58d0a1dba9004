package trace

import (
	"bytes"
	"errors"
	"slices"
)

// Format is a format of traces.
type Format struct {
	Name  string // for messages
	Media string // the media type

	parse func(dst []Point, body []byte, max int, meter Meter) (Document, error)
}

var (
	jsonFormat = &Format{"JSON with a path", "application/json",
		func(dst []Point, body []byte, max int, _ Meter) (Document, error) { return ParseJSON(dst, body, max) }}
	gpxFormat     = &Format{"GPX", "application/gpx+xml", points(ParseGPX)}
	geoJSONFormat = &Format{"GeoJSON", "application/geo+json",
		points(func(dst []Point, body []byte, max int, _ Meter) ([]Point, error) { return ParseGeoJSON(dst, body, max) })}
	csvFormat = &Format{"CSV", "text/csv", points(ParseCSV)}
)

// Formats lists all formats.
var Formats = []*Format{jsonFormat, gpxFormat, geoJSONFormat, csvFormat}

func points(parse func([]Point, []byte, int, Meter) ([]Point, error)) func([]Point, []byte, int, Meter) (
	Document, error) {
	return func(dst []Point, body []byte, max int, meter Meter) (Document, error) {
		points, err := parse(dst, body, max, meter)
		return Document{Points: points}, err
	}
}

// Read reads a trace of the format, of at most max points. The points are appended to dst[:0]. The error is an
// *InputError, which names the format of a text that has another one, or that of meter, which may be nil.
func (f *Format) Read(dst []Point, text []byte, max int, meter Meter) (Document, error) {
	doc, err := f.parse(dst, text, max, meter)
	if _, wrong := errors.AsType[*InputError](err); !wrong {
		return doc, err
	}
	if err := spend(meter, len(text)); err != nil {
		return doc, err
	}
	switch other := recognize(text); {
	case other == nil && isBinary(text):
		err = &InputError{Parameter: "body", Point: -1, Problem: noTrace}
	case other != nil && other != f:
		err = &InputError{Parameter: "body", Point: -1,
			Problem: "is " + other.Name + "; send it with Content-Type " + other.Media}
	}
	return doc, err
}

// Parse reads a trace whose format it recognizes by the content. Parameters and errors are those of Format.Read.
func Parse(dst []Point, text []byte, max int, meter Meter) (Document, error) {
	if err := spend(meter, len(text)); err != nil {
		return Document{}, err
	}
	if f := recognize(text); f != nil {
		return f.parse(dst, text, max, meter)
	}
	return Document{}, &InputError{Parameter: "trace", Point: -1, Problem: noTrace}
}

const noTrace = "is neither GPX nor GeoJSON nor CSV nor JSON with a path"

func spend(meter Meter, bytes int) error {
	if meter == nil {
		return nil
	}
	return meter.Spend(ParseWork(bytes))
}

// recognize returns the format that a text seems to have, or nil.
func recognize(text []byte) *Format {
	text = bytes.TrimLeft(withoutBOM(text), " \t\r\n")
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	switch {
	case len(text) == 0 || isBinary(text):
	case text[0] == '<':
		if bytes.Contains(text, []byte("gpx")) {
			return gpxFormat
		}
	case text[0] == '{':
		kind, _, path := outline(text)
		switch {
		case path:
			return jsonFormat
		case kind == lineString, kind == "Feature", kind == "FeatureCollection", slices.Contains(otherGeometries, kind):
			return geoJSONFormat
		}
	case bytes.IndexByte(line, ',') > 0 && !bytes.ContainsAny(line, "{["):
		return csvFormat
	}
	return nil
}

// isBinary reports whether something is no text, such as a FIT file.
func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), 1024)], 0) >= 0 }

// otherGeometries are the types of GeoJSON that are no trace.
var otherGeometries = []string{
	"Point", "MultiPoint", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection",
}

// outline returns the type of an object in GeoJSON and that of its geometry, and whether it has a path, which ends the
// reading. It stops at a syntax error.
func outline(object []byte) (kind, geometry string, path bool) {
	r := newReader(object)
	read := func(into *string, other func(name string)) {
		r.Expect('{')
		for first := true; !path && r.More('}', &first); {
			if name := string(r.Name()); name == "type" && r.Peek() == '"' {
				*into = string(r.String())
			} else {
				other(name)
			}
		}
	}
	read(&kind, func(name string) {
		switch {
		case name == "geometry" && r.Peek() == '{':
			read(&geometry, func(string) { r.Skip() })
		case name == "path":
			path = true
		default:
			r.Skip()
		}
	})
	return kind, geometry, path
}
