// Package places compiles what can be found, and what addresses are made of, into the sections of a region file.
//
//   - classes reads what the tags of an object say;
//   - streets finds the streets and driveways near a house;
//   - contexts finds the areas around each tile;
//   - sections writes the sections.
//
// This package puts the features into their order, finds out what they do not say of their addresses, from streets,
// buildings, neighbours and areas, and hands them to sections.
package places
