package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"
	"github.com/sams96/rgeo"
)

// territory is everything that answers with one ISO 3166-1 code.
type territory struct {
	code     string // alpha-3, or XKX
	polygons []orb.Polygon
	// over says that where territories overlap, this one has the land.
	over bool
}

// wantedCodes is how many codes there are: the 249 assigned ones and Kosovo's. Positions in the table of
// internal/geo/country are the positions in the sorted list of codes, so none may be missing.
const wantedCodes = 250

// readTerritories reads Natural Earth's countries and sorts their polygons by ISO 3166-1 code.
func readTerritories() ([]territory, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(rgeo.Countries10()))
	if err != nil {
		return nil, fmt.Errorf("reading Natural Earth: %w", err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		return nil, fmt.Errorf("reading Natural Earth: %w", err)
	}
	features, err := geojson.UnmarshalFeatureCollection(text)
	if err != nil {
		return nil, fmt.Errorf("reading Natural Earth: %w", err)
	}
	byCode := make(map[string]*territory)
	for _, f := range features.Features {
		name := f.Properties.MustString("ADM0_A3")
		var polygons []orb.Polygon
		switch g := f.Geometry.(type) {
		case orb.Polygon:
			polygons = []orb.Polygon{g}
		case orb.MultiPolygon:
			polygons = g
		default:
			return nil, fmt.Errorf("country %s is a %s", name, f.Geometry.GeoJSONType())
		}
		for _, polygon := range polygons {
			if name == "CAN" || name == "USA" {
				straighten(polygon[0])
			}
			for _, part := range assign(name, f.Properties.MustString("ISO_A3"), polygon) {
				if part.code == "-99" {
					return nil, fmt.Errorf("country %s has no ISO 3166-1 code; the territory table must give it one", name)
				}
				if part.code != "" {
					if byCode[part.code] == nil {
						byCode[part.code] = &territory{code: part.code}
					}
					t := byCode[part.code]
					t.polygons = append(t.polygons, part.polygon)
				}
			}
		}
	}
	if len(byCode) != wantedCodes {
		return nil, errors.Join(fmt.Errorf("%d countries, want %d", len(byCode), wantedCodes),
			fmt.Errorf("have %v", slices.Sorted(maps.Keys(byCode))))
	}
	correct(byCode)
	var territories []territory
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		territories = append(territories, *byCode[code])
	}
	return territories, nil
}
