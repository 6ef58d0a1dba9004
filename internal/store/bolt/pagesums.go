package bolt

import (
	"errors"
	"hash/crc32"
	"math"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/store/boltfile"
)

// pageSums are checksums of all pages of the file, in memory: bbolt keeps none. They are made when the file is
// opened and after each commit, so that whatever changes a page behind the store's back is noticed before bbolt
// walks over it. bbolt never changes a page that is in use, but writes a new one; therefore a page that the
// states before and after a commit share is as it was.
type pageSums struct {
	mu    sync.RWMutex
	moved sync.Cond // a later state is known
	txid  int       // the state of which all pages are known
	root  uint64
	pages []pageSum
	free  uint32 // of the list of free pages; the committer alone reads it
}

type pageSum struct {
	sum   uint32
	pages uint32 // how many the sum is of; 0 where there is none
	inUse bool
}

func newPageSums() *pageSums {
	s := &pageSums{}
	s.moved.L = s.mu.RLocker()
	return s
}

// last returns the newest state of which the pages are known.
func (s *pageSums) last() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.txid
}

// lose forgets all pages, for good. Nobody waits for them any more.
func (s *pageSums) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.txid, s.pages = math.MaxInt, nil
	s.moved.Broadcast()
}

// await returns when the pages of a state are known, which is soon: it was committed.
func (s *pageSums) await(txid int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for s.txid < txid {
		s.moved.Wait()
	}
}

// page returns a page if it is as it was.
func (s *pageSums) page(f *boltfile.File, id uint64) (boltfile.Page, error) {
	s.mu.RLock()
	var known pageSum
	if id < uint64(len(s.pages)) {
		known = s.pages[id]
	}
	s.mu.RUnlock()
	if known.pages == 0 {
		return boltfile.Page{}, damaged("page %d is not in use", id)
	}
	raw, err := f.Raw(id, uint64(known.pages))
	if err != nil {
		return boltfile.Page{}, damaged("%w", err)
	}
	if crc32.Checksum(raw, castagnoli) != known.sum {
		return boltfile.Page{}, damaged("page %d is not what was written", id)
	}
	return boltfile.Known(raw), nil
}

// used returns the pages in use in a state from a number on, no more than so many, and the number to go on with,
// which is 0 at the end. There is no answer if a later state is known.
func (s *pageSums) used(txid int, from uint64, limit int) (ids []uint64, next uint64, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.txid != txid {
		return nil, 0, false
	}
	for id := from; id < uint64(len(s.pages)); id++ {
		if len(ids) == limit {
			return ids, id, true
		}
		if s.pages[id].inUse {
			ids = append(ids, id)
		}
	}
	return ids, 0, true
}

// learn makes the sums of all pages of a state anew. What it cannot read stays unknown.
func (s *pageSums) learn(f *boltfile.File, txid int) (err error) {
	pages := make([]pageSum, f.High)
	f.Walk(boltfile.Visitor{
		Page:   func(id uint64, p *boltfile.Page) { pages[id] = sumOf(p.Raw, uint32(p.Pages)) },
		Record: func(_, _, _ []byte) error { return nil },
		Fault: func(fault error) bool {
			err = fault
			return true
		},
	})
	free, freeErr := freeSum(f, txid)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.txid, s.root, s.pages, s.free = txid, f.Root, pages, free
	s.moved.Broadcast()
	if err = errors.Join(err, freeErr); err != nil {
		return damaged("%w", err)
	}
	return nil
}

// freeSum is the checksum of the list of free pages of a state, which is the newest.
func freeSum(f *boltfile.File, txid int) (uint32, error) {
	raw, err := f.FreeList(uint64(txid))
	return crc32.Checksum(raw, castagnoli), err
}

// checkFree makes sure that the list of free pages is as it was written. Where a commit fails, bbolt reads it again,
// and would then write over pages that it has by mistake.
func (s *pageSums) checkFree(f *boltfile.File, txid int) error {
	switch sum, err := freeSum(f, txid); {
	case err != nil:
		return damaged("%w", err)
	case sum != s.free:
		return damaged("the list of free pages is not what was written")
	}
	return nil
}

func sumOf(raw []byte, pages uint32) pageSum {
	return pageSum{crc32.Checksum(raw, castagnoli), pages, true}
}

// follow learns the pages that a commit wrote. The pages that it replaced are still there. Only the committer calls it.
func (s *pageSums) follow(tx *bbolt.Tx) error {
	txid, f := tx.ID(), mapped(tx)
	if txid == s.txid {
		return nil
	}
	d := &difference{file: f, sums: s, written: map[uint64]pageSum{}, kept: map[uint64]bool{}}
	err := d.add(f.Root)
	if err == nil {
		err = d.drop(s.root)
	}
	free, freeErr := freeSum(f, txid)
	if err != nil || freeErr != nil {
		return s.learn(f, txid)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if missing := int(f.High) - len(s.pages); missing > 0 {
		s.pages = append(s.pages, make([]pageSum, missing)...)
	}
	for _, id := range d.dropped {
		s.pages[id].inUse = false // transactions of before may still read it
	}
	for id, sum := range d.written {
		s.pages[id] = sum
	}
	s.txid, s.root, s.free = txid, f.Root, free
	s.moved.Broadcast()
	return nil
}

// difference is what lies between two states.
type difference struct {
	file    *boltfile.File
	sums    *pageSums // which nobody else changes meanwhile
	written map[uint64]pageSum
	kept    map[uint64]bool // what both states have, without what is below
	dropped []uint64
}

func (d *difference) add(id uint64) error {
	if id < uint64(len(d.sums.pages)) && d.sums.pages[id].inUse {
		d.kept[id] = true
		return nil
	}
	p, err := d.file.Page(id)
	if err != nil {
		return err
	}
	d.written[id] = sumOf(p.Raw, uint32(p.Pages))
	return below(&p, d.add)
}

func (d *difference) drop(id uint64) error {
	if d.kept[id] {
		return nil
	}
	p, err := d.sums.page(d.file, id)
	if err != nil {
		return err
	}
	d.dropped = append(d.dropped, id)
	return below(&p, d.drop)
}

// below calls a function for the pages that a page leads to.
func below(p *boltfile.Page, each func(id uint64) error) error {
	for i := range p.Len() {
		var err error
		switch {
		case !p.Leaf():
			err = each(p.Child(i))
		case p.IsBucket(i):
			var root uint64
			if root, err = p.Bucket(i); err == nil && root != 0 {
				err = each(root)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
