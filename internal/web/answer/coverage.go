package answer

import (
	"time"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Region describes a region to clients.
type Region struct {
	Name        string
	Bounds      region.Bounds
	Date        time.Time // of the map data; zero if unknown
	Attribution string
}

// AppendCoverage appends the regions of an endpoint as JSON.
func AppendCoverage(dst []byte, list []Region) []byte {
	dst = append(dst, `{"data":{"regions":[`...)
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRegion(dst, &list[i])
	}
	return append(dst, `]}}`...)
}

func appendRegion(dst []byte, r *Region) []byte {
	dst = append(dst, `{"name":`...)
	dst = appendString(dst, r.Name)
	dst = append(dst, `,"bounds":{"minLat":`...)
	dst = text.AppendFixed(dst, r.Bounds.MinLat, coordinateDecimals)
	dst = append(dst, `,"minLon":`...)
	dst = text.AppendFixed(dst, r.Bounds.MinLon, coordinateDecimals)
	dst = append(dst, `,"maxLat":`...)
	dst = text.AppendFixed(dst, r.Bounds.MaxLat, coordinateDecimals)
	dst = append(dst, `,"maxLon":`...)
	dst = text.AppendFixed(dst, r.Bounds.MaxLon, coordinateDecimals)
	dst = append(dst, `},"date":`...)
	if r.Date.IsZero() {
		dst = append(dst, `null`...)
	} else {
		dst = append(dst, '"')
		dst = r.Date.UTC().AppendFormat(dst, time.RFC3339)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"attribution":`...)
	dst = appendString(dst, r.Attribution)
	return append(dst, '}')
}
