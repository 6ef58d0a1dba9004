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

// write makes a region file with sections of several blocks.
func write(t testing.TB, path string) {
	t.Helper()
	var w Writer
	Add(&w, "odd", odds(50_000))
	Add(&w, "words", []uint32{1, 3, 5, 7})
	Add(&w, "none", []uint64{})
	AddCoverage(&w, []uint32{CoverageTile(orb.Point{-75.5, 39.7})})
	if err := w.Commit(t.Context(), path, testMeta); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	write(t, path)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
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
	dir := t.TempDir()
	for i, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}} {
		var w Writer
		var wg sync.WaitGroup
		for _, name := range order {
			wg.Go(func() { Add(&w, name, []byte(name+name)) })
		}
		wg.Wait()
		if err := w.Commit(t.Context(), filepath.Join(dir, string(rune('0'+i))), testMeta); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := os.ReadFile(filepath.Join(dir, "0"))
	b, _ := os.ReadFile(filepath.Join(dir, "1"))
	if len(a) == 0 || !bytes.Equal(a, b) {
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
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	write(t, good)
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	positions := []int{0, 8, 12, 16, 24, 32, 40, 48, 1000, headerSize - 1, headerSize, len(content) - 1}
	for range 60 {
		positions = append(positions, rng.IntN(len(content)))
	}
	path := filepath.Join(dir, "bad")
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

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	write(t, good)
	content, _ := os.ReadFile(good)
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
		})
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
	path := filepath.Join(t.TempDir(), "a.region")
	var w Writer
	if err := w.Commit(t.Context(), path, Meta{License: strings.Repeat("free ", 4<<20)}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	if _, err := f.Info(); err == nil || !strings.Contains(err.Error(), "its description has") {
		t.Errorf("a description of 20 MB: %v", err)
	}
}

// TestStop: limits that are met deep inside of what reads become its error.
func TestStop(t *testing.T) {
	limit := errors.New("too much")
	read := func() (err error) {
		defer Recover(&err, FaultsPanic())
		panic(Stop{limit})
	}
	if err := read(); err != limit {
		t.Errorf("the error is %v", err)
	}
}

// TestTruncatedInPlace cuts a mapped file short, as a careless copy does: the read is an error and the process lives.
func TestTruncatedInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	write(t, path)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	v, _ := Section[odd](f, "odd")
	if err := os.Truncate(path, headerSize); err != nil {
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

func TestRecoverLeavesOtherPanics(t *testing.T) {
	defer func() {
		if recover() != "mine" {
			t.Error("a panic that is not about the file was swallowed")
		}
	}()
	func() (err error) {
		defer Recover(&err, FaultsPanic())
		panic("mine")
	}()
}

func TestReferences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	write(t, path)
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
	path := filepath.Join(f.TempDir(), "seed")
	var w Writer
	Add(&w, "words", []uint32{1, 2, 3})
	if err := w.Commit(f.Context(), path, testMeta); err != nil {
		f.Fatal(err)
	}
	seed, _ := os.ReadFile(path)
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

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.region")
	var w Writer
	Add(&w, "large", make([]uint64, 32<<20)) // 256 MiB: opening reads none of it
	if err := w.Commit(b.Context(), path, testMeta); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		f, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		f.Release()
	}
}

func BenchmarkAt(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.region")
	write(b, path)
	f, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Release()
	v, _ := Section[odd](f, "odd")
	var sum uint32
	for i := 0; b.Loop(); i++ {
		sum += v.At(i % 50_000).B
	}
	_ = sum
}
