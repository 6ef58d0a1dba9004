package tiles_test

import (
	"errors"
	"testing"

	"github.com/paulmach/orb/encoding/mvt"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// anyText has a class at every place; as names they are no UTF-8.
type anyText struct{}

func (anyText) Text(at uint64) []byte {
	c := schema.Land()
	c.Geometry = schema.Geometry(at % 3)
	c.NameZoom = uint8(at % 17)
	return []byte(c.Encode())
}

// FuzzRender: any records render to a tile that decodes, or to a damage error.
func FuzzRender(f *testing.F) {
	cell := mapfile.Tile{Z: mapfile.CellZoom, X: 1186, Y: 1566}
	at := func(x, y int32) geo.Projected {
		return geo.Projected{X: cell.Origin().X + x, Y: cell.Origin().Y + y}
	}
	corners := []geo.Projected{at(0, 0), at(40000, 100), at(100, 40000), at(40000, 40000)} // they cross
	for class, shape := range []mapfile.Shape{{Points: corners}, {Lines: []clip.Line{corners}},
		{Rings: []clip.Ring{corners}}} {
		body := mapfile.AppendBody(nil, uint64(class), []mapfile.Name{{Key: 5, Value: 7}})
		body = append(body, mapfile.AppendShape(nil, cell, &shape)...)
		f.Add(mapfile.AppendRecord(nil, cell, 1, clip.Bounds(corners), body, nil), uint8(14))
	}
	renderers := tiles.NewRenderers(anyText{})
	f.Fuzz(func(t *testing.T, records []byte, zoom uint8) {
		if zoom < mapfile.CellZoom || zoom > tiles.MaxZoom {
			return
		}
		tile := mapfile.Tile{Z: zoom, X: cell.X << (zoom - cell.Z), Y: cell.Y << (zoom - cell.Z)}
		cut := func() (made []byte, err error) {
			defer region.Recover(&err, region.FaultsPanic())
			return renderers.Render(nil, records, cell, tile)
		}
		made, err := cut()
		if _, damaged := errors.AsType[*region.DamageError](err); err != nil && !damaged {
			t.Fatal(err)
		}
		if len(made) > 0 {
			if _, err := mvt.UnmarshalGzipped(made); err != nil {
				t.Error(err)
			}
		}
	})
}
