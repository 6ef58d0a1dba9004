package extract

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// records keep what is needed of objects of one kind, one record after the other in a scratch file, with an index by
// id. Records are added in any order; from finish on each object is there once, in its newest version, by its id, and
// any number of goroutines may read.
type records struct {
	dir      *scratch.Dir
	name     string
	index    *scratch.Array[indexEntry]
	bytes    *scratch.Array[byte]
	unsorted bool
	row      []byte
}

// indexEntry tells where a record begins, and what is to be known of it without looking there.
type indexEntry struct {
	id  int64
	ref uint64 // the offset, and the flags below it
}

// recordFlags are flags of a record; what they mean is its kind's affair.
type recordFlags uint8

const flagBits = 8

func (e indexEntry) offset() uint64     { return e.ref >> flagBits }
func (e indexEntry) flags() recordFlags { return recordFlags(e.ref & (1<<flagBits - 1)) }

func newRecords(dir *scratch.Dir, name string) *records {
	return &records{dir: dir, name: name, index: scratch.NewArray[indexEntry](dir, name+"-index"),
		bytes: scratch.NewArray[byte](dir, name)}
}

// begin begins a record. What is appended to the slice becomes its content when it is given to end.
func (r *records) begin(version int32) []byte {
	return binary.AppendUvarint(r.row[:0], uint64(uint32(version)))
}

// end adds a record of an object.
func (r *records) end(id int64, flags recordFlags, row []byte) error {
	r.row = row
	if n := r.index.Len(); n > 0 && r.index.Slice()[n-1].id >= id {
		r.unsorted = true
	}
	if err := r.index.Append(indexEntry{id, uint64(r.bytes.Len())<<flagBits | uint64(flags)}); err != nil {
		return err
	}
	return r.bytes.Append(row...)
}

// replace gives the i-th object another record. Not to be called while others read.
func (r *records) replace(i int, row []byte) error {
	e := &r.index.Slice()[i]
	e.ref = uint64(r.bytes.Len())<<flagBits | uint64(e.flags())
	r.row = row
	return r.bytes.Append(row...)
}

// versionedEntry is an entry with the object's version.
type versionedEntry struct {
	indexEntry
	version int64
}

// finish sorts the index, and keeps of each object the newest version; of equal ones the first that was read.
func (r *records) finish(ctx context.Context) error {
	if r.unsorted {
		if err := r.sort(ctx); err != nil {
			return err
		}
	}
	return trimAll(r.index, r.bytes)
}

func (r *records) sort(ctx context.Context) error {
	r.unsorted = false
	const share = 32 // of all memory
	sorter := scratch.NewSorter(r.dir, r.name+"-index", r.dir.Memory/share, func(a, b versionedEntry) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(b.version, a.version), cmp.Compare(a.ref, b.ref))
	})
	bytes := r.bytes.Slice()
	for _, e := range r.index.Slice() {
		version, _ := binary.Uvarint(bytes[e.offset():])
		if err := sorter.Add(versionedEntry{e, int64(int32(version))}); err != nil {
			return err
		}
	}
	r.index.Truncate(0)
	return sorter.Each(func(e *versionedEntry) error {
		if n := r.index.Len(); n > 0 && r.index.Slice()[n-1].id == e.id {
			return ctx.Err()
		}
		return r.index.Append(e.indexEntry)
	})
}

// len is how many objects there are.
func (r *records) len() int { return r.index.Len() }

// id is the id of the i-th object.
func (r *records) id(i int) int64 { return r.index.Slice()[i].id }

// flags are those of the i-th object.
func (r *records) flags(i int) recordFlags { return r.index.Slice()[i].flags() }

// read returns a reader of the i-th object's record.
func (r *records) read(i int) spoolReader {
	d := spoolReader{bytes: r.bytes.Slice()[r.index.Slice()[i].offset():]}
	d.uvarint() // the version
	return d
}

// find returns which object has an id.
func (r *records) find(id int64) (i int, ok bool) {
	return slices.BinarySearchFunc(r.index.Slice(), id, func(e indexEntry, id int64) int { return cmp.Compare(e.id, id) })
}

// Free removes the files.
func (r *records) Free() error { return freeAll(r.index, r.bytes) }
