//go:build race

package geocoding

const raceEnabled = true
