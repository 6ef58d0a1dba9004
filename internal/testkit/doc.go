// Package testkit is what the tests of many packages share and that needs nothing of ours: data and extracts, ports,
// limits of time and of memory on busy machines, and how much of a long test to do. The packages below it make test
// data for one part of the product each: extracts (osmtest), features (placestest, geocodingtest), roads
// (roadgraphtest), tiles (tilestest), and region files (testregion). pgtest starts PostgreSQL, and browsertest a
// browser.
//
// Nothing but tests, lab/ and integration/ imports them.
package testkit
