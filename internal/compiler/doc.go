// Package compiler compiles OpenStreetMap extracts into a region file. Begin at Build.
//
// Package osm reads the extracts and hands nodes, ways and areas to consumers. Each consumer gathers what it needs in
// temporary files, and then writes its sections of the region, concurrently with the others:
//
//	objects, places   named objects and addresses, for geocoding
//	roads             the road network, with the access and speeds of package profile
//	basemap           the map that tiles are rendered from
//	coast             land and ocean, a part of the map
//
// Below them are osmfile (PBF and XML), rings (polygons from lines), tags (keys as numbers) and scratch (temporary
// files). The engines define the layout of records, and import nothing from here.
//
// The wing imports the formats of the engines, region, geo and base; only `caddy maps` imports it.
package compiler
