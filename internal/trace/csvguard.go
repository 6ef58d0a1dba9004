package trace

import (
	"fmt"
	"io"
)

const (
	// maxCells and maxRowBytes limit a row. encoding/csv keeps all of it, and each cell takes thirty times the memory of
	// its comma.
	maxCells    = 1000
	maxRowBytes = 64 << 10
	// csvWork is the work of reading meteredBytes of a table, in the meter's unit.
	csvWork = 230
)

// csvGuard passes a table on to encoding/csv, and stops before a row takes too much memory. Like encoding/csv, it ends
// a row at a line end outside of quotes. Misplaced quotes are refused by encoding/csv.
type csvGuard struct {
	rest    []byte
	meter   Meter
	stopped error // why the guard ended the table, if it did

	line   int // from 1
	cells  int // of the row, behind the first
	bytes  int // of the row
	quoted bool
}

// Read implements io.Reader.
func (g *csvGuard) Read(p []byte) (n int, err error) {
	if g.stopped != nil {
		return 0, g.stopped
	}
	if len(g.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p[:min(len(p), meteredBytes)], g.rest)
	g.rest = g.rest[n:]
	if g.meter != nil {
		if g.stopped = g.meter.Spend(int64(csvWork*n/meteredBytes) + 1); g.stopped != nil {
			return 0, g.stopped
		}
	}
	for _, c := range p[:n] {
		g.bytes++
		switch {
		case c == '"':
			g.quoted = !g.quoted
		case c == '\n':
			g.line++
			if !g.quoted {
				g.cells, g.bytes = 0, 0
			}
		case c == ',' && !g.quoted:
			g.cells++
		}
		if g.cells >= maxCells {
			return 0, g.stop(fmt.Sprintf("has more than %d cells", maxCells))
		}
		if g.bytes > maxRowBytes {
			return 0, g.stop(fmt.Sprintf("and what belongs to it has more than %d bytes", maxRowBytes))
		}
	}
	return n, nil
}

func (g *csvGuard) stop(problem string) error {
	g.stopped = &InputError{Parameter: "csv", Point: -1, Problem: fmt.Sprintf("line %d %s", g.line, problem)}
	return g.stopped
}
