// Package geocoding finds what is at a position, from the places of a region file: the nearest named features by their
// own geometry, with their addresses and the areas around them. It also turns answers of remote services into the same
// form. For searches by text, which package search answers, it has the types, and describes what was found. It knows no
// HTTP. Start with Geocoder and Index.Reverse, for searches with Searcher and Index.Describe.
//
// The wing imports region, geo and base: package geometry measures distances, package placefile has the format of
// places.
package geocoding
