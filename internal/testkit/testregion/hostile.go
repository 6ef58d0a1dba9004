package testregion

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// Section is a section of a region file: elements of Size bytes.
type Section struct {
	Name string
	Size int
	Data []byte
}

// Rewrite opens a copy of a region file whose sections were changed in place, with correct checksums.
func Rewrite(t testing.TB, path string, change func([]Section)) *region.File {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	le, table := binary.LittleEndian, crc32.MakeTable(crc32.Castagnoli)
	const header, block, row = 4096, 16 << 10, 48
	end, rows := le.Uint64(content[24:]), le.Uint64(content[32:])
	var sections []Section
	for at := rows; at < uint64(len(content)); at += row {
		size, from, n := le.Uint32(content[at+24:]), le.Uint64(content[at+32:]), le.Uint64(content[at+40:])
		name := strings.TrimRight(string(content[at:at+24]), "\x00")
		if size > 0 && n > 0 && name != "meta" && name != "coverage" {
			sections = append(sections, Section{name, int(size), content[from : from+n*uint64(size)]})
		}
	}
	change(sections)
	for from, sum := uint64(header), end; from < end; from, sum = from+block, sum+4 {
		le.PutUint32(content[sum:], crc32.Checksum(content[from:min(from+block, end)], table))
	}
	identity := sha256.Sum256(content[end:])
	copy(content[48:], identity[:])
	le.PutUint32(content[header-4:], crc32.Checksum(content[:header-4], table))
	copied := filepath.Join(t.TempDir(), "hostile.region")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(copied)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// FuzzHostile changes sections of a region file, with correct checksums, and asks something: a word of one section, or
// all elements of one section to a copy of one of them. ask must end within seconds and a bounded amount of memory; it
// checks the answer itself.
func FuzzHostile(f *testing.F, path string, ask func(t *testing.T, f *region.File)) {
	sections := 0
	Rewrite(f, path, func(s []Section) { sections = len(s) }).Release()
	for i := range sections {
		for word, value := range []uint32{math.MaxUint32, 0, 1 << 31, 0xffff0f0f, 77} {
			f.Add(i, 3*word, value, (i+word)%sections, word, value/2, word%3 == 2)
		}
	}
	f.Fuzz(func(t *testing.T, one, at1 int, value1 uint32, other, at2 int, value2 uint32, repeat bool) {
		file := Rewrite(t, path, func(s []Section) {
			set := func(section, at int, value uint32) {
				if data := s[uint(section)%uint(len(s))].Data; len(data) >= 4 {
					binary.LittleEndian.PutUint32(data[uint(at)%uint(len(data)-3):], value)
				}
			}
			set(one, at1, value1)
			if !repeat {
				set(other, at2, value2)
				return
			}
			all := s[uint(other)%uint(len(s))]
			from := int(uint(at2)%uint(len(all.Data)/all.Size)) * all.Size
			element := append([]byte{}, all.Data[from:from+all.Size]...)
			for i := 0; i < len(all.Data); i += all.Size {
				copy(all.Data[i:], element)
			}
		})
		defer file.Release()
		var used uint64
		testkit.Work(t, "a hostile region", 5*time.Second, func() { used = testkit.PeakHeap(func() { ask(t, file) }) })
		if used > 512<<20 {
			t.Errorf("%d MB were used", used>>20)
		}
	})
}
