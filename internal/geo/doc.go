// Package geo has the geometry on the globe that every other package shares. It knows no files and no OpenStreetMap.
//
//	sphere     distances on the sphere of all lengths
//	longitude  differences of longitudes across the antimeridian
//	mercator   Web Mercator in integers, for maps
//	hilbert    the Hilbert curve, for the order of files
//	tree       packed R-trees
//	polyline   the encoded polyline format
//
// Coordinates are longitude (X) and latitude (Y), in degrees or in 1e-7 degrees. Package country, below it, finds the
// country of a position. The wing imports base.
package geo
