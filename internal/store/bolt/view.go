package bolt

import (
	"bytes"
	"unsafe"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/store/boltfile"
)

// view is how a transaction reads. Before bbolt follows a path to a key, all pages of that path are compared with
// what they were: bbolt trusts them. So what is not found is not there, and does not lie behind a page that was
// damaged.
type view struct {
	tx   *bbolt.Tx
	file *boltfile.File
	sums *pageSums
	// What was compared before, in a transaction that reads or changes much; nil in others.
	seen  map[uint64]boltfile.Page
	roots map[string]uint64
}

func newView(tx *bbolt.Tx, sums *pageSums) *view {
	v := &view{tx: tx, file: mapped(tx), sums: sums}
	if tx.Writable() {
		v.remember()
	} else {
		sums.await(tx.ID())
	}
	return v
}

// mapped gives access to the pages that a transaction sees, as long as it lasts, in the form in which they were
// committed.
func mapped(tx *bbolt.Tx) *boltfile.File {
	info := tx.DB().Info()
	data := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&info.Data))), tx.Size())
	return boltfile.Mapped(data, info.PageSize, uint64(tx.Cursor().Bucket().Root()))
}

// remember keeps what is compared from now on, for a read of many keys: each page is then compared once.
func (v *view) remember() {
	if v.seen == nil {
		v.seen, v.roots = map[uint64]boltfile.Page{}, map[string]uint64{}
	}
}

func (v *view) page(id uint64) (boltfile.Page, error) {
	if p, ok := v.seen[id]; ok {
		return p, nil
	}
	p, err := v.sums.page(v.file, id)
	if err == nil && v.seen != nil {
		v.seen[id] = p
	}
	return p, err
}

// check compares the pages on the way to a key, and where it is wide, also those beside them, which a cursor may
// move to, and a commit may merge.
func (v *view) check(bucket, key []byte, wide bool) error {
	root, err := v.root(bucket)
	if err == nil && root != 0 {
		_, err = v.down(root, key, wide)
	}
	return err
}

// root returns the first page of a bucket, or 0 if the bucket lies in the page that leads to it.
func (v *view) root(bucket []byte) (uint64, error) {
	if root, ok := v.roots[string(bucket)]; ok {
		return root, nil
	}
	leaf, err := v.down(v.file.Root, bucket, false)
	if err != nil {
		return 0, err
	}
	i, ok := leaf.Find(bucket)
	if !ok {
		return 0, damaged("the bucket %s is missing", bucket)
	}
	root, err := leaf.Bucket(i)
	if err != nil {
		return 0, damaged("%w", err)
	}
	if v.roots != nil {
		v.roots[string(bucket)] = root
	}
	return root, nil
}

func (v *view) down(id uint64, key []byte, wide bool) (boltfile.Page, error) {
	for {
		p, err := v.page(id)
		if err != nil || p.Leaf() {
			return p, err
		}
		i := p.Toward(key)
		if wide && i > 0 {
			err = v.edge(p.Child(i-1), true)
		}
		if wide && i+1 < p.Len() && err == nil {
			err = v.edge(p.Child(i+1), false)
		}
		if err != nil {
			return p, err
		}
		id = p.Child(i)
	}
}

// edge compares the pages on the way to the first or the last key below a page.
func (v *view) edge(id uint64, last bool) error {
	for {
		p, err := v.page(id)
		if err != nil || p.Leaf() {
			return err
		}
		i := 0
		if last {
			i = p.Len() - 1
		}
		id = p.Child(i)
	}
}

// get returns what a key holds, or nil if there is no such key.
func (v *view) get(bucket, key []byte) ([]byte, error) {
	payload, _, err := v.lookUp(bucket, key, false)
	return payload, err
}

func (v *view) lookUp(bucket, key []byte, wide bool) (payload []byte, sum uint32, err error) {
	if err := v.check(bucket, key, wide); err != nil {
		return nil, 0, err
	}
	value := v.tx.Bucket(bucket).Get(key)
	if value == nil {
		return nil, 0, nil
	}
	return unseal(bucket, key, value)
}

// from returns the first key that is not before another, with what it holds, or nil behind the last.
func (v *view) from(bucket, key []byte) (found, payload []byte, err error) {
	if err := v.check(bucket, key, true); err != nil {
		return nil, nil, err
	}
	found, value := v.tx.Bucket(bucket).Cursor().Seek(key)
	if found == nil {
		return nil, nil, nil
	}
	payload, _, err = unseal(bucket, found, value)
	return found, payload, err
}

// before returns the last key before another, or nil if there is none.
func (v *view) before(bucket, key []byte) ([]byte, error) {
	if err := v.check(bucket, key, true); err != nil {
		return nil, err
	}
	c := v.tx.Bucket(bucket).Cursor()
	var found, value []byte
	if at, _ := c.Seek(key); at == nil {
		found, value = c.Last()
	} else {
		found, value = c.Prev()
	}
	if found == nil {
		return nil, nil
	}
	_, _, err := unseal(bucket, found, value)
	return found, err
}

// each calls a function for the keys with a prefix, in order, until it returns an error. The function may remove
// what it is given.
func (v *view) each(bucket, prefix []byte, fn func(key, payload []byte) error) error {
	v.remember()
	next := prefix
	if len(next) == 0 {
		next = []byte{0}
	}
	for {
		key, payload, err := v.from(bucket, next)
		if err != nil || key == nil || !bytes.HasPrefix(key, prefix) {
			return err
		}
		next = append(bytes.Clone(key), 0)
		if err := fn(key, payload); err != nil {
			return err
		}
	}
}
