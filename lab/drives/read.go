package drives

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"

	"github.com/paulmach/orb"
)

// ReadDrives reads drives from gzipped JSON: an array of objects with sigma and interval, and trace and truth as arrays
// of [lat, lon].
func ReadDrives(path string) ([]Drive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var records []struct {
		Sigma    float64      `json:"sigma"`
		Interval float64      `json:"interval"`
		Trace    [][2]float64 `json:"trace"`
		Truth    [][2]float64 `json:"truth"`
	}
	if err := json.NewDecoder(unzipped).Decode(&records); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	drives := make([]Drive, len(records))
	for i, r := range records {
		if len(r.Trace) < 2 || len(r.Truth) < 2 {
			return nil, fmt.Errorf("%s: drive %d has %d positions and %d points of truth", path, i, len(r.Trace), len(r.Truth))
		}
		drives[i] = Drive{Cell: Cell{r.Sigma, r.Interval}, Trace: swapped(r.Trace), Truth: swapped(r.Truth)}
	}
	return drives, nil
}

// ReadTrips reads recorded trips from JSON: an array of arrays of [lon, lat].
func ReadTrips(path string) ([]orb.LineString, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var trips []orb.LineString
	if err := json.Unmarshal(text, &trips); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, trip := range trips {
		if len(trip) < 2 {
			return nil, fmt.Errorf("%s: trip %d has %d positions", path, i, len(trip))
		}
	}
	return trips, nil
}

// swapped makes a line of points whose latitude comes first.
func swapped(points [][2]float64) orb.LineString {
	line := make(orb.LineString, len(points))
	for i, p := range points {
		line[i] = orb.Point{p[1], p[0]}
	}
	return line
}
