package remote

import (
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// ReadMatchResponse reads the response to a request for so many points. The error is an InvalidResponse.
func ReadMatchResponse(body []byte, points int) (*MatchResponse, error) {
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
	return &MatchResponse{read.Code, read.Message, read.ErrorCode, read.Matchings, read.Tracepoints}, nil
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

// geometry is a polyline of six decimals, as requested, or GeoJSON, which some compatible services send. A malformed
// polyline is an empty line.
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

// noPart is the index of a part that no response has.
const noPart = math.MaxInt32

// UnmarshalJSONFrom implements json.UnmarshalerFrom. An unmatched point is null.
func (p *tracepoint) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = tracepoint{part: -1}
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	index := noPart
	read := struct {
		Part     *int      `json:"matchings_index"`
		Location orb.Point `json:"location"`
		Name     string    `json:"name"`
	}{Part: &index, Location: orb.Point{math.NaN(), math.NaN()}}
	err := json.UnmarshalDecode(dec, &read)
	p.location, p.name = read.Location, read.Name
	if read.Part != nil {
		if p.part = index; index < 0 {
			p.part = noPart
		}
	}
	return err
}
