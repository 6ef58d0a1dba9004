package tiles_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/paulmach/orb/encoding/mvt"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// TestTooDense: a tile has what comes first of a cell with far too many records, and renders soon.
func TestTooDense(t *testing.T) {
	cell := mapfile.Tile{Z: mapfile.CellZoom, X: 1186, Y: 1566}
	tile := mapfile.Tile{Z: 14, X: cell.X * 4, Y: cell.Y * 4}
	var line clip.Line
	for i := range int32(4096) {
		line = append(line, geo.Projected{X: cell.Origin().X + i*4, Y: cell.Origin().Y + i%2*64})
	}
	body := mapfile.AppendShape(mapfile.AppendBody(nil, 1, nil), cell, &mapfile.Shape{Lines: []clip.Line{line}})
	record := mapfile.AppendRecord(nil, cell, 1, clip.Bounds(line), body, nil)
	size := func(records int) int {
		made, err := tiles.NewRenderers(anyText{}).Render(nil, bytes.Repeat(record, records), cell, tile)
		if err != nil {
			t.Fatal(err)
		}
		return len(made)
	}
	const most = 1 << 18 / 4096
	if few, many, more := size(most/2), size(most), size(2*most); few >= many || many != more {
		t.Errorf("%d, %d and %d bytes", few, many, more)
	}
}

// longTexts has the class of land, drawn as points, at 0, and beyond a long text of its own at every place.
type longTexts struct{}

func (longTexts) Text(at uint64) []byte {
	if at == 0 {
		return anyText{}.Text(0)
	}
	return append(bytes.Repeat([]byte("long "), 200), strconv.FormatUint(at, 10)...)
}

// TestLongNames: a tile has some of the names of a cell with far too many.
func TestLongNames(t *testing.T) {
	cell := mapfile.Tile{Z: mapfile.CellZoom, X: 1186, Y: 1566}
	shape := mapfile.Shape{Points: []geo.Projected{cell.Origin()}}
	var records []byte
	const each, features = 100, 400
	for i := range features {
		var names []mapfile.Name
		for k := range each {
			names = append(names, mapfile.Name{Key: uint64(1 + k), Value: uint64(1 + i*each + k)})
		}
		body := mapfile.AppendShape(mapfile.AppendBody(nil, 0, names), cell, &shape)
		records = mapfile.AppendRecord(records, cell, 1, clip.Bounds(shape.Points), body, nil)
	}
	made, err := tiles.NewRenderers(longTexts{}).Render(nil, records, cell, cell)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := mvt.UnmarshalGzipped(made)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, f := range layers[0].Features {
		if len(f.Properties) > 1 {
			named++
		}
	}
	if n := len(layers[0].Features); n != features || named < features/20 || named > features/5 {
		t.Errorf("%d of %d features have names", named, n)
	}
}
