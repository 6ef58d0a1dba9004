package geocoding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/paulmach/orb"
)

// commit writes sections into a file.
func commit(t testing.TB, path string, w *region.Writer, tiles []uint32) {
	t.Helper()
	region.AddCoverage(w, tiles)
	if err := w.Commit(t.Context(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
}

func TestSameDataSameBytes(t *testing.T) {
	dir := t.TempDir()
	var files [2][]byte
	for i := range files {
		path := filepath.Join(dir, fmt.Sprint(i))
		d := readExtract(t, andorra)
		var w region.Writer
		if err := Write(&w, d); err != nil {
			t.Fatal(err)
		}
		commit(t, path, &w, d.Tiles)
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if len(files[0]) < 10_000 || !bytes.Equal(files[0], files[1]) {
		t.Errorf("%d and %d bytes that differ", len(files[0]), len(files[1]))
	}
}

// TestRegionWithoutPlaces opens a region that only has coverage, and one of data without features.
func TestRegionWithoutPlaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	commit(t, path, new(region.Writer), []uint32{region.CoverageTile(kansas)})
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	bare, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]*Index{"no sections": bare, "no features": new(world).build(t)} {
		for _, categories := range [][]string{nil, {"restaurant"}} {
			if got := ask(t, x, kansas, 5, categories...); len(got) != 0 {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestAnswersOutliveTheFile reads an answer after the file is unmapped.
func TestAnswersOutliveTheFile(t *testing.T) {
	w := county()
	path := filepath.Join(t.TempDir(), "a.region")
	var sections region.Writer
	if err := Write(&sections, &w.Data); err != nil {
		t.Fatal(err)
	}
	commit(t, path, &sections, []uint32{region.CoverageTile(at(-12, 0))})
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	got := ask(t, x, at(-12, 0), 1)
	f.Release()
	want := Place{ID: "way:30", Name: "Long Road", DisplayName: "Long Road, Riverside, Milltown, West, Union", Category: "highway", Type: "primary",
		Location: at(-12, 0), Address: Address{Street: "Long Road", Suburb: "Riverside", City: "Milltown",
			County: "Some County", State: "West", Postcode: "12345", Country: "Union", CountryCode: "USA"}}
	if diff := cmp.Diff([]Place{want}, got, approximate); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentUse(t *testing.T) {
	d := readExtract(t, andorra)
	x := build(t, d)
	points := []orb.Point{{1.52, 42.507}, {1.58, 42.55}, {1.73, 42.54}, {1.45, 42.46}}
	var want [][]Place
	for _, p := range points {
		want = append(want, ask(t, x, p, 5))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				n := i % len(points)
				r, err := x.Reverse(t.Context(), &Request{Point: points[n], Size: 5, MaxDistance: DefaultMaxDistance})
				if err != nil || !cmp.Equal(r.Places, want[n]) {
					t.Errorf("%v: %v, %v", points[n], r, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestDamagedBlock changes one byte of each section: the answer is an error, or the same as before where the byte was not
// needed.
func TestDamagedBlock(t *testing.T) {
	w := county()
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	var sections region.Writer
	if err := Write(&sections, &w.Data); err != nil {
		t.Fatal(err)
	}
	commit(t, good, &sections, []uint32{region.CoverageTile(at(-12, 0))})
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for i := 4096; i < len(content); i += 97 {
		bad := bytes.Clone(content)
		bad[i] ^= 0x10
		path := filepath.Join(dir, "bad")
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := region.Open(path)
		if err != nil {
			continue
		}
		x, err := Open(f)
		if err == nil {
			_, err = x.Reverse(t.Context(), &Request{Point: at(-12, 0), Size: 5})
		}
		var damage *region.DamageError
		if errors.As(err, &damage) {
			damaged++
		} else if err != nil {
			t.Errorf("byte %d: %v", i, err)
		}
		f.Release()
		os.Remove(path)
	}
	if damaged == 0 {
		t.Error("no damage was found")
	}
}

func TestForeignSections(t *testing.T) {
	for name, add := range map[string]func(*region.Writer){
		"another element size": func(w *region.Writer) { region.Add(w, sectionFeatures, []uint16{1, 2, 3}) },
		"too few trees":        func(w *region.Writer) { region.Add(w, sectionTrees, make([]tree, 2)) },
	} {
		var w region.Writer
		add(&w)
		path := filepath.Join(t.TempDir(), "a.region")
		commit(t, path, &w, nil)
		f, err := region.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(f); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		f.Release()
	}
}

// FuzzReverse asks for anything. Every position of the Earth has an answer, within what was asked for.
func FuzzReverse(f *testing.F) {
	w := county()
	w.Interpolations = []extract.Interpolation{{Way: 9, Line: line(-3, 3, 3, 3), Numbers: []int32{1, 99}, Step: 1,
		Tags: tags("addr:street=Elm Street")}}
	x := w.build(f)
	f.Add(kansas[0], kansas[1], 5, 1000.0, "")
	f.Add(at(-12, 0)[0], at(-12, 0)[1], 1, 0.0, "highway,place")
	f.Add(180.0, 90.0, -3, 1e300, " PRIMARY ,")
	f.Add(-98.5, math.Copysign(0, -1), 1<<40, math.Inf(1), "\xff,\x00")
	f.Fuzz(func(t *testing.T, lon, lat float64, size int, reach float64, categories string) {
		req := Request{Point: orb.Point{lon, lat}, Size: size, MaxDistance: reach, Categories: strings.Split(categories, ",")}
		r, err := x.Reverse(t.Context(), &req)
		if valid := math.Abs(lon) <= 180 && math.Abs(lat) <= 90; valid != (err == nil) {
			t.Fatalf("%+v: %v", req, err)
		}
		if err != nil {
			return
		}
		if len(r.Places) > MaxSize || len(r.Places) > max(size, 1) {
			t.Fatalf("%d results", len(r.Places))
		}
		filtered := strings.Trim(categories, ", \t\r\n\v\f") != ""
		last := 0.0
		for _, p := range r.Places {
			if p.ID == "" || p.Name == "" || p.Category == "" || p.Type == "" || !strings.HasPrefix(p.DisplayName, p.Name) {
				t.Errorf("incomplete: %+v", p)
			}
			if p.Distance < last || filtered && reach > 0 && p.Distance > reach || math.IsNaN(p.Distance) || !finite(p.Location) {
				t.Errorf("distance: %+v after %g", p, last)
			}
			if c, ok := country.ByAlpha3(p.Address.CountryCode); p.Address.CountryCode != "" && !ok {
				t.Errorf("country code of %v", c)
			}
			last = p.Distance
		}
	})
}

// FuzzHostileSections changes the numbers in the sections and gives the file proper checksums: whatever they lead to, the
// answer comes and is a result or an error.
func FuzzHostileSections(f *testing.F) {
	f.Add(0, 3, uint32(math.MaxUint32), 1, 8, uint32(77))
	f.Add(8, 2, uint32(1)<<31, 8, 6, uint32(math.MaxUint32))
	f.Add(9, 0, uint32(5000), 3, 1, uint32(0))
	f.Add(11, 2, uint32(0xfffffff0), 12, 0, uint32(9))
	w := county()
	tiles := []uint32{region.CoverageTile(at(-12, 0)), region.CoverageTile(kansas)}
	f.Fuzz(func(t *testing.T, section1, word1 int, value1 uint32, section2, word2 int, value2 uint32) {
		b := newBuilder()
		if err := b.build(&w.Data); err != nil {
			t.Fatal(err)
		}
		b.change(section1, word1, value1)
		b.change(section2, word2, value2)
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
			return
		}
		for _, p := range []orb.Point{at(-12, 0), kansas, at(-10, 0)} {
			for _, categories := range [][]string{nil, {"highway", "place", "town"}} {
				r, err := x.Reverse(t.Context(), &Request{Point: p, Size: 5, Categories: categories})
				var damage *region.DamageError
				if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) && !errors.Is(err, ErrOverloaded) {
					t.Errorf("%v, %v", r, err)
				}
			}
		}
	})
}

// change overwrites one 32-bit word of one section.
func (b *builder) change(section, word int, value uint32) {
	set := []func(int, uint32){
		change(b.features), change(b.boxes), change(b.coords), change(b.chunks), change(b.pairs), change(b.names), change(b.addresses),
		change(b.places), change(b.areas), change(b.trees), change(b.items), change(b.branches), change(b.terms), change(b.strings.text),
		change(b.roots), change(b.nodes), change(b.cells), change(b.contexts),
	}
	set[uint(section)%uint(len(set))](word, value)
}

func change[T any](s []T) func(int, uint32) {
	return func(word int, value uint32) {
		var raw bytes.Buffer
		if err := binary.Write(&raw, binary.LittleEndian, s); err != nil || raw.Len() < 4 {
			return
		}
		at := int(uint(word)%uint(raw.Len()/4)) * 4
		binary.LittleEndian.PutUint32(raw.Bytes()[at:], value)
		if err := binary.Read(&raw, binary.LittleEndian, s); err != nil {
			panic(err)
		}
	}
}

// TestIntoReusesMemory asks several times with one result: each answer is what it would be in memory of its own, and nothing is
// allocated.
func TestIntoReusesMemory(t *testing.T) {
	x := build(t, readExtract(t, delaware))
	points := delawarePoints(300)
	var into Result
	for i, p := range points {
		req := Request{Point: p, Size: 1 + i%MaxSize}
		want, err := x.Reverse(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		req.Into = &into
		got, err := x.Reverse(t.Context(), &req)
		if err != nil || got != &into {
			t.Fatalf("another result, %v", err)
		}
		if diff := cmp.Diff(want.Places, got.Places, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%v (-own memory +reused):\n%s", p, diff)
		}
	}
	req := Request{Size: MaxSize, Into: &into}
	i := 0
	allocs := testing.AllocsPerRun(len(points), func() {
		req.Point = points[i%len(points)]
		i++
		if _, err := x.Reverse(t.Context(), &req); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 && !raceEnabled { // which lets pools forget
		t.Errorf("%g allocations", allocs)
	}
}
