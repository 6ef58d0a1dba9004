package region

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

// odd has a size that is no power of two, so that some of its elements lie across two blocks.
type odd struct{ A, B, C uint32 }

func odds(n int) []odd {
	s := make([]odd, n)
	for i := range s {
		s[i] = odd{uint32(i), uint32(i) * 3, uint32(i) * 7}
	}
	return s
}

var testMeta = Meta{Sources: []string{"a.osm.pbf"}, License: "ODbL-1.0", Attribution: "© OpenStreetMap contributors",
	Bounds: Bounds{1, 2, 3, 4}, Counts: map[string]int64{"roads": 5}}

// several adds sections of several blocks.
func several(w *Writer) {
	Add(w, "odd", odds(50_000))
	Add(w, "words", []uint32{1, 3, 5, 7})
	Add(w, "none", []uint64{})
	AddCoverage(w, []uint32{CoverageTile(orb.Point{-75.5, 39.7})})
}

// written opens a region file with some sections.
func written(t testing.TB, meta Meta, add func(*Writer)) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.region")
	var w Writer
	add(&w)
	if err := w.Commit(t.Context(), path, meta); err != nil {
		t.Fatal(err)
	}
	return opened(t, path)
}

func opened(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	return f
}

// content reads the bytes of such a file.
func content(t testing.TB, add func(*Writer)) []byte {
	t.Helper()
	data, err := os.ReadFile(written(t, testMeta, add).Path())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRoundTrip(t *testing.T) {
	f := written(t, testMeta, several)
	v, err := Section[odd](f, "odd")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range odds(50_000) {
		if *v.At(i) != want {
			t.Fatalf("element %d is %v, want %v", i, *v.At(i), want)
		}
	}
	if diff := cmp.Diff(odds(50_000), v.All()); diff != "" {
		t.Error(diff)
	}
	words, _ := Section[uint32](f, "words")
	for x, want := range map[uint32]struct {
		i  int
		ok bool
	}{0: {0, false}, 1: {0, true}, 4: {2, false}, 7: {3, true}, 9: {4, false}} {
		if i, ok := Search(&words, x); i != want.i || ok != want.ok {
			t.Errorf("Search(%d) = %d, %v; want %d, %v", x, i, ok, want.i, want.ok)
		}
	}
	if none, err := Section[uint64](f, "none"); err != nil || none.Len() != 0 {
		t.Errorf("the empty section: %v, %v", none, err)
	}
	if absent, err := Section[uint64](f, "absent"); err != nil || absent.Len() != 0 {
		t.Errorf("a section that is not there: %v, %v", absent, err)
	}
	if _, err := Section[uint64](f, "words"); err == nil {
		t.Error("a section of another element size was given out")
	}
	if !f.Covers(orb.Point{-75.5, 39.7}) || f.Covers(orb.Point{-70, 39.7}) {
		t.Error("coverage is wrong")
	}
	info, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(testMeta, info.Meta); diff != "" {
		t.Error(diff)
	}
	if err := f.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSameInputSameBytes(t *testing.T) {
	var files [2][]byte
	for i, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}} {
		files[i] = content(t, func(w *Writer) {
			var wg sync.WaitGroup
			for _, name := range order {
				wg.Go(func() { Add(w, name, []byte(name+name)) })
			}
			wg.Wait()
		})
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the same sections in another order made another file")
	}
}

func TestCommitLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.region")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var w Writer
	Add(&w, "a", []byte{1})
	if err := w.Commit(ctx, path, testMeta); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit with an ended context: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	old, _ := os.ReadFile(path)
	if len(entries) != 1 || string(old) != "old" {
		t.Errorf("left behind: %v; the old file holds %q", entries, old)
	}
}

// TestDamage flips single bits all over a file: each is found at opening or when the block is read, and never reaches
// the reader as data.
func TestDamage(t *testing.T) {
	content := content(t, several)
	rng := rand.New(rand.NewPCG(1, 2))
	positions := []int{0, 8, 12, 16, 24, 32, 40, 48, 1000, headerSize - 1, headerSize, len(content) - 1}
	for range 60 {
		positions = append(positions, rng.IntN(len(content)))
	}
	path := filepath.Join(t.TempDir(), "bad")
	for _, at := range positions {
		bad := bytes.Clone(content)
		bad[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err == nil {
			err = f.Verify(t.Context())
			f.Release()
		}
		if err == nil {
			t.Errorf("a flipped bit in byte %d of %d was not found", at, len(content))
			continue
		}
		if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, path) {
			t.Errorf("byte %d: the error is not one line that starts with the path: %q", at, text)
		}
	}
}

