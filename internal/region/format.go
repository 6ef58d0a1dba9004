package region

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

const (
	magic = "\x89CMREG\r\n" // no text, and damaged by any conversion of line ends
	// magicBefore is the magic of files before format 1.
	magicBefore = "\x89CMAPS\r\n"

	// Version is the format version that this package writes, and the only one it reads.
	Version = 1

	headerSize = 4096
	blockShift = 14
	blockSize  = 1 << blockShift // bytes that one CRC covers
	alignment  = 64              // of sections: a cache line, and a multiple of every element's own alignment
	entrySize  = 48
	nameSize   = 24
	maxEntries = 4096 // limits the work on a hostile header
	// maxSize limits the memory for open files, which is four bytes for each block: sparse files may claim any size.
	maxSize = 1 << 42
	maxMeta = 16 << 20 // bytes of the metadata: more than the names of extracts on a command line
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the decoded header page.
type header struct {
	version  uint32
	fileSize uint64
	crcs     uint64 // offset of the blocks' CRCs; also the end of the sections
	table    uint64 // offset of the section table
	entries  uint32
	tableCRC uint32
	identity [32]byte // SHA-256 of the CRCs and the section table
}

func (h *header) encode() []byte {
	page := make([]byte, headerSize)
	copy(page, magic)
	le := binary.LittleEndian
	le.PutUint32(page[8:], h.version)
	le.PutUint32(page[12:], h.entries)
	le.PutUint64(page[16:], h.fileSize)
	le.PutUint64(page[24:], h.crcs)
	le.PutUint64(page[32:], h.table)
	le.PutUint32(page[40:], h.tableCRC)
	copy(page[48:80], h.identity[:])
	le.PutUint32(page[headerSize-4:], crc32.Checksum(page[:headerSize-4], castagnoli))
	return page
}

// decodeHeader reads the header page of a file of the given size. It checks magic and version before the page's CRC,
// for a better error with other files and formats.
func decodeHeader(page []byte, size int64) (header, error) {
	var h header
	const again = "compile it again with caddy maps build"
	switch {
	case len(page) >= 8 && string(page[:8]) == magicBefore:
		return h, errors.New("was made by an older version: " + again)
	case len(page) < 12 || string(page[:8]) != magic:
		return h, errors.New("is not a region file of caddy-maps")
	}
	le := binary.LittleEndian
	switch h.version = le.Uint32(page[8:]); {
	case h.version < Version:
		return h, fmt.Errorf("was made by an older version (region format %d, not %d): %s", h.version, Version, again)
	case h.version > Version:
		return h, fmt.Errorf("was made by a newer version (region format %d, not %d): update caddy-maps, or %s",
			h.version, Version, again)
	}
	if len(page) < headerSize {
		return h, fmt.Errorf("is truncated: it ends in its header")
	}
	if crc32.Checksum(page[:headerSize-4], castagnoli) != le.Uint32(page[headerSize-4:]) {
		return h, fmt.Errorf("is damaged: its header does not match its checksum")
	}
	h.entries = le.Uint32(page[12:])
	h.fileSize = le.Uint64(page[16:])
	h.crcs = le.Uint64(page[24:])
	h.table = le.Uint64(page[32:])
	h.tableCRC = le.Uint32(page[40:])
	copy(h.identity[:], page[48:80])
	if uint64(size) != h.fileSize {
		return h, fmt.Errorf("is truncated or still being written: %d bytes, and its header says %d", size, h.fileSize)
	}
	if h.fileSize > maxSize {
		return h, fmt.Errorf("has %d bytes, more than a region can have", size)
	}
	blocks := (h.crcs - headerSize + blockSize - 1) / blockSize
	if h.crcs < headerSize || h.crcs > h.fileSize || h.table < h.crcs || h.table > h.fileSize ||
		h.entries > maxEntries || (h.table-h.crcs)/4 < blocks || (h.fileSize-h.table)/entrySize < uint64(h.entries) {
		return h, fmt.Errorf("is damaged: its header does not fit its size")
	}
	return h, nil
}

// entry is one row of the section table.
type entry struct {
	name     string
	elemSize uint32
	offset   uint64
	count    uint64
}

func (e *entry) encode() []byte {
	row := make([]byte, entrySize)
	copy(row[:nameSize], e.name)
	le := binary.LittleEndian
	le.PutUint32(row[24:], e.elemSize)
	le.PutUint64(row[32:], e.offset)
	le.PutUint64(row[40:], e.count)
	return row
}

func decodeEntry(row []byte, end uint64) (entry, error) {
	le := binary.LittleEndian
	e := entry{elemSize: le.Uint32(row[24:]), offset: le.Uint64(row[32:]), count: le.Uint64(row[40:])}
	n := 0
	for n < nameSize && row[n] != 0 {
		n++
	}
	e.name = string(row[:n])
	if e.elemSize == 0 || e.offset < headerSize || e.offset%alignment != 0 || e.offset > end ||
		e.count > (end-e.offset)/uint64(e.elemSize) {
		return e, fmt.Errorf("is damaged: section %q lies outside the file", e.name)
	}
	return e, nil
}
