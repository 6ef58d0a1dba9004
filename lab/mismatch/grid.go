package mismatch

import "math"

// grid finds the pieces that may be near another one.
type grid map[[2]int32][]int32

// cellSize is the width of a cell in metres.
const cellSize = 100.0

// newGrid enters each piece in all cells that it may reach within a distance.
func newGrid(pieces []piece, distance float64) grid {
	g := grid{}
	for i := range pieces {
		pieces[i].cells(distance, func(cell [2]int32) { g[cell] = append(g[cell], int32(i)) })
	}
	return g
}

// visit yields the pieces that may be near p. Some come more than once.
func (g grid) visit(p *piece, yield func(i int32)) {
	p.cells(0, func(cell [2]int32) {
		for _, i := range g[cell] {
			yield(i)
		}
	})
}

// cells yields the cells of the box around a piece.
func (p *piece) cells(margin float64, yield func([2]int32)) {
	index := func(v float64) int32 { return int32(math.Floor(v / cellSize)) }
	for x := index(min(p.ax, p.bx) - margin); x <= index(max(p.ax, p.bx)+margin); x++ {
		for y := index(min(p.ay, p.by) - margin); y <= index(max(p.ay, p.by)+margin); y++ {
			yield([2]int32{x, y})
		}
	}
}