// TestRefused: what Open refuses, ReadAnnouncement refuses as well if the first page shows it.
func TestRefused(t *testing.T) {
	dir, content := t.TempDir(), content(t, several)
	newer := bytes.Clone(content)
	binary.LittleEndian.PutUint32(newer[8:], Version+1)
	older := bytes.Clone(content)
	binary.LittleEndian.PutUint32(older[8:], Version-1)
	before := bytes.Clone(content)
	copy(before, "\x89CMAPS\r\n")
	binary.LittleEndian.PutUint32(before[8:], 3)
	huge := bytes.Clone(content)
	binary.LittleEndian.PutUint64(huge[24:], 1<<62) // the offset of the checksums
	binary.LittleEndian.PutUint32(huge[headerSize-4:], crc32.Checksum(huge[:headerSize-4], castagnoli))
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"empty":       {nil, "is not a region file"},
		"foreign":     {[]byte("<osm version='0.6'>"), "is not a region file"},
		"newer":       {newer, fmt.Sprint("made by a newer version (region format ", Version+1)},
		"older":       {older, "made by an older version (region format 0, not 1): compile it again with caddy maps build"},
		"before":      {before, "was made by an older version: compile it again with caddy maps build"},
		"magic only":  {before[:8], "was made by an older version: compile it again"},
		"in magic":    {content[:7], "is not a region file"},
		"in version":  {content[:11], "is not a region file"},
		"version":     {content[:12], "is truncated: it ends in its header"},
		"header only": {content[:100], "truncated"},
		"header":      {content[:headerSize], "truncated or still being written"},
		"truncated":   {content[:len(content)-1], "truncated"},
		"longer":      {append(bytes.Clone(content), 0), "truncated or still being written"},
		"offsets":     {huge, "does not fit its size"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "f")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if f, err := Open(path); err == nil {
				f.Release()
				t.Error("was opened")
			} else if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q does not say %q in one line", err, c.want)
			}
			size := name == "truncated" || name == "longer" || name == "header" // not on the first page
			page := c.content[:min(len(c.content), AnnouncementSize)]
			if a, err := ReadAnnouncement(page); (err == nil) != size || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("announcement %+v, %v", a, err)
			}
		})
	}
	a, err := ReadAnnouncement(content[:AnnouncementSize])
	if err != nil || a.Size != int64(len(content)) || a.Checksum != written(t, testMeta, several).Checksum() {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a directory was opened")
	}
}

// TestHostileSizes: what is only claimed takes no memory, though all checksums are as they should be.
func TestHostileSizes(t *testing.T) {
	const sparse = 1 << 50 // a file system can have one that takes no room
	page := (&header{version: Version, fileSize: sparse, crcs: sparse - 1<<40, table: sparse}).encode()
	if _, err := decodeHeader(page, sparse); err == nil || !strings.Contains(err.Error(), "more than a region can have") {
		t.Errorf("a file of %d bytes: %v", sparse, err)
	}
	f := written(t, Meta{License: strings.Repeat("free ", 4<<20)}, func(*Writer) {})
	if _, err := f.Info(); err == nil || !strings.Contains(err.Error(), "its description has") {
		t.Errorf("a description of 20 MB: %v", err)
	}
}

// TestTruncatedInPlace cuts a mapped file short, as a careless copy does: the read is an error and the process lives.
func TestTruncatedInPlace(t *testing.T) {
	f := written(t, testMeta, several)
	v, _ := Section[odd](f, "odd")
	if err := os.Truncate(f.Path(), headerSize); err != nil {
		t.Skip("this system does not truncate a mapped file:", err)
	}
	read := func() (err error) {
		defer Recover(&err, FaultsPanic())
		v.At(40_000)
		return nil
	}
	var damage *DamageError
	if err := read(); !errors.As(err, &damage) || len(damage.Stack) == 0 {
		t.Errorf("reading beyond the end of the file: %v", err)
	}
}

// TestRecover: a Stop becomes its error, and a panic that is not about the file stays one.
func TestRecover(t *testing.T) {
	read := func(value any) (err error) {
		defer Recover(&err, FaultsPanic())
		panic(value)
	}
	limit := errors.New("too much")
	if err := read(Stop{limit}); err != limit {
		t.Errorf("the error is %v", err)
	}
	defer func() {
		if recover() != "mine" {
			t.Error("a panic that is not about the file was swallowed")
		}
	}()
	_ = read("mine")
}

func TestReferences(t *testing.T) {
	path := written(t, testMeta, several).Path()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	v, _ := Section[uint32](f, "words")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for f.Acquire() {
				if *v.At(2) != 5 {
					t.Error("read something else")
				}
				f.Release()
			}
		})
	}
	f.Release()
	wg.Wait()
	if f.Acquire() {
		t.Error("a reference was given after the last one was released")
	}
}

// TestAnySections writes sections of any sizes and reads them back.
func TestAnySections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	rapid.Check(t, func(t *rapid.T) {
		contents := rapid.MapOfN(rapid.StringMatching(`[a-z.]{1,20}x`), rapid.SliceOfN(rapid.Byte(), 0, 200), 0, 8).Draw(t, "sections")
		repeat := rapid.IntRange(1, 2000).Draw(t, "repeat")
		var w Writer
		for name, data := range contents {
			Add(&w, name, bytes.Repeat(data, repeat))
		}
		if err := w.Commit(context.Background(), path, testMeta); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Release()
		for name, data := range contents {
			v, err := Section[byte](f, name)
			if err != nil || !bytes.Equal(v.All(), bytes.Repeat(data, repeat)) {
				t.Fatalf("section %q came back otherwise (%v)", name, err)
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	seed := content(f, func(w *Writer) { Add(w, "words", []uint32{1, 2, 3}) })
	f.Add(seed)
	f.Add(seed[:headerSize])
	f.Add([]byte(magic))
	f.Add([]byte(magicBefore))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) >= headerSize { // a wrong CRC would end every attempt in the header
			binary.LittleEndian.PutUint32(content[headerSize-4:], crc32.Checksum(content[:headerSize-4], castagnoli))
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := Open(path)
		if err != nil {
			return
		}
		defer file.Release()
		_, _ = file.Info()
		_ = file.Verify(t.Context())
		file.Covers(orb.Point{1, 2})
	})
}

func BenchmarkOpen(b *testing.B) { // opening reads nothing of 256 MiB
	path := written(b, testMeta, func(w *Writer) { Add(w, "large", make([]uint64, 32<<20)) }).Path()
	for b.Loop() {
		f, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		f.Release()
	}
}
