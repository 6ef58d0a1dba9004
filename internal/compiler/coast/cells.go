package coast

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mercator"
	"github.com/mapsedge/caddy-maps/internal/region"
)

const (
	cellZoom  = region.CoverageZoom
	cellShift = mercator.Bits - cellZoom
	// longest is the longest segment of a coast, in cells east to west and north to south together. Nobody maps a coast
	// that is straight for 600 kilometres; a longer segment is a mistake, and a gap.
	longest = 64
	// mostPoints is how many points the coast of a cell may have, which is held in memory: at the equator one for every
	// four centimetres of a straight line through it.
	mostPoints = 1 << 18
)

// piece is a piece of the coast in one cell.
type piece struct {
	cell, n uint32
	at      uint64 // among the points
}

// cells are the pieces of the coast, cell by cell.
type cells struct {
	points *scratch.Array[mercator.Point]
	pieces *scratch.Array[piece]
}

// readCells cuts a coast into the pieces of each cell.
func readCells(dir *scratch.Dir, coast Coast) (*cells, error) {
	c := &cells{scratch.NewArray[mercator.Point](dir, "coast"), scratch.NewArray[piece](dir, "coast-pieces")}
	sorter := scratch.NewSorter(dir, "coast-pieces-sort", dir.Memory/16, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.at, b.at))
	})
	s := splitter{shift: cellShift, maxX: 1<<cellZoom - 1, maxY: 1<<cellZoom - 1,
		yield: func(x, y int32, p []mercator.Point) error {
			at := c.points.Len()
			if err := c.points.Append(p...); err != nil {
				return err
			}
			return sorter.Add(piece{uint32(x)<<cellZoom | uint32(y), uint32(len(p)), uint64(at)})
		}}
	var err error
	var line []mercator.Point
	for coords := range coast.Lines {
		line = line[:0]
		for _, at := range coords {
			p := mercator.ProjectE7(at.Lat, at.Lon)
			if n := len(line); n > 0 && distance(line[n-1], p) > longest<<cellShift {
				if err = s.line(line); err != nil {
					break
				}
				line = line[:0]
			}
			line = append(line, p)
		}
		if err == nil {
			err = s.line(line)
		}
		if err != nil {
			return nil, errors.Join(err, sorter.Free())
		}
	}
	var last piece
	points := uint32(0)
	return c, sorter.Each(func(p *piece) error {
		if p.cell != last.cell {
			points = 0
		}
		if last = *p; points+p.n > mostPoints {
			return fmt.Errorf("the coastline has more than %d points in the tile %d/%d/%d: take that out of the extract",
				mostPoints, cellZoom, p.cell>>cellZoom, p.cell&(1<<cellZoom-1))
		}
		points += p.n
		return c.pieces.Append(*p)
	})
}

// each yields the number of each cell that has coast, in order.
func (c *cells) each(yield func(cell uint32) error) error {
	all := c.pieces.Slice()
	for i, p := range all {
		if i == 0 || all[i-1].cell != p.cell {
			if err := yield(p.cell); err != nil {
				return err
			}
		}
	}
	return nil
}

// tile is the coast of a cell. Where no coast reaches its border, what is around is unknown to it.
func (c *cells) tile(cell uint32) *tile {
	all, points := c.pieces.Slice(), c.points.Slice()
	i, _ := slices.BinarySearchFunc(all, cell, func(p piece, cell uint32) int { return cmp.Compare(p.cell, cell) })
	var pieces [][]mercator.Point
	from := make(map[[2]mercator.Point][]mercator.Point) // by where they begin and end, to leave out what is there twice
	for ; i < len(all) && all[i].cell == cell; i++ {
		p := points[all[i].at:][:all[i].n:all[i].n]
		ends := [2]mercator.Point{p[0], p[len(p)-1]}
		if slices.Equal(from[ends], p) {
			continue
		}
		from[ends] = p
		pieces = append(pieces, p)
	}
	return settle(squareOf(cellZoom, cell>>cellZoom, cell&(1<<cellZoom-1)), pieces)
}
