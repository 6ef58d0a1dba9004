// Package schema tells what of OpenStreetMap a map shows, and how: the layers, kinds and zooms of the Protomaps basemap
// schema, version 4 (https://docs.protomaps.com/basemaps/layers).
package schema

// Layer is a layer of a tile.
type Layer uint8

// The layers, in the order in which a tile has them.
const (
	Earth Layer = iota
	Landuse
	Water
	Boundaries
	Buildings
	Roads
	Places
	Pois
	layers // how many there are
)

// String is the layer's name in a tile.
func (l Layer) String() string {
	return [layers]string{"earth", "landuse", "water", "boundaries", "buildings", "roads", "places", "pois"}[l]
}

// Geometry is what is drawn of an object.
type Geometry uint8

// An area may be drawn as such, or as a point inside of it.
const (
	Point Geometry = iota
	Line
	Polygon
)

// Attr is an attribute of features in a tile.
type Attr struct {
	Key string
	// Value is a string, an int64, a float64 or a bool.
	Value any
	// MinZoom is the zoom from which features have it.
	MinZoom uint8
}

// Class is what all features have in common that are drawn alike: everything but name and geometry.
type Class struct {
	Layer    Layer
	Geometry Geometry
	// MinZoom is the zoom from which features of the class are shown; small areas come later.
	MinZoom uint8
	// NameZoom is the zoom from which they have their names.
	NameZoom uint8
	// Attrs are in the order of their keys; `kind` is one of them.
	Attrs []Attr
}

// NoNames is the NameZoom of what is drawn without a name.
const NoNames = 255
