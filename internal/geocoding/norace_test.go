//go:build !race

package geocoding

const raceEnabled = false
