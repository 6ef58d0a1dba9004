package remote

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// maxDepth is the largest depth of a geometry in a document, collections included.
const maxDepth = 12

// Geometry reads a GeoJSON geometry (RFC 7946); null is nil. Unknown types, coordinates of another type and positions
// off the globe are errors. paulmach/orb/geojson does not serve here: it reads positions of fewer than two numbers,
// follows collections to any depth, and takes four times as long.
type Geometry struct{ orb.Geometry }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (g *Geometry) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	g.Geometry = nil
	if dec.PeekKind() == jsontext.KindNull {
		return dec.SkipValue()
	}
	if dec.StackDepth() > maxDepth {
		return errors.New("geometries are nested too deeply")
	}
	var read struct {
		Type        string         `json:"type"`
		Coordinates jsontext.Value `json:"coordinates"` // may come before the type
		Geometries  []Geometry     `json:"geometries"`
	}
	if err := json.UnmarshalDecode(dec, &read); err != nil {
		return err
	}
	switch read.Type {
	case "Point":
		return coordinates[orb.Point](g, read.Coordinates)
	case "MultiPoint":
		return coordinates[orb.MultiPoint](g, read.Coordinates)
	case "LineString":
		return coordinates[orb.LineString](g, read.Coordinates)
	case "MultiLineString":
		return coordinates[orb.MultiLineString](g, read.Coordinates)
	case "Polygon":
		return coordinates[orb.Polygon](g, read.Coordinates)
	case "MultiPolygon":
		return coordinates[orb.MultiPolygon](g, read.Coordinates)
	case "GeometryCollection":
		if read.Geometries == nil {
			return errors.New("a collection without geometries")
		}
		parts := orb.Collection{}
		for _, part := range read.Geometries {
			if part.Geometry != nil {
				parts = append(parts, part.Geometry)
			}
		}
		g.Geometry = parts
		return nil
	}
	return fmt.Errorf("no geometry of the type %.20q", read.Type)
}

// coordinates reads the coordinates of a type.
func coordinates[T orb.Geometry](g *Geometry, value jsontext.Value) error {
	var read T
	if value.Kind() != jsontext.KindBeginArray {
		return errors.New("a geometry without coordinates")
	}
	err := json.Unmarshal(value, &read, json.WithUnmarshalers(Positions))
	g.Geometry = read
	return err
}

// Positions reads each orb.Point as a position, [lon,lat], and skips further numbers, such as an altitude.
var Positions = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, p *orb.Point) error {
	value, err := dec.ReadValue()
	switch {
	case err != nil:
		return err
	case value.Kind() != jsontext.KindBeginArray:
		return errors.New("a position is an array")
	}
	lon, rest, _ := bytes.Cut(value[1:len(value)-1], []byte(","))
	lat, _, _ := bytes.Cut(rest, []byte(","))
	var okLon, okLat bool
	p[0], okLon = text.ParseNumber(bytes.TrimSpace(lon))
	p[1], okLat = text.ParseNumber(bytes.TrimSpace(lat))
	if !okLon || !okLat || p[0] < -180 || p[0] > 180 || p[1] < -90 || p[1] > 90 {
		return fmt.Errorf("the position %.60s is not on the globe", value)
	}
	return nil
})
