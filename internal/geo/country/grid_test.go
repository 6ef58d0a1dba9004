package country

import (
	"encoding/binary"
	"testing"
)

// TestGrid reads the whole embedded file: every node, every leaf, no byte unused, and every country of the table
// somewhere.
func TestGrid(t *testing.T) {
	if string(grid[:len(magic)]) != magic {
		t.Fatalf("magic is %q", grid[:len(magic)])
	}
	nodes := binary.LittleEndian.Uint32(grid[len(magic):])
	leafBytes := binary.LittleEndian.Uint32(grid[len(magic)+4:])
	codes := grid[headerSize+4*int(nodes)+int(leafBytes):]
	if len(codes) != 3*len(countries) {
		t.Fatalf("%d bytes of codes, want %d", len(codes), 3*len(countries))
	}
	for i, c := range countries {
		if got := string(codes[3*i : 3*i+3]); got != c.Code {
			t.Fatalf("country %d is %s in the file, %s in the table", i, got, c.Code)
		}
	}

	seenNodes, seenBytes := 0, 0
	seen := make(map[int]bool)
	var walk func(index uint32, size int)
	walk = func(index uint32, size int) {
		seenNodes++
		tag, value := node(index)
		switch tag {
		case tagWhole:
			seen[int(value)] = true
		case tagBranch:
			for child := range uint32(4) {
				walk(value+child, size/2)
			}
		case tagLeaf:
			data := leaf(value)
			r := reader{data: data[:min(len(data), int(leafBytes-value))]}
			seen[r.uint()] = true
			for areas := r.uint(); areas > 0; areas-- {
				n := r.uint()
				if n == 0 {
					t.Errorf("leaf %d has an area of no country", value)
				}
				seen[n] = true
				for rings := r.uint(); rings > 0; rings-- {
					vertices := r.uint()
					if vertices < 3 {
						t.Errorf("leaf %d has a ring of %d vertices", value, vertices)
					}
					x, y := r.uint(), r.uint()
					for ; ; vertices-- {
						if x < 0 || y < 0 || x > size || y > size {
							t.Fatalf("leaf %d has a vertex at %d, %d, outside its cell of %d", value, x, y, size)
						}
						if vertices == 1 {
							break
						}
						x, y = x+r.int(), y+r.int()
					}
				}
			}
			seenBytes += r.at
		default:
			t.Errorf("node %d has tag %d", index, tag)
		}
	}
	for i := range uint32(columns * rows) {
		walk(i, cellSize)
	}
	if seenNodes != int(nodes) || seenBytes != int(leafBytes) {
		t.Errorf("reached %d of %d nodes and %d of %d bytes of leaves", seenNodes, nodes, seenBytes, leafBytes)
	}
	for i, c := range countries {
		if !seen[i+1] {
			t.Errorf("%s is nowhere", c.Code)
		}
	}
	if len(seen) != len(countries)+1 { // and none
		t.Errorf("%d countries in the grid", len(seen))
	}
	if len(grid) > 3<<20 {
		t.Errorf("the grid has %d bytes", len(grid))
	}
}
