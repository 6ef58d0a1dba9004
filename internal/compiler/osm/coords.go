package osm

import (
	"encoding/binary"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// CoordOf rounds a position in degrees.
func CoordOf(p orb.Point) Coord {
	return Coord{Lon: int32(math.Round(p[0] * 1e7)), Lat: int32(math.Round(p[1] * 1e7))}
}

// AppendLine appends the positions of a line to a record, each as the difference to the one before. ReadLine reads
// them.
func AppendLine(row []byte, line []Coord) []byte {
	row = binary.AppendUvarint(row, uint64(len(line)))
	last := Coord{}
	for _, c := range line {
		row = binary.AppendVarint(row, int64(c.Lon)-int64(last.Lon))
		row = binary.AppendVarint(row, int64(c.Lat)-int64(last.Lat))
		last = c
	}
	return row
}

// ReadLine appends the positions of a line that AppendLine wrote.
func ReadLine(r *scratch.Reader, line []Coord) []Coord {
	last := Coord{}
	for range r.Uvarint() {
		last.Lon += int32(r.Varint())
		last.Lat += int32(r.Varint())
		line = append(line, last)
	}
	return line
}
