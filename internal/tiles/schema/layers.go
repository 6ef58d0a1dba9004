package schema

import "slices"

// VectorLayer describes a layer, as TileJSON does.
type VectorLayer struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	MinZoom     uint8  `json:"minzoom"`
	MaxZoom     uint8  `json:"maxzoom"`
	// Fields has for each attribute its type: String, Number or Boolean.
	Fields map[string]string `json:"fields"`
}

// maxZoom is the zoom of the last tiles that a map has.
const maxZoom = 16

// The types of fields.
const (
	text    = "String"
	number  = "Number"
	boolean = "Boolean"
)

// Layers describes all layers, in the order of a tile. Names in other languages, name:xx, are not listed: they differ
// from map to map.
func Layers() []VectorLayer {
	layer := func(l Layer, description string, minZoom uint8, fields map[string]string) VectorLayer {
		fields["kind"] = text
		return VectorLayer{l.String(), description, minZoom, maxZoom, fields}
	}
	return []VectorLayer{
		layer(Earth, "Land, between the coasts.", 0, map[string]string{}),
		layer(Landuse, "What ground is used for, and what grows on it.", landuseZoom,
			map[string]string{"sort_rank": number, "sport": text}),
		layer(Water, "Ocean, lakes and rivers; points carry the names of areas.", 0, map[string]string{
			"name": text, "kind_detail": text, "sort_rank": number, "reservoir": boolean, "alkaline": boolean,
			"intermittent": boolean, "bridge": text, "tunnel": text, "layer": number}),
		layer(Boundaries, "Boundaries of administrative divisions; kind_detail is the lowest admin_level.", 0,
			map[string]string{"kind_detail": number, "min_zoom": number}),
		layer(Buildings, "Buildings and parts of them; heights are in metres.", buildingZoom,
			map[string]string{"height": number, "min_height": number, "layer": number}),
		layer(Roads, "Roads, paths, railways, ferries and the like.", 3, map[string]string{
			"name": text, "kind_detail": text, "min_zoom": number, "sort_rank": number, "is_link": boolean,
			"is_bridge": boolean, "is_tunnel": boolean, "oneway": text, "ref": text, "shield_text": text,
			"shield_text_length": number, "network": text, "service": text}),
		layer(Places, "Countries, cities, villages and quarters.", 3, map[string]string{
			"name": text, "kind_detail": text, "min_zoom": number, "capital": text, "population": number,
			"population_rank": number}),
		layer(Pois, "Points of interest; min_zoom is the zoom from which they are to be shown.", 11, map[string]string{
			"name": text, "min_zoom": number, "sport": text, "cuisine": text, "religion": text, "iata": text}),
	}
}

// UpTo limits layers to tiles up to a zoom, and drops those that begin later. It changes the list.
func UpTo(maxZoom uint8, layers []VectorLayer) []VectorLayer {
	layers = slices.DeleteFunc(layers, func(l VectorLayer) bool { return l.MinZoom > maxZoom })
	for i := range layers {
		layers[i].MaxZoom = min(layers[i].MaxZoom, maxZoom)
	}
	return layers
}
