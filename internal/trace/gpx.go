package trace

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxXMLDepth limits the nesting of elements. GPX itself needs five; extensions add some.
const maxXMLDepth = 64

// maxTimeText is longer than any date and time, in bytes.
const maxTimeText = 256

// ParseGPX reads a GPX document, 1.0 or 1.1: the track points of all tracks and segments in order or, if there are
// none, the route points. Everything else is ignored; a dilution of precision is not an accuracy in metres. The points
// are appended to dst[:0]; reading stops at the first point beyond max. The error is an *InputError, or that of meter,
// which may be nil.
func ParseGPX(dst []Point, body []byte, max int, meter Meter) ([]Point, error) {
	guard := newXMLGuard(body, meter)
	g := gpx{decoder: xml.NewDecoder(guard), guard: guard}
	g.decoder.CharsetReader = guard.charset
	g.track = collector{points: dst[:0], max: max, name: "trkpt"}
	g.route = collector{max: max, name: "rtept"}
	if err := g.read(); err != nil {
		return nil, err
	}
	if len(g.track.points) > 0 || g.track.err != nil {
		return g.track.finish()
	}
	if len(g.route.points) == 0 && g.route.err == nil {
		return nil, &InputError{Parameter: "gpx", Point: -1, Problem: "it has no track points and no route points"}
	}
	return g.route.finish()
}

// gpx is a document being read.
type gpx struct {
	decoder      *xml.Decoder
	guard        *xmlGuard
	track, route collector

	begun  bool // the root element has been seen
	depth  int
	target *collector // of the current point; nil between points
	point  Point
	level  int // depth of the point's element
	text   []byte
	inTime bool
}

func (g *gpx) read() error {
	for {
		token, err := g.decoder.Token()
		if err == io.EOF {
			if !g.begun {
				return &InputError{Parameter: "gpx", Point: -1, Problem: "the document is empty"}
			}
			return nil
		}
		if err != nil {
			return g.failed(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			err = g.start(token)
		case xml.EndElement:
			err = g.end()
		case xml.CharData:
			if g.inTime && len(g.text) <= maxTimeText {
				g.text = append(g.text, token[:min(len(token), maxTimeText+1)]...)
			}
		}
		if err != nil {
			return err
		}
		if g.track.err != nil { // errors of route points count only if there is no track point
			return g.track.err
		}
	}
}

func (g *gpx) failed(err error) error {
	if g.guard.stopped != nil {
		return g.guard.stopped
	}
	return &InputError{Parameter: "gpx", Point: -1, Problem: "not well-formed XML: " + xmlProblem(err)}
}

func xmlProblem(err error) string {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("%s in line %d", syntax.Msg, syntax.Line)
	}
	return err.Error()
}

func (g *gpx) start(e xml.StartElement) error {
	g.depth++
	g.begun = true
	switch {
	case g.depth > maxXMLDepth:
		return &InputError{Parameter: "gpx", Point: -1, Problem: "elements are nested too deeply"}
	case g.depth == 1 && e.Name.Local != "gpx":
		return &InputError{Parameter: "gpx", Point: -1, Problem: "the document is not GPX"}
	case g.target == nil && e.Name.Local == "trkpt":
		g.begin(&g.track, e.Attr)
	case g.target == nil && e.Name.Local == "rtept":
		g.begin(&g.route, e.Attr)
	case g.target != nil && g.depth == g.level+1 && e.Name.Local == "time":
		g.inTime, g.text = true, g.text[:0]
	}
	return nil
}

func (g *gpx) begin(target *collector, attributes []xml.Attr) {
	g.target, g.level, g.point = target, g.depth, At(math.NaN(), math.NaN())
	if !target.room() {
		return
	}
	hasLat, hasLon := false, false
	for _, a := range attributes {
		var coordinate *float64
		switch a.Name.Local {
		case "lat":
			coordinate, hasLat = &g.point.Location[1], true
		case "lon":
			coordinate, hasLon = &g.point.Location[0], true
		default:
			continue
		}
		v, ok := parseDecimal(a.Value)
		if !ok {
			target.fail(len(target.points), a.Name.Local+" is not a number")
		}
		*coordinate = v
	}
	switch {
	case !hasLat:
		target.fail(len(target.points), "lat is missing")
	case !hasLon:
		target.fail(len(target.points), "lon is missing")
	}
}

func (g *gpx) end() error {
	g.depth--
	switch {
	case g.target == nil:
	case g.inTime && g.depth == g.level:
		g.inTime = false
		t, ok := parseXMLTime(strings.TrimSpace(string(g.text)))
		if !ok {
			g.target.fail(len(g.target.points), "time is not an ISO 8601 date and time")
		}
		g.point.Time = unixSeconds(t)
	case g.depth < g.level:
		if g.target.err == nil {
			g.target.add(g.point)
		}
		g.target = nil
	}
	return nil
}

// parseDecimal reads an xsd:decimal, optionally with an exponent.
func parseDecimal(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789+-.eE") != "" { // ParseFloat also accepts hexadecimal, underscores, NaN
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil
}

// parseXMLTime reads an xsd:dateTime. Without a zone it is in UTC, as GPX says.
func parseXMLTime(text string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, true
	}
	t, err := time.Parse("2006-01-02T15:04:05", text) // a fraction of the seconds is taken too
	return t, err == nil
}
