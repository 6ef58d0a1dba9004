package trace

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// hostile are documents of about a size that are made to cost more than they are worth.
func hostile(size int) map[string]struct {
	body  func() []byte
	parse func([]byte) ([]Point, error)
} {
	// Each is made when it is needed: the more there is on the heap, the more garbage is left lying.
	fill := func(head, part, tail string) func() []byte {
		return func() []byte {
			return []byte(head + strings.Repeat(part, (size-len(head)-len(tail))/len(part)) + tail)
		}
	}
	asGPX := func(body []byte) ([]Point, error) { return ParseGPX(nil, body, 10000, nil) }
	asJSON := func(body []byte) ([]Point, error) {
		doc, err := ParseJSON(nil, body, 10000)
		return doc.Points, err
	}
	asGeoJSON := func(body []byte) ([]Point, error) { return ParseGeoJSON(nil, body, 10000) }
	asCSV := func(body []byte) ([]Point, error) { return ParseCSV(nil, body, 10000, nil) }
	asPath := func(body []byte) ([]Point, error) { return ParsePath(nil, body, 10000) }
	point := `<trkpt lat="1" lon="1"><time>2026-01-01T00:00:00Z</time></trkpt>`
	return map[string]struct {
		body  func() []byte
		parse func([]byte) ([]Point, error)
	}{
		"attributes":       {fill(`<gpx `, `a="" `, `/>`), asGPX},
		"behind a comment": {fill(`<gpx><!-- > <x " --><a b=">" `, `a="" `, `/></gpx>`), asGPX},
		"declarations":     {fill(`<?xml version="1.0"?>`, `<?xml version="1.0" encoding="latin1"?>`, `<gpx/>`), asGPX},
		"namespaces":       {fill(`<gpx>`, `<a xmlns:b="c" xmlns:d="e" xmlns="f"/>`, `</gpx>`), asGPX},
		"points":           {fill(`<gpx>`, point, `</gpx>`), asGPX},

		"members":      {fill(`{"path":[],`, `"a":1,`, `"b":1}`), asJSON},
		"numbers":      {fill(`{"path":[],"a":[`, `1,`, `1]}`), asJSON},
		"empty points": {fill(`{"path":[`, `{},`, `{}]}`), asJSON},

		"coordinates": {fill(`{"type":"LineString","coordinates":[`, `[1,1],`, `[1,1]]}`), asGeoJSON},
		"times":       {fill(`{"type":"Feature","properties":{"coordTimes":[`, `1,`, `1]}}`), asGeoJSON},

		"a header": {fill(`lat,lng`, `,`, ``), asCSV},
		"a row":    {fill("lat,lng\n1,1", `,`, ``), asCSV},

		"a path": {fill(`[`, `{1,1},`, `{1,1}]`), asPath},
	}
}

// TestHostile: reading any document takes no more than a few times its size.
func TestHostile(t *testing.T) {
	const size, factor = 1 << 20, 8 // garbage that is not collected yet included
	for name, doc := range hostile(size) {
		body := doc.body()
		var err error
		used := testkit.PeakHeap(func() { _, err = doc.parse(body) })
		if used > factor*size {
			t.Errorf("%s: reading %d KB takes %d KB", name, size>>10, used>>10)
		}
		var input *InputError
		if err == nil || !errors.As(err, &input) {
			t.Errorf("%s: the error is %v", name, err)
			continue
		}
		if text := err.Error(); len(text) > 200 {
			t.Errorf("%s: an error of %d bytes: %.100s", name, len(text), text)
		}
	}
}

// TestManyAttributes: as many attributes as in any GPX are read, in any place.
func TestManyAttributes(t *testing.T) {
	with := func(n int) string {
		return `<gpx xmlns="http://www.topografix.com/GPX/1/1" a="x=y&gt;" ` + strings.Repeat(`b='=>' `, n-2) + `>` +
			`<trk><name>1 = 1, 2 &lt; 3, "=" '='</name><!-- <a = " -->` +
			`<trkseg><trkpt lat="1" lon="2"/><trkpt lat = "1" lon = "3"/></trkseg></trk></gpx>`
	}
	points, err := ParseGPX(nil, []byte(with(maxAttributes)), 10, nil)
	if err != nil || len(points) != 2 {
		t.Errorf("%d points, error %v", len(points), err)
	}
	if _, err := ParseGPX(nil, []byte(with(maxAttributes+1)), 10, nil); err == nil ||
		!strings.Contains(err.Error(), "attributes") {
		t.Errorf("the error is %v", err)
	}
	encoded := append([]byte(`<?xml version="1.0" encoding="ISO-8859-1"?>`),
		bytes.ReplaceAll([]byte(with(5)), []byte("1 = 1"), []byte("\xe4"))...)
	if points, err = ParseGPX(nil, encoded, 10, nil); err != nil || len(points) != 2 {
		t.Errorf("in another encoding: %d points, error %v", len(points), err)
	}
}

type stopAfter struct{ left int64 }

var errStop = errors.New("stop")

func (s *stopAfter) Spend(work int64) error {
	if s.left -= work; s.left < 0 {
		return errStop
	}
	return nil
}

// TestMetered: reading ends when its meter says so.
func TestMetered(t *testing.T) {
	table := "lat,lng\n" + strings.Repeat("1,1\n", 100_000)
	if _, err := ParseCSV(nil, []byte(table), 1_000_000, &stopAfter{left: 10 * csvWork}); !errors.Is(err, errStop) {
		t.Errorf("CSV: %v", err)
	}
	document := `<gpx>` + strings.Repeat(`<a/>`, 100_000) + `</gpx>`
	if _, err := ParseGPX(nil, []byte(document), 10, &stopAfter{left: 10 * meteredWork}); !errors.Is(err, errStop) {
		t.Errorf("GPX: %v", err)
	}
}
