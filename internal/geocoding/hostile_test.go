package geocoding_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// placeSections are the sections of a region, to be changed.
type placeSections struct {
	blocks                                           []placefile.Block
	records, kinds, addresses, text, items, contexts []byte
	trees                                            []placefile.Tree
	terms                                            []placefile.Term
	leaves                                           []placefile.Leaf
	levels                                           []geo.Box
	settlements                                      []placefile.Settlement
	places                                           []placefile.Place
	runs                                             []placefile.Run
}

// readSections reads those of a world.
func readSections(t testing.TB, w *placestest.World) *placeSections {
	t.Helper()
	f := geocodingtest.Build(t, w).File
	s := new(placeSections)
	s.blocks = section[placefile.Block](t, f, placefile.SectionBlocks)
	s.records = section[byte](t, f, placefile.SectionRecords)
	s.kinds = section[byte](t, f, placefile.SectionKinds)
	s.addresses = section[byte](t, f, placefile.SectionAddresses)
	s.text = section[byte](t, f, placefile.SectionText)
	s.items = section[byte](t, f, placefile.SectionItems)
	s.contexts = section[byte](t, f, placefile.SectionContexts)
	s.trees = section[placefile.Tree](t, f, placefile.SectionTrees)
	s.terms = section[placefile.Term](t, f, placefile.SectionTerms)
	s.leaves = section[placefile.Leaf](t, f, placefile.SectionLeaves)
	s.levels = section[geo.Box](t, f, placefile.SectionLevels)
	s.settlements = section[placefile.Settlement](t, f, placefile.SectionSettled)
	s.places = section[placefile.Place](t, f, placefile.SectionPlaces)
	s.runs = section[placefile.Run](t, f, placefile.SectionRuns)
	return s
}

func section[T any](t testing.TB, f *region.File, name string) []T {
	t.Helper()
	v, err := region.Section[T](f, name)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(v.All())
}

// open writes the sections into a region with proper checksums, and opens it.
func (s *placeSections) open(t testing.TB, tiles []uint32) *geocoding.Index {
	t.Helper()
	var w region.Writer
	region.Add(&w, placefile.SectionBlocks, s.blocks)
	region.Add(&w, placefile.SectionRecords, s.records)
	region.Add(&w, placefile.SectionKinds, s.kinds)
	region.Add(&w, placefile.SectionAddresses, s.addresses)
	region.Add(&w, placefile.SectionText, s.text)
	region.Add(&w, placefile.SectionItems, s.items)
	region.Add(&w, placefile.SectionSettled, s.settlements)
	region.Add(&w, placefile.SectionPlaces, s.places)
	region.Add(&w, placefile.SectionContexts, s.contexts)
	region.Add(&w, placefile.SectionTrees, s.trees)
	region.Add(&w, placefile.SectionTerms, s.terms)
	region.Add(&w, placefile.SectionLeaves, s.leaves)
	region.Add(&w, placefile.SectionLevels, s.levels)
	region.Add(&w, placefile.SectionRuns, s.runs)
	path := filepath.Join(t.TempDir(), "a.region")
	placestest.Commit(t, path, &w, tiles)
	file, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Release)
	x, err := geocoding.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// change overwrites one 32-bit word of one section.
func (s *placeSections) change(section, word int, value uint32) {
	set := []func(int, uint32){
		change(s.blocks), change(s.records), change(s.kinds), change(s.addresses), change(s.text), change(s.items),
		change(s.contexts), change(s.trees), change(s.terms), change(s.leaves), change(s.levels), change(s.runs),
		change(s.settlements), change(s.places),
	}
	set[uint(section)%uint(len(set))](word, value)
}

func change[T any](s []T) func(int, uint32) {
	return func(word int, value uint32) {
		var raw bytes.Buffer
		if err := binary.Write(&raw, binary.LittleEndian, s); err != nil || raw.Len() < 4 {
			return
		}
		at := int(uint(word) % uint(raw.Len()-3))
		binary.LittleEndian.PutUint32(raw.Bytes()[at:], value)
		if err := binary.Read(&raw, binary.LittleEndian, s); err != nil {
			panic(err)
		}
	}
}

// hostileTiles are those of the positions that hostile regions are asked for.
func hostileTiles() []uint32 {
	tiles := []uint32{region.CoverageTile(placestest.At(-12, 0)), region.CoverageTile(placestest.Kansas)}
	slices.Sort(tiles)
	return slices.Compact(tiles)
}

// FuzzHostileSections changes numbers in the sections of a file with correct checksums: the answer is a result or an
// error.
func FuzzHostileSections(f *testing.F) {
	f.Add(0, 3, uint32(math.MaxUint32), 1, 8, uint32(77))
	f.Add(1, 2, uint32(1)<<31, 6, 6, uint32(math.MaxUint32))
	f.Add(9, 0, uint32(5000), 3, 1, uint32(0))
	f.Add(11, 2, uint32(0xfffffff0), 6, 0, uint32(0xffff0f0f))
	w := county()
	w.Tiles = hostileTiles()
	good := readSections(f, w)
	f.Fuzz(func(t *testing.T, section1, word1 int, value1 uint32, section2, word2 int, value2 uint32) {
		s := good.clone()
		s.change(section1, word1, value1)
		s.change(section2, word2, value2)
		x := s.open(t, w.Tiles)
		for _, p := range []orb.Point{placestest.At(-12, 0), placestest.Kansas, placestest.At(-10, 0)} {
			for _, categories := range [][]string{nil, {"highway", "place", "town"}} {
				r, err := x.Reverse(t.Context(), &geocoding.Request{Point: p, Size: 5, Categories: categories,
					Languages: []string{"de"}})
				var damage *region.DamageError
				if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) &&
					!errors.Is(err, geocoding.ErrWork) {
					t.Errorf("%v, %v", r, err)
				}
			}
		}
	})
}

