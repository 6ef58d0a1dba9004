//go:build race

package geocoding_test

const raceEnabled = true
