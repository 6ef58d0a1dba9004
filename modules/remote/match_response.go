package remote

import (
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Read reads a whole document that answers a request for so many points. Its error is one of package upstream.
func Read(body []byte, points int) (*Document, error) {
	var read struct {
		Code        string       `json:"code"`
		Message     string       `json:"message"`
		ErrorCode   int          `json:"error_code"`
		Matchings   []part       `json:"matchings"`
		Tracepoints []tracepoint `json:"tracepoints"`
	}
	err := json.Unmarshal(body, &read, json.WithUnmarshalers(json.JoinUnmarshalers(
		Positions, AtMost[part](points), AtMost[tracepoint](points))))
	if err != nil {
		return nil, InvalidResponse("%v", err)
	}
	return &Document{read.Code, read.Message, read.ErrorCode, read.Matchings, read.Tracepoints}, nil
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *part) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var read struct {
		Confidence *float64 `json:"confidence"`
		Duration   float64  `json:"duration"`
		Geometry   geometry `json:"geometry"`
	}
	err := json.UnmarshalDecode(dec, &read)
	*p = part{path: orb.LineString(read.Geometry), duration: read.Duration, confidence: math.NaN()}
	if read.Confidence != nil {
		p.confidence = min(max(*read.Confidence, 0), 1)
	}
	return err
}

// geometry is encoded as a polyline of six decimals, which is asked for, or as GeoJSON, which proxies and other
// services that speak OSRM's protocol may send all the same. A malformed polyline is an empty line.
type geometry orb.LineString

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (g *geometry) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == jsontext.KindString {
		token, err := dec.ReadToken()
		points, _ := geo.DecodePolyline([]byte(token.String()), geo.Polyline6)
		*g = geometry(points)
		return err
	}
	var read struct {
		Coordinates []orb.Point `json:"coordinates"`
	}
	err := json.UnmarshalDecode(dec, &read)
	*g = read.Coordinates
	return err
}

// nowhere is a part that no response has.
const nowhere = math.MaxInt32

// UnmarshalJSONFrom implements json.UnmarshalerFrom. A point that was left out is null.
func (p *tracepoint) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = tracepoint{part: -1}
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	index := nowhere
	read := struct {
		Part     *int      `json:"matchings_index"`
		Location orb.Point `json:"location"`
		Name     string    `json:"name"`
	}{Part: &index, Location: orb.Point{math.NaN(), math.NaN()}}
	err := json.UnmarshalDecode(dec, &read)
	p.location, p.name = read.Location, read.Name
	if read.Part != nil {
		if p.part = index; index < 0 {
			p.part = nowhere
		}
	}
	return err
}
