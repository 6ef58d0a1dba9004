package routing

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// TestPack: matrices are read as they were written, whatever follows them.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]Cost{0, 1, 2, 3, 255, 5000, enterCost + 5000, 1<<31 - 1}).Draw(t, "most")
		cost := rapid.OneOf(rapid.Uint32Range(0, most), rapid.Just(noWay))
		entries, exits := rapid.IntRange(1, 9).Draw(t, "entries"), rapid.IntRange(1, 9).Draw(t, "exits")
		costs := rapid.SliceOfN(cost, entries*exits, entries*exits).Draw(t, "costs")
		matrix, width := Pack([]byte{1, 2, 3}, costs)
		if least := (len(costs)*width + 7) / 8; len(matrix) != 3+least {
			t.Fatalf("%d elements of %d bits have %d bytes", len(costs), width, len(matrix)-3)
		}
		for range WeightsEnd {
			matrix = append(matrix, 0xff)
		}
		for i, want := range costs {
			if got := element(matrix[3:], width, i); got != want {
				t.Fatalf("element %d of %d bits is %d, want %d", i, width, got, want)
			}
		}
	})
}

// CheckStored checks that the matrices in a region file, by row and by column, are those of the usual model.
func CheckStored(t *testing.T, f *region.File, mode region.Modes) {
	t.Helper()
	m := stored(t, f, mode)
	again, err := Customize(t.Context(), m.Overlay, NewModel(Costs{Profile: mode}))
	if err != nil {
		t.Fatal(err)
	}
	want, ways, b := fullMatrices{again}, 0, new(buffer)
	for cell := range m.first[Levels] {
		border := m.borderOf(cell)
		entries, exits := len(border.entries), len(border.exits)
		for i := range entries {
			row, _ := want.row(nil, cell, i, exits)
			if got, _ := m.matrices.row(b, cell, i, exits); !slices.Equal(got, row) {
				t.Fatalf("mode %d, cell %d: row %d is %v, want %v", mode, cell, i, got, row)
			}
			ways += exits
		}
		for k := range exits {
			column, _ := want.column(new(buffer), cell, k, entries, exits)
			if got, _ := m.matrices.column(b, cell, k, entries, exits); !slices.Equal(got, column) {
				t.Fatalf("mode %d, cell %d: column %d is %v, want %v", mode, cell, k, got, column)
			}
		}
	}
	if ways == 0 {
		t.Error("the region has no matrices")
	}
}
