// Package tilestest checks tiles independently of the code that made them: it reads PMTiles archives by their
// specification (ReadPMTiles), and checks rings by brute force (CheckRings).
package tilestest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
)

// Tile is the place of a tile.
type Tile struct {
	Z    uint8
	X, Y uint32
}

// PMTiles is an archive that has been read whole.
type PMTiles struct {
	Addressed, Entries, Contents uint64
	MinZoom, MaxZoom             uint8
	// MinLon, MinLat, MaxLon, MaxLat, in degrees.
	Bounds [4]float64
	// Longitude, latitude and zoom.
	Center   [3]float64
	Metadata map[string]any
	// Leaves is how many leaf directories there are.
	Leaves int
	Tiles  map[Tile][]byte
}

// ReadPMTiles reads an archive, and fails the test if it violates the specification.
func ReadPMTiles(t testing.TB, path string) *PMTiles {
	t.Helper()
	a, err := ReadPMTilesFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ReadPMTilesFile reads an archive. It is an error if it violates the specification.
func ReadPMTilesFile(path string) (*PMTiles, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(data)
}

func parse(data []byte) (*PMTiles, error) {
	if len(data) < 127 || string(data[:8]) != "PMTiles\x03" {
		return nil, fmt.Errorf("not an archive of version 3")
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(data[at:]) }
	e7 := func(at int) float64 { return float64(int32(binary.LittleEndian.Uint32(data[at:]))) / 1e7 }
	section := func(at int) []byte { return data[u64(at):][:u64(at+8)] }
	if got := data[96:100]; !bytes.Equal(got, []byte{1, 2, 2, 1}) {
		return nil, fmt.Errorf("clustered, internal and tile compression and type are %v", got)
	}
	a := &PMTiles{
		Addressed: u64(72), Entries: u64(80), Contents: u64(88), MinZoom: data[100], MaxZoom: data[101],
		Bounds: [4]float64{e7(102), e7(106), e7(110), e7(114)},
		Center: [3]float64{e7(119), e7(123), float64(data[118])},
		Tiles:  map[Tile][]byte{},
	}
	if u64(8)+u64(16) > 16384 {
		return nil, fmt.Errorf("the root directory ends at %d", u64(8)+u64(16))
	}
	metadata, err := unzip(section(24))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(metadata, &a.Metadata); err != nil {
		return nil, err
	}
	r := reader{PMTiles: a, leaves: section(40), tiles: section(56), offsets: map[uint64]bool{}}
	if err := r.directory(section(8)); err != nil {
		return nil, err
	}
	if uint64(len(a.Tiles)) != a.Addressed || r.entries != a.Entries || uint64(len(r.offsets)) != a.Contents {
		return nil, fmt.Errorf("%d tiles, %d entries, %d contents: the header has %d, %d, %d", len(a.Tiles), r.entries,
			len(r.offsets), a.Addressed, a.Entries, a.Contents)
	}
	if r.end != uint64(len(r.tiles)) {
		return nil, fmt.Errorf("%d bytes of tiles, of which %d are in the directories", len(r.tiles), r.end)
	}
	return a, nil
}

type reader struct {
	*PMTiles
	leaves, tiles []byte
	next, end     uint64 // the lowest number that may follow; the end of the tiles that were seen
	entries       uint64
	offsets       map[uint64]bool
}

func (r *reader) directory(compressed []byte) error {
	data, err := unzip(compressed)
	if err != nil {
		return err
	}
	b := bytes.NewReader(data)
	count, err := binary.ReadUvarint(b)
	if err != nil || count == 0 || count > uint64(len(data)) {
		return fmt.Errorf("a directory of %d entries in %d bytes: %w", count, len(data), err)
	}
	columns := make([][]uint64, 4) // number, run, length, offset
	for c := range columns {
		for range count {
			v, err := binary.ReadUvarint(b)
			if err != nil {
				return err
			}
			columns[c] = append(columns[c], v)
		}
	}
	if b.Len() > 0 {
		return fmt.Errorf("%d bytes behind a directory", b.Len())
	}
	id := uint64(0)
	for i := range columns[0] {
		id += columns[0][i]
		run, length, offset := columns[1][i], columns[2][i], columns[3][i]-1
		if columns[3][i] == 0 {
			columns[3][i] = columns[3][i-1] + columns[2][i-1]
			offset = columns[3][i] - 1
		}
		if run == 0 {
			r.Leaves++
			if err := r.directory(r.leaves[offset:][:length]); err != nil {
				return err
			}
			continue
		}
		if err := r.entry(id, run, offset, length); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) entry(id, run, offset, length uint64) error {
	if id < r.next || length == 0 || offset > r.end {
		return fmt.Errorf("entry %d at %d is out of order", id, offset)
	}
	r.entries++
	r.offsets[offset] = true
	r.end = max(r.end, offset+length)
	for range run {
		r.Tiles[place(id)] = r.tiles[offset:][:length]
		id++
	}
	r.next = id
	return nil
}

// place is the tile of a number, by the inverse of the curve.
func place(id uint64) Tile {
	z := uint8(0)
	for id >= 1<<(2*z) {
		id -= 1 << (2 * z)
		z++
	}
	var x, y uint64
	for s := uint64(1); s < 1<<z; s *= 2 {
		rx := 1 & (id / 2)
		ry := 1 & (id ^ rx)
		if ry == 0 {
			if rx == 1 {
				x, y = s-1-x, s-1-y
			}
			x, y = y, x
		}
		x, y, id = x+s*rx, y+s*ry, id/4
	}
	return Tile{z, uint32(x), uint32(y)}
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
