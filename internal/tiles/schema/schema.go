// Package schema maps OpenStreetMap tags to map features: the layers, kinds and zooms of the Protomaps basemap schema,
// version 4 (https://docs.protomaps.com/basemaps/layers). It knows no geometry and no files. Start with Classify.
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
	layers // their number
)

// String is the layer's name in a tile.
func (l Layer) String() string {
	return [layers]string{"earth", "landuse", "water", "boundaries", "buildings", "roads", "places", "pois"}[l]
}

// Geometry is the type of a feature's geometry.
type Geometry uint8

// An area may be shown as such, or as a point inside of it.
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

// Class is everything of a feature but its names and geometry.
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

// NoNames is the NameZoom of features without names.
const NoNames = 255
