// Package boltfile reads the pages of a bbolt database without trusting them. bbolt itself takes what it finds
// for right, and a damaged page makes it panic (also in goroutines of its own, which ends the process), run in
// circles, or overflow the stack.
package boltfile

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

const (
	magic         = 0xED0CDAED
	version       = 2
	metaSize      = 64
	metaSummed    = 56 // the part of it that its checksum is of
	noFreelist    = ^uint64(0)
	minPageSize   = 1 << 10
	maxPageSize   = 16 << 20
	firstDataPage = 2
	maxDepth      = 64
)

var (
	// ErrForeign: neither of the two heads of the file is one of bbolt's.
	ErrForeign = errors.New("it has no head of a bbolt database")
	// ErrCut: the file is shorter than its head says.
	ErrCut = errors.New("a part of the file is missing")
)

// File is one state of a database.
type File struct {
	PageSize int
	// Root is the first page of the tree that holds the buckets.
	Root uint64
	// High is the number of pages, of which some are free.
	High     uint64
	freelist uint64
	at       func(off int64, n int) ([]byte, error)
}

type meta struct {
	pageSize             uint32
	root, freelist, high uint64
	txid                 uint64
}

// Open reads the heads of a file. Both must be whole: where one is not, nothing tells whether the change that it
// recorded was confirmed.
func Open(r io.ReaderAt, size int64) (*File, error) {
	read := func(off int64, n int) ([]byte, error) {
		b := make([]byte, n)
		_, err := r.ReadAt(b, off)
		return b, err
	}
	var found []meta
	pageSize := int64(0)
	if m, ok := readMeta(read, 0, size); ok {
		found, pageSize = append(found, m), int64(m.pageSize)
	}
	for guess := int64(minPageSize); guess <= maxPageSize; guess *= 2 {
		if pageSize != 0 && guess != pageSize {
			continue
		}
		if m, ok := readMeta(read, guess, size); ok && int64(m.pageSize) == guess {
			found, pageSize = append(found, m), guess
		}
	}
	switch {
	case len(found) == 0:
		return nil, ErrForeign
	case size < 2*pageSize:
		return nil, ErrCut
	case len(found) == 1:
		return nil, errors.New("one of the two heads of the file is damaged, and with it perhaps the last change")
	}
	m := found[0]
	if found[1].txid > m.txid {
		m = found[1]
	}
	f := &File{PageSize: int(pageSize), Root: m.root, High: m.high, freelist: m.freelist, at: read}
	if m.high > uint64(size)/uint64(pageSize) {
		return nil, ErrCut
	}
	return f, nil
}

// HasHead reports whether bbolt finds a head in a file: both can be read, and one is whole. The other one may
// just be being written.
func HasHead(r io.ReaderAt, pageSize int64) bool {
	var b [2][headerSize + metaSize]byte
	whole := false
	for i := range b {
		if _, err := r.ReadAt(b[i][:], int64(i)*pageSize); err != nil {
			return false
		}
		_, ok := parseMeta(b[i][:])
		whole = whole || ok
	}
	return whole
}

func readMeta(read func(int64, int) ([]byte, error), off, size int64) (meta, bool) {
	if off+headerSize+metaSize > size {
		return meta{}, false
	}
	b, err := read(off, headerSize+metaSize)
	if err != nil || native.Uint16(b[8:]) != metaPage {
		return meta{}, false
	}
	return parseMeta(b)
}

func parseMeta(page []byte) (meta, bool) {
	b := page[headerSize:]
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSummed])
	m := meta{pageSize: native.Uint32(b[8:]), root: native.Uint64(b[16:]), freelist: native.Uint64(b[32:]),
		high: native.Uint64(b[40:]),
		txid: native.Uint64(b[48:])}
	return m, native.Uint32(b) == magic && native.Uint32(b[4:]) == version && sum.Sum64() == native.Uint64(b[56:]) &&
		m.pageSize >= minPageSize && m.pageSize <= maxPageSize
}

// Mapped is a database in memory of which a transaction is open: data are the pages that it sees.
func Mapped(data []byte, pageSize int, root uint64) *File {
	return &File{PageSize: pageSize, Root: root, High: uint64(len(data) / pageSize), freelist: noFreelist,
		at: func(off int64, n int) ([]byte, error) { return data[off : off+int64(n)], nil }}
}

// FreeList returns the pages that list which pages are free in a state; nil if none do. The state is the newest, and
// nobody may make another one meanwhile.
func (f *File) FreeList(txid uint64) ([]byte, error) {
	page := int64(f.PageSize)
	for off := range int64(2) { // a commit's number tells the head that it writes, but a copy has it in the first one
		m, ok := readMeta(f.at, off*page, int64(f.High)*page)
		switch {
		case !ok || m.txid != txid:
		case m.freelist == noFreelist:
			return nil, nil
		default:
			return f.whole(m.freelist)
		}
	}
	return nil, errors.New("the head of the file is damaged")
}

// Raw returns pages as they are.
func (f *File) Raw(id, pages uint64) ([]byte, error) {
	if id < firstDataPage || id >= f.High || pages == 0 || pages > f.High-id {
		return nil, fmt.Errorf("page %d: the file has %d pages", id, f.High)
	}
	raw, err := f.at(int64(id)*int64(f.PageSize), int(pages)*f.PageSize)
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return raw, nil
}

// Page returns a page of a tree.
func (f *File) Page(id uint64) (Page, error) {
	raw, err := f.whole(id)
	if err != nil {
		return Page{}, err
	}
	p, err := parse(raw)
	if err != nil {
		return Page{}, fmt.Errorf("page %d: %w", id, err)
	}
	p.Pages = uint64(len(raw) / f.PageSize)
	return p, nil
}

// Known returns a page that is as it was when it was last looked at, by the checksum that was made of it then.
// Its parts are not looked at again.
func Known(raw []byte) Page {
	return Page{Raw: raw, n: int(native.Uint16(raw[10:])), leaf: native.Uint16(raw[8:]) == leafPage}
}

func (f *File) whole(id uint64) ([]byte, error) {
	raw, err := f.Raw(id, 1)
	if err != nil {
		return nil, err
	}
	if is := native.Uint64(raw); is != id {
		return nil, fmt.Errorf("page %d: it says it is page %d", id, is)
	}
	if more := uint64(native.Uint32(raw[12:])); more > 0 {
		return f.Raw(id, 1+more)
	}
	return raw, nil
}
