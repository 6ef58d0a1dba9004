// Package tiles renders vector tiles (Mapbox Vector Tile 2.1) from the map of a region file. It does not decide what a
// map shows (package schema), and it does not write maps (compiler/basemap). Start with Open and Map.Tile.
//
//	clip     geometry: clipping, simplification, valid polygons
//	mapfile  the sections and records of a map
//	network  tiles of the road network
//	pmtiles  archives of tiles
//	schema   layers, kinds and zooms of the Protomaps basemap
//
// The wing imports roadgraph, region, geo and base.
package tiles
