package pmtiles

import (
	"context"
	"errors"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// ErrNoMap says that a region file has no map.
var ErrNoMap = errors.New("has no map; build it again, without --no-map, with `caddy maps build`")

// ExportOptions say what to write.
type ExportOptions struct {
	// Output is the path of the archive.
	Output string
	// Name is the name in the archive's metadata.
	Name string
	// MaxZoom is the highest zoom, up to tiles.MaxZoom.
	MaxZoom uint8
	// Progress is called with the number of tiles done; it may be nil.
	Progress func(stage string, done, total int64)
}

// metadata is the JSON object of an archive, with the names of PMTiles and MBTiles.
type metadata struct {
	Name         string               `json:"name"`
	Description  string               `json:"description"`
	Attribution  string               `json:"attribution"`
	Type         string               `json:"type"`
	VectorLayers []schema.VectorLayer `json:"vector_layers"`
}

// Export writes the map of a region file as an archive, and renames it to its path when it is complete. Its tiles equal
// those of a server byte for byte, and the same file gives the same archive. It returns the number of tiles. If it
// fails or ctx ends, nothing is left behind.
func Export(ctx context.Context, file *region.File, o ExportOptions) (tiles int64, err error) {
	if err := files.CheckOutput(o.Output, file.Path()); err != nil {
		return 0, err
	}
	m, err := open(file)
	if err != nil {
		return 0, err
	}
	info, err := file.Info()
	if err != nil {
		return 0, err
	}
	total := int64(0)
	err = m.Tiles(o.MaxZoom, func(uint8, uint32, uint32) bool {
		total++
		return total%1024 != 0 || ctx.Err() == nil
	})
	if err != nil {
		return 0, err
	}
	w, err := Create(o.Output, Archive{Bounds: info.Bounds, Tiles: total, Metadata: metadata{
		Name: o.Name, Description: "In the Protomaps basemap schema, version 4.", Attribution: info.Attribution,
		Type: "baselayer", VectorLayers: schema.UpTo(o.MaxZoom, schema.Layers()),
	}})
	if err != nil {
		return 0, err
	}
	defer w.Discard()
	bar := pipeline.NewBar(o.Progress)
	bar.Start("tiles", total)
	if tiles, err = writeTiles(ctx, m, o.MaxZoom, w, bar); err != nil {
		return 0, err
	}
	bar.Finish()
	return tiles, w.Commit(ctx)
}

func open(file *region.File) (m *tiles.Map, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	if m, err = tiles.Open(file); err == nil && m == nil {
		err = fmt.Errorf("%s %w", file.Path(), ErrNoMap)
	}
	return m, err
}

// tile is a tile before and after rendering.
type tile struct {
	z    uint8
	x, y uint32
	data []byte
}

func writeTiles(ctx context.Context, m *tiles.Map, maxZoom uint8, w *Writer, bar *pipeline.Bar) (tiles int64,
	err error) {
	var listing error
	err = pipeline.Run(ctx, func(give func(tile) bool) {
		listing = m.Tiles(maxZoom, func(z uint8, x, y uint32) bool { return give(tile{z: z, x: x, y: y}) })
	}, func(t tile) (_ tile, err error) {
		t.data, err = m.Tile(nil, t.z, t.x, t.y)
		return t, err
	}, func(t tile) error {
		bar.Add(1)
		if len(t.data) == 0 {
			return nil
		}
		tiles++
		return w.Add(t.z, t.x, t.y, t.data)
	})
	return tiles, errors.Join(err, listing)
}
