// Package testdata holds what the tests of several packages share; README.md says what each file is.
package testdata

import "embed"

//go:embed *.osm *.gpx nominatim osrm photon valhalla
var files embed.FS

// Read returns what a file holds, by its slash-separated path below this directory. It is for variables of test
// packages, and so it panics where there is none.
func Read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}
