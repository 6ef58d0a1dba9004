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
	dst = append(dst, `","results":[`...)
	for i := range r.Places {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendPlace(dst, &r.Places[i])
	}
	return append(dst, `]}}`...)
}

func appendPlace(dst []byte, p *geocoding.Place) []byte {
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
	dst = append(dst, `,"distance":`...)
	dst = text.AppendRounded(dst, p.Distance, distanceDecimals)
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
	return append(dst, '}')
}

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
