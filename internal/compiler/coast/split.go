package coast

import (
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// split cuts a line at the borders of the tiles of a zoom, and yields the pieces in order. A crossing becomes one point
// that both tiles share, so that the pieces fit together. A segment on a border belongs to the tile in the east or the
// south, and on the border of the world to the tile inside. A piece is valid during the call.
func split(line []geo.Projected, z uint8, yield func(t mapfile.Tile, piece []geo.Projected)) {
	shift := geo.WorldBits - z
	line = cutColumns(cutColumns(line, shift), shift)
	var tile mapfile.Tile
	var piece []geo.Projected
	flush := func() {
		if len(piece) > 0 {
			yield(tile, piece)
			piece = piece[:0]
		}
	}
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if a == b {
			continue
		}
		if t := mapfile.TileAt(z, geo.Projected{X: (a.X + b.X) >> 1, Y: (a.Y + b.Y) >> 1}); t != tile {
			flush()
			tile = t
		}
		if len(piece) == 0 {
			piece = append(piece, a)
		}
		piece = append(piece, b)
	}
	flush()
}

// cutColumns returns a line with points where it crosses from one column of tiles to another, and with x and y
// exchanged: applied twice, it cuts at columns and rows.
func cutColumns(line []geo.Projected, shift uint8) []geo.Projected {
	out := make([]geo.Projected, 0, len(line)+8)
	for i, b := range line {
		if i > 0 {
			a := line[i-1]
			for x := next(a.X, b.X, shift); x != b.X; x = next(x, b.X, shift) {
				out = append(out, geo.Projected{X: clip.Between(a.X, a.Y, b.X, b.Y, x), Y: x})
			}
		}
		out = append(out, geo.Projected{X: b.Y, Y: b.X})
	}
	return out
}

// next returns the next multiple of 2^shift from one number towards another, or else the latter.
func next(from, to int32, shift uint8) int32 {
	if from < to {
		return min((from>>shift+1)<<shift, to)
	}
	return max((from-1)>>shift<<shift, to)
}
