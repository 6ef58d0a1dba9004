// Package geocoding finds what is at a position, from the places of a region file: the nearest named features by their
// own geometry, with their addresses and the areas around them. It also turns answers of remote services into the same
// form. It knows no HTTP, and does no forward geocoding. Start with Geocoder and Index.Reverse.
//
// The wing imports region, geo and base: package geometry measures distances, package placefile has the format of
// places.
package geocoding
