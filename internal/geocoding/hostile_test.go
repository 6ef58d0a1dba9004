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
	return &placeSections{
		blocks: section[placefile.Block](t, f, placefile.SectionBlocks),
		records: section[byte](t, f,
			placefile.SectionRecords),
		kinds:     section[byte](t, f, placefile.SectionKinds),
		addresses: section[byte](t, f, placefile.SectionAddresses),
		text:      section[byte](t, f, placefile.SectionText),
		items:     section[byte](t, f, placefile.SectionItems),
		contexts:  section[byte](t, f, placefile.SectionContexts),
		trees:     section[placefile.Tree](t, f, placefile.SectionTrees),
		terms:     section[placefile.Term](t, f, placefile.SectionTerms),
		leaves: section[placefile.Leaf](t, f,
			placefile.SectionLeaves),
		levels: section[geo.Box](
			t,
			f,
			placefile.SectionLevels,
		),
		settlements: section[placefile.Settlement](t, f, placefile.SectionSettled),
		places:      section[placefile.Place](t, f, placefile.SectionPlaces),
		runs:        section[placefile.Run](t, f, placefile.SectionRuns),
	}
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

// FuzzHostileSections changes the numbers in the sections and gives the file proper checksums: whatever they lead to,
// the answer comes and is a result or an error.
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
	c.blocks, c.records, c.kinds, c.addresses = slices.Clone(s.blocks), slices.Clone(s.records), slices.Clone(s.kinds),
		slices.Clone(s.addresses)
	c.text, c.items, c.contexts, c.trees = slices.Clone(s.text), slices.Clone(s.items), slices.Clone(s.contexts),
		slices.Clone(s.trees)
	c.terms, c.leaves, c.levels, c.runs = slices.Clone(s.terms), slices.Clone(s.leaves), slices.Clone(s.levels),
		slices.Clone(s.runs)
	c.settlements, c.places = slices.Clone(s.settlements), slices.Clone(s.places)
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

// parts is the beginning of a geometry of many parts, with a box of each that holds everything.
func parts(n uint32, run uint32) []byte {
	levels := geo.NewTree(n)
	data := binary.LittleEndian.AppendUint32([]byte{1 << 2, 16}, n)
	box := []byte{0, 0, 0, 0, farEast & 0xff, farEast >> 8, farNorth & 0xff, farNorth >> 8}
	data = append(data, bytes.Repeat(binary.LittleEndian.AppendUint32(slices.Clone(box), run), int(n))...)
	return append(data, bytes.Repeat(box, levels.Boxes())...)
}

// TestHostileRegion asks files that somebody made by hand, with all checksums as they should be: each request ends in
// bounded time, with bounded memory, in an answer or in an error that becomes a 503.
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
		"a feature of many parts, all of them near": func(s *placeSections) {
			at := uint32(6 + many*12 + 8*boxesOver(many))
			s.nearAll(areaRecord(append(parts(many, at), 1<<4, 0, 0, 1, 1)...))
		},
		"more parts than there are": func(s *placeSections) {
			s.nearAll(areaRecord(parts(20, 0)[:6]...))
			binary.LittleEndian.PutUint32(s.records[len(s.records)-4:], math.MaxUint32)
		},
		"a part of no length": func(s *placeSections) { s.nearAll(areaRecord(0, 0, 0)) },
		"a string without end": func(s *placeSections) {
			s.text = append(endless, s.text...)
			for i := range s.terms {
				s.terms[i].Text = 1
			}
			s.kinds = append([]byte{0}, append([]byte{1}, endless...)...)
			s.nearAll([]byte{0, 0, 0, 0, 0, 9, 1})
		},
		"a feature that is everything": func(s *placeSections) {
			s.kinds = append([]byte{0}, endless...)
			s.nearAll(append([]byte{1 << 7, 0, 0, 0, 0, 9, 1}, endless...))
		},
		"areas that are everything": func(s *placeSections) {
			s.nearAll(areaRecord(0, 0, 0))
			list := binary.AppendUvarint([]byte{0}, placefile.MaxString)
			s.contexts = append(list, make([]byte, placefile.MaxString)...)
			s.runs = []placefile.Run{{Context: 1}}
		},
		"areas that there are not": func(s *placeSections) {
			s.contexts = append([]byte{0, 11, 1}, endless...)
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

// boxesOver is how many boxes there are over n parts.
func boxesOver(n uint32) int {
	levels := geo.NewTree(n)
	return levels.Boxes()
}

// taken is how much memory was taken so far, whatever became of it.
func taken() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
