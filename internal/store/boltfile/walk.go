package boltfile

import (
	"bytes"
	"fmt"
)

// Visitor is told what a walk finds. What it is given is good until it returns.
type Visitor struct {
	// Page is told of each page of a tree, and may be nil.
	Page func(id uint64, p *Page)
	// Bucket is told of each bucket, and may be nil.
	Bucket func(name []byte)
	// Record is told of each record, by bucket and in the order of keys.
	Record func(bucket, key, value []byte) error
	// Fault is told what is wrong. The walk goes on with the rest if it returns true.
	Fault func(err error) bool
}

// walk is one walk through a file.
type walk struct {
	*File
	Visitor
	reached []bool
	over    bool
}

// Walk goes once through all that the file holds. However damaged it is, that takes no more work than the file
// has pages, and no more memory than its longest page.
func (f *File) Walk(v Visitor) {
	w := &walk{File: f, Visitor: v, reached: make([]bool, f.High)}
	w.tree(nil, f.Root, limits{}, 0)
	if f.freelist != noFreelist && !w.over {
		w.fault(w.checkFreelist())
	}
}

func (w *walk) fault(err error) bool {
	if err != nil && !w.Fault(err) {
		w.over = true
	}
	return err != nil
}

// limits are between which keys those of a page must lie.
type limits struct{ from, before []byte }

func (l limits) hold(key []byte) bool {
	return bytes.Compare(key, l.from) >= 0 && (l.before == nil || bytes.Compare(key, l.before) < 0)
}

// tree walks a page and all below it. The tree of the buckets itself has no name.
func (w *walk) tree(bucket []byte, id uint64, keys limits, depth int) {
	p, err := w.once(id, depth)
	if w.fault(err) {
		return
	}
	if n := p.Len(); n > 0 && (!keys.hold(p.Key(0)) || !keys.hold(p.Key(n-1))) {
		w.fault(fmt.Errorf("page %d: its keys belong elsewhere", id))
		return
	}
	if w.Visitor.Page != nil {
		w.Visitor.Page(id, &p)
	}
	if p.Leaf() {
		w.leaf(bucket, id, &p, depth)
		return
	}
	for i := 0; i < p.Len() && !w.over; i++ {
		below := limits{p.Key(i), keys.before}
		if i+1 < p.Len() {
			below.before = p.Key(i + 1)
		}
		w.tree(bucket, p.Child(i), below, depth+1)
	}
}

// once reads a page that was not reached before.
func (w *walk) once(id uint64, depth int) (Page, error) {
	p, err := w.File.Page(id)
	if err != nil {
		return p, err
	}
	if depth > maxDepth {
		return p, fmt.Errorf("page %d: it lies too deep", id)
	}
	for one := id; one < id+p.Pages; one++ {
		if w.reached[one] {
			return p, fmt.Errorf("page %d: two ways lead there", one)
		}
		w.reached[one] = true
	}
	return p, nil
}

func (w *walk) leaf(bucket []byte, id uint64, p *Page, depth int) {
	for i := 0; i < p.Len() && !w.over; i++ {
		switch flags := p.flags(i); {
		case bucket != nil && flags == 0:
			w.fault(w.Record(bucket, p.Key(i), p.Value(i)))
		case bucket == nil && flags == bucketFlag:
			w.bucket(id, p, i, depth)
		default:
			w.fault(fmt.Errorf("page %d: entry %d is of an unknown kind", id, i))
		}
	}
}

func (w *walk) bucket(id uint64, p *Page, i, depth int) {
	if w.Visitor.Bucket != nil {
		w.Visitor.Bucket(p.Key(i))
	}
	root, err := p.Bucket(i)
	if err == nil && root != 0 {
		w.tree(p.Key(i), root, limits{}, depth+1)
		return
	}
	var inside Page
	if err == nil {
		inside, err = p.small(i)
	}
	if err != nil {
		w.fault(fmt.Errorf("page %d: %w", id, err))
		return
	}
	w.leaf(p.Key(i), id, &inside, depth)
}

// checkFreelist makes sure that no page is free that is in use: the next change would write over it.
func (w *walk) checkFreelist() error {
	raw, err := w.whole(w.freelist)
	if err != nil {
		return err
	}
	n, ids := uint64(native.Uint16(raw[10:])), raw[headerSize:]
	if n == 0xFFFF && len(ids) >= 8 { // more than the header can say
		n, ids = native.Uint64(ids), ids[8:]
	}
	if native.Uint16(raw[8:]) != freelistPage || n > uint64(len(ids))/8 {
		return fmt.Errorf("page %d: it is not the list of free pages", w.freelist)
	}
	for one := w.freelist; one < w.freelist+uint64(len(raw)/w.PageSize); one++ {
		if w.reached[one] {
			return fmt.Errorf("page %d: two ways lead there", one)
		}
		w.reached[one] = true
	}
	for i := range n {
		id := native.Uint64(ids[i*8:])
		if id < firstDataPage || id >= w.High || w.reached[id] {
			return fmt.Errorf("page %d: it lists page %d, which is not free", w.freelist, id)
		}
		w.reached[id] = true
	}
	return nil
}
