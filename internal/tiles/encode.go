package tiles

import (
	"bytes"
	"fmt"

	"github.com/gogo/protobuf/proto"
	"github.com/paulmach/orb/encoding/mvt/vectortile"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// maxText limits the bytes of different texts in a tile. Beyond it features have no names.
const maxText = 4 << 20

// encoder makes tiles of features.
type encoder struct {
	layer  *vectortile.Tile_Layer
	text   int // bytes of the values of the tile that are texts
	keys   map[string]uint32
	values map[any]uint32
}

// append appends a tile of sorted features. Equal lines become one feature.
func (e *encoder) append(dst []byte, features []*feature, texts Texts) ([]byte, error) {
	tile := &vectortile.Tile{}
	e.text = 0
	for i := 0; i < len(features); {
		f := features[i]
		if i == 0 || f.class.Layer != features[i-1].class.Layer {
			e.begin(f.class.Layer)
			tile.Layers = append(tile.Layers, e.layer)
		}
		g := geometry{}
		first := i
		for ; i < len(features) && (i == first || together(f, features[i])); i++ {
			g.add(features[i])
		}
		tags, err := e.tags(f, texts)
		if err != nil {
			return dst, err
		}
		e.layer.Features = append(e.layer.Features, &vectortile.Tile_Feature{Tags: tags,
			Type: geometryType(f.class.Geometry).Enum(), Geometry: g.commands})
	}
	if len(tile.Layers) == 0 {
		return dst, nil
	}
	data, err := proto.Marshal(tile)
	return append(dst, data...), err
}

// together reports whether two features are merged.
func together(a, b *feature) bool {
	return a.class.Geometry == schema.Line && a.class.shown == b.class.shown && bytes.Equal(a.names, b.names)
}

func geometryType(g schema.Geometry) vectortile.Tile_GeomType {
	switch g {
	case schema.Point:
		return vectortile.Tile_POINT
	case schema.Line:
		return vectortile.Tile_LINESTRING
	}
	return vectortile.Tile_POLYGON
}

// begin begins a layer.
func (e *encoder) begin(layer schema.Layer) {
	e.layer = &vectortile.Tile_Layer{Name: proto.String(layer.String()), Version: proto.Uint32(2),
		Extent: proto.Uint32(mapfile.Extent)}
	e.keys, e.values = map[string]uint32{}, map[any]uint32{}
}

// tags returns the attributes and names of a feature, as indexes of the layer's keys and values.
func (e *encoder) tags(f *feature, texts Texts) (tags []uint32, err error) {
	add := func(key string, value any) {
		number, known := e.values[value]
		if !known {
			encoded, problem := encodeValue(value)
			if problem != nil {
				err = fmt.Errorf("%s: %w", key, problem)
				return
			}
			if text, is := value.(string); is {
				e.text += len(text)
			}
			number = uint32(len(e.layer.Values))
			e.values[value] = number
			e.layer.Values = append(e.layer.Values, encoded)
		}
		tags = append(tags, e.key(key), number)
	}
	for _, a := range f.class.Attrs {
		add(a.Key, a.Value)
	}
	if len(f.names) > 0 {
		mapfile.EachName(f.names, func(n mapfile.Name) {
			if e.text < maxText {
				add(string(texts.Text(n.Key)), string(texts.Text(n.Value)))
			}
		})
	}
	return tags, err
}

func (e *encoder) key(key string) uint32 {
	number, known := e.keys[key]
	if !known {
		number = uint32(len(e.layer.Keys))
		e.keys[key] = number
		e.layer.Keys = append(e.layer.Keys, key)
	}
	return number
}

func encodeValue(value any) (*vectortile.Tile_Value, error) {
	switch v := value.(type) {
	case string:
		return &vectortile.Tile_Value{StringValue: &v}, nil
	case int64:
		return &vectortile.Tile_Value{SintValue: &v}, nil
	case float64:
		return &vectortile.Tile_Value{DoubleValue: &v}, nil
	case bool:
		return &vectortile.Tile_Value{BoolValue: &v}, nil
	}
	return nil, fmt.Errorf("%T is no type of attributes", value)
}

// geometry makes the commands of section 4.3 of the vector tile specification.
type geometry struct {
	commands []uint32
	at       geo.Projected
}

const moveTo, lineTo, closePath = 1, 2, 7

func (g *geometry) add(f *feature) {
	if len(f.points) > 0 {
		g.command(moveTo, f.points)
	}
	for _, l := range f.lines {
		g.command(moveTo, l[:1])
		g.command(lineTo, l[1:])
	}
	for _, p := range f.polygons {
		for _, ring := range p {
			g.command(moveTo, ring[:1])
			g.command(lineTo, ring[1:])
			g.commands = append(g.commands, 1<<3|closePath)
		}
	}
}

// command adds a command with its positions.
func (g *geometry) command(id uint32, points []geo.Projected) {
	g.commands = append(g.commands, uint32(len(points))<<3|id)
	for _, p := range points {
		dx, dy := p.X-g.at.X, p.Y-g.at.Y
		g.commands = append(g.commands, uint32(dx<<1^dx>>31), uint32(dy<<1^dy>>31))
		g.at = p
	}
}
