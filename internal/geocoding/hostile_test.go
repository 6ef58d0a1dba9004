package geocoding

import (
	"encoding/binary"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// everywhere is a box that holds all positions.
var everywhere = box{-halfTurn, -halfTurn / 2, halfTurn, halfTurn / 2}

// TestHostileRegion asks files that somebody made by hand, with all checksums as they should be: each request ends in
// bounded time, with bounded memory, in an answer or in an error that becomes a 503.
func TestHostileRegion(t *testing.T) {
	pace := testpace.Watch(t)
	const many = 2_000_000
	for name, change := range map[string]func(b *builder){
		"a tree of which everything is near": func(b *builder) {
			tree := tree{First: uint32(len(b.items)), Count: many, Boxes: uint32(len(b.branches))}
			b.items = append(b.items, make([]uint32, many)...)
			boxes := slices.Repeat([]box{everywhere}, many)
			tree.Branches = tree.Boxes + many
			b.branches = append(append(b.branches, boxes...), appendPyramid(nil, boxes)...)
			for i := range b.trees {
				b.trees[i] = tree
			}
			b.areas = slices.Repeat([]area{{Flags: areaAnswers, City: 1, State: 1}}, many)
			b.roots = nil
		},
		"a feature of many parts, all of them near": func(b *builder) {
			f, end := &b.features[0], &b.features[1]
			f.Shape = shapeArea
			f.Chunks, end.Chunks = uint32(len(b.chunks)), uint32(len(b.chunks)+many)
			b.chunks = append(b.chunks, slices.Repeat([]chunk{{0, 1}}, many)...)
			f.Branches = uint32(len(b.branches))
			boxes := slices.Repeat([]box{everywhere}, many)
			b.branches = append(append(b.branches, boxes...), appendPyramid(nil, boxes)...)
			end.Branches = uint32(len(b.branches))
			for i := range b.boxes {
				b.boxes[i] = everywhere
			}
			b.roots = nil
		},
		"a line without end": func(b *builder) {
			f, end := &b.features[0], &b.features[1]
			f.Shape, f.Coords = shapeLine, uint32(len(b.coords))
			b.coords = append(b.coords, make([]coord, 4*many)...)
			end.Coords = uint32(len(b.coords))
			b.boxes[0] = everywhere
			b.roots = nil
		},
		"a part of a line without end": func(b *builder) {
			f, end := &b.features[0], &b.features[1]
			f.Shape, f.Coords = shapeLine, uint32(len(b.coords))
			f.Chunks, f.Branches = uint32(len(b.chunks)), uint32(len(b.branches))
			b.coords = append(b.coords, make([]coord, 4*many)...)
			b.chunks, b.branches = append(b.chunks, chunk{0, 4*many - 1}), append(b.branches, everywhere)
			end.Coords, end.Chunks, end.Branches = uint32(len(b.coords)), uint32(len(b.chunks)), uint32(len(b.branches))
			b.boxes[0] = everywhere
			b.roots = nil
		},
		"names without end": func(b *builder) {
			at := uint32(len(b.strings.text))
			b.strings.text = binary.AppendUvarint(b.strings.text, 100<<20)
			b.strings.text = append(b.strings.text, make([]byte, 100<<20)...)
			for i := range b.features {
				b.features[i].Name = at
			}
			for i := range b.terms {
				b.terms[i].Text = at
			}
		},
		"a feature that is everything": func(b *builder) {
			for i := range b.features {
				b.features[i].Pairs, b.features[i].Names = uint32(i*len(b.pairs)), uint32(i*len(b.names))
			}
			b.pairs = slices.Repeat(b.pairs, many/len(b.pairs))
			b.names = slices.Repeat([]translation{{1, 1}}, many)
			for i := range b.features {
				b.features[i].Pairs, b.features[i].Names = uint32(i*many/len(b.features)), uint32(i*many/len(b.features))
			}
		},
		"cells within themselves": func(b *builder) {
			b.nodes = slices.Repeat([]uint32{4 << 1}, 16)
			for i := range b.roots {
				b.roots[i].Node = 4 << 1
			}
		},
		"cells of one feature": func(b *builder) {
			at := uint32(len(b.cells))
			b.cells = append(b.cells, cellCovered|cellFeatures|cellFeatureMask|cellAreaMask<<cellAreaShift|cellCityMask<<cellCityShift|
				cellSuburbMask<<cellSuburbShift|cellContext, 0, math.Float32bits(1e30))
			b.cells = append(b.cells, make([]uint32, 1000)...)
			for i := range b.roots {
				b.roots[i].Node = at<<1 | nodeIsCell
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := county()
			b := newBuilder()
			tiles := []uint32{region.CoverageTile(at(-12, 0)), region.CoverageTile(kansas)}
			slices.Sort(tiles)
			tiles = slices.Compact(tiles)
			w.Tiles = tiles
			if err := b.build(&w.Data); err != nil {
				t.Fatal(err)
			}
			change(b)
			var sections region.Writer
			b.write(&sections)
			path := filepath.Join(t.TempDir(), "a.region")
			commit(t, path, &sections, tiles)
			file, err := region.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Release()
			x, err := Open(file)
			if err != nil {
				t.Fatal(err)
			}
			refused := 0
			for range 2 { // what the first has read is checked then
				for _, p := range []orb.Point{at(-12, 0), kansas} {
					for _, req := range []Request{
						{Point: p, Size: 5}, {Point: p, Size: 5, Categories: []string{"highway", "place"}}, {Point: p, Size: 1,
							Languages: []string{"de", "fr"}},
						{Point: p, Size: 5, MaxDistance: 1e9},
					} {
						began, before := time.Now(), taken()
						r, err := x.Reverse(t.Context(), &req)
						var damage *region.DamageError
						if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) && !errors.Is(err, ErrOverloaded) {
							t.Errorf("%v, %v", r, err)
						}
						if err != nil {
							refused++
						}
						if took := time.Since(began); took > pace.AllowWork(2*time.Second) {
							t.Errorf("%+v took %v: %v", req, took, err)
						}
						if memory := taken() - before; memory > 256<<20 {
							t.Errorf("%+v took %d MB: %v", req, memory>>20, err)
						}
					}
				}
			}
			if refused == 0 && !strings.HasPrefix(name, "cells") { // which the trees stand in for, or which are small
				t.Error("everything was answered")
			}
		})
	}
}

// taken is how much memory was taken so far, whatever became of it.
func taken() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
