// Package testkit has what the tests of many packages share: data and extracts, ports, limits of time and memory on
// busy machines, and how much of a long test to do. It imports no other package of ours. The packages below it do:
//
//	osmtest                     extracts, drawn as text or written as PBF
//	placestest, geocodingtest   features and places, and a search by brute force
//	roadgraphtest               road networks
//	tilestest                   PMTiles archives, and checks of rings
//	testregion                  whole region files
//	pgtest, browsertest         a PostgreSQL server, a browser
//
// Only tests, lab/ and integration/ import them.
package testkit
