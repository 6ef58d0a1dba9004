package answer

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

// AppendPlaces appends the result of a reverse geocoding request as JSON, with the requested position.
func AppendPlaces(dst []byte, query orb.Point, r *geocoding.Result) []byte {
	const queryDecimals = 6
	dst = append(dst, `{"data":{"query":"`...)
	dst = text.AppendFixed(dst, query[1], queryDecimals)
	dst = append(dst, ',')
	dst = text.AppendFixed(dst, query[0], queryDecimals)
	return appendPlaces(append(dst, '"'), r, true, false)
}

// AppendSearch appends the result of a search as JSON, with the text that was searched. Distances are there if the
// query has a position, and scores if explain asks for them and the engine tells them.
func AppendSearch(dst []byte, q *geocoding.Query, r *geocoding.Result, explain bool) []byte {
	dst = append(dst, `{"data":{"query":`...)
	return appendPlaces(appendString(dst, q.Text), r, q.Near != nil, explain)
}

// AppendSimplePlaces appends places in the short form of the origin service's older paths.
func AppendSimplePlaces(dst []byte, r *geocoding.Result) []byte {
	dst = append(dst, `{"msg":"ok","data":[`...)
	before := len(dst)
	for i := range r.Places {
		p := &r.Places[i]
		if p.Name == "" {
			continue
		}
		if len(dst) > before {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"name":`...)
		dst = appendString(dst, p.Name)
		dst = append(dst, `,"latitude":`...)
		dst = text.AppendFixed(dst, p.Location[1], coordinateDecimals)
		dst = append(dst, `,"longitude":`...)
		dst = text.AppendFixed(dst, p.Location[0], coordinateDecimals)
		dst = append(dst, `,"Country":`...)
		dst = appendString(dst, p.Address.Country)
		dst = append(dst, `,"City":`...)
		dst = appendString(dst, p.Address.City)
		dst = append(dst, `,"type":`...)
		dst = append(appendString(dst, p.Type), '}')
	}
	return append(dst, `]}`...)
}

func appendPlaces(dst []byte, r *geocoding.Result, distances, explain bool) []byte {
	dst = append(dst, `,"results":[`...)
	for i := range r.Places {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendPlace(dst, &r.Places[i], distances, explain)
	}
	return append(dst, `]}}`...)
}

func appendPlace(dst []byte, p *geocoding.Place, distance, explain bool) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, p.ID)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, p.Name)
	dst = append(dst, `,"display_name":`...)
	dst = appendString(dst, p.DisplayName)
	dst = append(dst, `,"category":`...)
	dst = appendString(dst, p.Category)
	dst = append(dst, `,"type":`...)
	dst = appendString(dst, p.Type)
	if distance {
		dst = append(dst, `,"distance":`...)
		dst = text.AppendRounded(dst, p.Distance, distanceDecimals)
	}
	dst = append(dst, `,"location":{"lat":`...)
	dst = text.AppendFixed(dst, p.Location[1], coordinateDecimals)
	dst = append(dst, `,"lng":`...)
	dst = text.AppendFixed(dst, p.Location[0], coordinateDecimals)
	dst = append(dst, `},"address":`...)
	dst = appendAddress(dst, &p.Address)
	if p.Shape != nil {
		dst = append(dst, `,"geometry":{"type":"MultiLineString","coordinates":[`...)
		for i, line := range p.Shape {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendLine(dst, line, appendLngLat)
		}
		dst = append(dst, `]}`...)
	}
	if explain && p.Score != (geocoding.Score{}) {
		dst = append(dst, `,"score":{"total":`...)
		dst = text.AppendRounded(dst, p.Score.Total, scoreDecimals)
		dst = append(dst, `,"text":`...)
		dst = text.AppendRounded(dst, p.Score.Text, scoreDecimals)
		dst = append(dst, `,"importance":`...)
		dst = text.AppendRounded(dst, p.Score.Importance, scoreDecimals)
		dst = append(dst, `,"proximity":`...)
		dst = append(text.AppendRounded(dst, p.Score.Proximity, scoreDecimals), '}')
	}
	return append(dst, '}')
}

// scoreDecimals are the decimals of the parts of a score.
const scoreDecimals = 4

// appendAddress appends an address: always city, country and country_code, and the other parts if they are known.
func appendAddress(dst []byte, a *geocoding.Address) []byte {
	dst = append(dst, '{')
	known := func(name, value string) {
		if value != "" {
			dst = append(dst, name...)
			dst = append(appendString(dst, value), ',')
		}
	}
	known(`"house_number":`, a.HouseNumber)
	known(`"street":`, a.Street)
	known(`"suburb":`, a.Suburb)
	known(`"hamlet":`, a.Hamlet)
	dst = append(dst, `"city":`...)
	dst = append(appendString(dst, a.City), ',')
	known(`"county":`, a.County)
	known(`"state":`, a.State)
	known(`"postcode":`, a.Postcode)
	dst = append(dst, `"country":`...)
	dst = appendString(dst, a.Country)
	dst = append(dst, `,"country_code":`...)
	dst = appendString(dst, a.CountryCode)
	return append(dst, '}')
}

// appendString appends a JSON string. Invalid UTF-8 becomes U+FFFD, which is what the ignored error reports.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
