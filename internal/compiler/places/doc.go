// Package places compiles the features that package objects has collected into the sections that package geocoding
// reads. It sorts them, and infers missing parts of their addresses from streets, buildings, neighbours and areas. It
// reads no extracts and answers no requests. Begin at Write.
//
//   - classes interprets the tags of a feature;
//   - streets finds the streets and driveways near a house;
//   - contexts.go finds the areas around each tile;
//   - derive.go infers addresses;
//   - sections writes the sections.
package places
