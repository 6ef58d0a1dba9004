package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// What a page is, as its header says.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	metaPage     = 0x04
	freelistPage = 0x10
)

const (
	headerSize       = 16
	elementSize      = 16 // of branches and leaves alike
	bucketHeaderSize = 16
	bucketFlag       = 0x01
)

var native = binary.NativeEndian

// Page is a page of a tree whose parts were all found to lie inside it.
type Page struct {
	// Pages is how many pages of the file it takes.
	Pages uint64
	// Raw is all of it.
	Raw  []byte
	leaf bool
	n    int
}

// parse looks at a page that is whole, or at the page inside a small bucket. bbolt writes the elements one after
// the other and what they point to in the same order behind them, so that there is one right place for each.
func parse(raw []byte) (Page, error) {
	p := Page{Raw: raw, n: int(native.Uint16(raw[10:]))}
	switch flags := native.Uint16(raw[8:]); flags {
	case branchPage:
		if p.n == 0 {
			return Page{}, fmt.Errorf("it leads nowhere")
		}
	case leafPage:
		p.leaf = true
	default:
		return Page{}, fmt.Errorf("its kind is %#x", flags)
	}
	if p.n == 0 && len(bytes.TrimLeft(raw[headerSize:], "\x00")) > 0 {
		return Page{}, fmt.Errorf("it has lost its entries")
	}
	next := uint64(headerSize + p.n*elementSize)
	if next > uint64(len(raw)) {
		return Page{}, fmt.Errorf("%d entries do not fit", p.n)
	}
	for i := range p.n {
		at, keySize, valueSize := p.element(i)
		if at != next || keySize == 0 || keySize+valueSize > uint64(len(raw))-next {
			return Page{}, fmt.Errorf("entry %d lies outside", i)
		}
		next += keySize + valueSize
		if i > 0 && bytes.Compare(p.Key(i-1), p.Key(i)) >= 0 {
			return Page{}, fmt.Errorf("entry %d is out of order", i)
		}
	}
	return p, nil
}

// element returns where the key of an entry begins in the page, and how long it and its value are.
func (p *Page) element(i int) (at, keySize, valueSize uint64) {
	begin := headerSize + i*elementSize
	e := p.Raw[begin : begin+elementSize]
	if !p.leaf {
		return uint64(begin) + uint64(native.Uint32(e)), uint64(native.Uint32(e[4:])), 0
	}
	return uint64(begin) + uint64(native.Uint32(e[4:])), uint64(native.Uint32(e[8:])), uint64(native.Uint32(e[12:]))
}

// Leaf reports whether it holds records, and not the numbers of other pages.
func (p *Page) Leaf() bool { return p.leaf }

// Len is the number of its entries.
func (p *Page) Len() int { return p.n }

// Key is the key of an entry.
func (p *Page) Key(i int) []byte {
	at, size, _ := p.element(i)
	return p.Raw[at : at+size]
}

// Value is the value of an entry of a leaf.
func (p *Page) Value(i int) []byte {
	at, size, valueSize := p.element(i)
	return p.Raw[at+size : at+size+valueSize]
}

// Child is the page that an entry of a branch leads to.
func (p *Page) Child(i int) uint64 { return native.Uint64(p.Raw[headerSize+i*elementSize+8:]) }

// IsBucket reports whether an entry of a leaf is a bucket.
func (p *Page) IsBucket(i int) bool { return p.leaf && p.flags(i) == bucketFlag }

func (p *Page) flags(i int) uint32 { return native.Uint32(p.Raw[headerSize+i*elementSize:]) }

// Bucket returns the first page of the tree of a bucket, which is 0 for a small one: that lies in its entry.
func (p *Page) Bucket(i int) (root uint64, err error) {
	if v := p.Value(i); p.IsBucket(i) && len(v) >= bucketHeaderSize {
		return native.Uint64(v), nil
	}
	return 0, fmt.Errorf("entry %d is no bucket", i)
}

func (p *Page) small(i int) (Page, error) {
	raw := p.Value(i)[bucketHeaderSize:]
	if len(raw) < headerSize {
		return Page{}, fmt.Errorf("entry %d is too short for a bucket", i)
	}
	inside, err := parse(raw)
	if err == nil && !inside.leaf {
		err = fmt.Errorf("entry %d is a bucket without records", i)
	}
	return inside, err
}

// Find returns the entry with a key.
func (p *Page) Find(key []byte) (i int, ok bool) {
	i = sort.Search(p.n, func(i int) bool { return bytes.Compare(p.Key(i), key) >= 0 })
	return i, i < p.n && bytes.Equal(p.Key(i), key)
}

// Toward returns the entry of a branch under which a key lies, if it is anywhere.
func (p *Page) Toward(key []byte) int {
	i, ok := p.Find(key)
	if !ok && i > 0 {
		i--
	}
	return i
}