// clone copies what may be changed.
func (s *placeSections) clone() *placeSections {
	c := *s
	c.blocks = slices.Clone(s.blocks)
	c.records = slices.Clone(s.records)
	c.kinds = slices.Clone(s.kinds)
	c.addresses = slices.Clone(s.addresses)
	c.text = slices.Clone(s.text)
	c.items = slices.Clone(s.items)
	c.contexts = slices.Clone(s.contexts)
	c.trees = slices.Clone(s.trees)
	c.terms = slices.Clone(s.terms)
	c.leaves = slices.Clone(s.leaves)
	c.levels = slices.Clone(s.levels)
	c.settlements = slices.Clone(s.settlements)
	c.places = slices.Clone(s.places)
	c.runs = slices.Clone(s.runs)
	return &c
}

// everywhere is a box that holds all positions.
var everywhere = geo.Box{MinX: -geometry.HalfTurn, MinY: -geometry.HalfTurn / 2, MaxX: geometry.HalfTurn,
	MaxY: geometry.HalfTurn / 2}

// farEast and farNorth are how far everything reaches, shifted by 16 bits.
const farEast, farNorth = 54_931, 27_465

// nearAll makes the boxes of all features hold everything, and their records the same.
func (s *placeSections) nearAll(record []byte) {
	at := uint64(len(s.records))
	s.records = append(s.records, record...)
	for i := range s.blocks {
		b := &s.blocks[i]
		*b = placefile.Block{At: at, X: everywhere.MinX, Y: everywhere.MinY, Shift: 16, Width: farEast,
			Height: farNorth}
		for k := range b.MaxX {
			b.MaxX[k], b.MaxY[k] = farEast, farNorth
		}
	}
	s.runs = nil
}

// areaRecord is one of an area with its geometry.
func areaRecord(geometry ...byte) []byte {
	return append([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 9, 1}, geometry...)
}

// TestHostileRegion asks crafted files with correct checksums: each request ends in bounded time, with bounded memory,
// in an answer or in an error that becomes a 503.
func TestHostileRegion(t *testing.T) {
	const many = 2_000_000
	endless := binary.AppendUvarint(nil, 1<<62)
	for name, change := range map[string]func(s *placeSections){
		"a tree of which everything is near": func(s *placeSections) {
			s.nearAll(s.records[s.blocks[0].At:])
			tree := placefile.Tree{Count: many, Leaves: uint32(len(s.leaves)), Levels: uint32(len(s.levels)),
				Items: uint64(len(s.items))}
			s.items = append(s.items, make([]byte, placefile.Fanout)...)
			boxes := slices.Repeat([]geo.Box{everywhere}, int(tree.LeafCount()))
			for _, b := range boxes {
				s.leaves = append(s.leaves, placefile.Leaf{Box: b})
			}
			s.levels = geo.AppendTreeLevels(s.levels, boxes)
			for i := range s.trees {
				s.trees[i] = tree
			}
			s.trees[placefile.TreeGeneral].Count = uint32(len(s.blocks) * placefile.Fanout)
			s.trees[placefile.TreeGeneral].Levels = 0
		},
		"a string without end": func(s *placeSections) {
			s.text = append(endless, s.text...)
			for i := range s.terms {
				s.terms[i].Text = 1
			}
			s.kinds = append([]byte{0}, append([]byte{1}, endless...)...)
			s.nearAll([]byte{0, 0, 0, 0, 0, 9, 1})
		},
		"areas that are everything": func(s *placeSections) {
			s.nearAll(areaRecord(0, 0, 0))
			list := binary.AppendUvarint([]byte{0}, placefile.MaxString)
			s.contexts = append(list, make([]byte, placefile.MaxString)...)
			s.runs = []placefile.Run{{Context: 1}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, " near") { // a hundred times as much as the others
				testkit.Whole(t)
			}
			w := county()
			w.Tiles = hostileTiles()
			s := readSections(t, w)
			change(s)
			x := s.open(t, w.Tiles)
			refused := 0
			for range 2 { // what the first has read is checked then
				for _, p := range []orb.Point{placestest.At(-12, 0), placestest.Kansas} {
					for _, req := range []geocoding.Request{
						{Point: p, Size: 5}, {Point: p, Size: 5, Categories: []string{"highway", "place"}}, {Point: p, Size: 1,
							Languages: []string{"de", "fr"}},
						{Point: p, Size: 5, MaxDistance: 1e9},
					} {
						var r *geocoding.Result
						var err error
						before := taken()
						testkit.Work(t, fmt.Sprintf("%+v", req), 2*time.Second, func() {
							r, err = x.Reverse(t.Context(), &req)
						})
						memory := taken() - before
						var damage *region.DamageError
						if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) &&
							!errors.Is(err, geocoding.ErrWork) {
							t.Errorf("%v, %v", r, err)
						}
						if err != nil {
							refused++
						}
						if memory > 256<<20 {
							t.Errorf("%+v took %d MB: %v", req, memory>>20, err)
						}
					}
				}
			}
			if refused == 0 {
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
