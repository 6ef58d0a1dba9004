package pmtiles

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/gzip"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// entry is an entry of a directory: a run of equal tiles from a TileID on or, if run is 0, a leaf directory that begins
// with the TileID.
type entry struct {
	id uint64
	place
	run uint32
}

// encodeDirectory encodes a directory: the number of entries, then column by column, which compresses well.
func encodeDirectory(entries []entry) []byte {
	b := binary.AppendUvarint(nil, uint64(len(entries)))
	last := uint64(0)
	for _, e := range entries {
		b = binary.AppendUvarint(b, e.id-last)
		last = e.id
	}
	for _, e := range entries {
		b = binary.AppendUvarint(b, uint64(e.run))
	}
	for _, e := range entries {
		b = binary.AppendUvarint(b, uint64(e.length))
	}
	for i, e := range entries {
		if i > 0 && e.offset == entries[i-1].offset+uint64(entries[i-1].length) {
			b = append(b, 0) // it follows the one before
		} else {
			b = binary.AppendUvarint(b, e.offset+1)
		}
	}
	return compressed(b)
}

func compressed(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(data) // a bytes.Buffer never fails
	_ = w.Close()
	return b.Bytes()
}

// section is the place of a part of an archive.
type section struct{ offset, length uint64 }

// header is the header of an archive after its magic number.
type header struct {
	root, metadata, leaves, tiles section
	addressed, entries, contents  uint64
	minZoom, maxZoom              uint8
	bounds                        region.Bounds
}

const (
	headerSize      = 127
	magic           = "PMTiles\x03"
	clustered       = 1
	compressionGzip = 2
	typeVector      = 1
)

func (h *header) encode() []byte {
	b := append(make([]byte, 0, reserved), magic...)
	for _, s := range []section{h.root, h.metadata, h.leaves, h.tiles} {
		b = binary.LittleEndian.AppendUint64(b, s.offset)
		b = binary.LittleEndian.AppendUint64(b, s.length)
	}
	for _, n := range []uint64{h.addressed, h.entries, h.contents} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, clustered, compressionGzip, compressionGzip, typeVector, h.minZoom, h.maxZoom)
	b = appendPosition(b, h.bounds.MinLon, h.bounds.MinLat)
	b = appendPosition(b, h.bounds.MaxLon, h.bounds.MaxLat)
	lon, lat, zoom := Center(h.bounds, h.minZoom, h.maxZoom)
	return appendPosition(append(b, zoom), lon, lat)
}

func appendPosition(b []byte, lon, lat float64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(math.Round(lon*1e7))))
	return binary.LittleEndian.AppendUint32(b, uint32(int32(math.Round(lat*1e7))))
}

// Center returns the middle of the bounds, and a zoom that shows about all of them.
func Center(b region.Bounds, minZoom, maxZoom uint8) (lon, lat float64, zoom uint8) {
	widest := max(b.MaxLon-b.MinLon, b.MaxLat-b.MinLat, 1e-6)
	zoom = uint8(max(0, min(math.Floor(math.Log2(360/widest)+1), MaxZoom)))
	return (b.MinLon + b.MaxLon) / 2, (b.MinLat + b.MaxLat) / 2, max(minZoom, min(zoom, maxZoom))
}
