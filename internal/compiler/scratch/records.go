package scratch

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
)

// Records is a list of records of bytes with keys. They are added in any order. After Sort they are in the order of
// their keys, and those of equal keys in the order in which they were added. Then reading is safe for concurrent use.
type Records struct {
	index *Array[recordEntry]
	bytes *Array[byte]
}

type recordEntry struct{ key, offset uint64 }

// NewRecords makes an empty list.
func NewRecords(d *Dir, name string) *Records {
	return &Records{index: NewArray[recordEntry](d, name+"-index"), bytes: NewArray[byte](d, name)}
}

// Add adds a record. The bytes are copied.
func (r *Records) Add(key uint64, record []byte) error {
	return errors.Join(r.index.Append(recordEntry{key, uint64(r.bytes.Len())}), r.bytes.Append(record...))
}

// Sort sorts the records, unless ctx has ended. It takes hardly any time if most are in order.
func (r *Records) Sort(ctx context.Context) error {
	slices.SortFunc(r.index.Slice(), func(a, b recordEntry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.offset, b.offset))
	})
	return ctx.Err()
}

// Len returns the number of records.
func (r *Records) Len() int { return r.index.Len() }

// Key returns the key of the i-th record.
func (r *Records) Key(i int) uint64 { return r.index.Slice()[i].key }

// Replace replaces the content of the i-th record. No other goroutine may read at the same time.
func (r *Records) Replace(i int, record []byte) error {
	r.index.Slice()[i].offset = uint64(r.bytes.Len())
	return r.bytes.Append(record...)
}

// Read returns a reader of the i-th record, which does not know the end of the record.
func (r *Records) Read(i int) Reader { return Reader{r.bytes.Slice()[r.index.Slice()[i].offset:]} }

// Find returns the index of the first record with a key, or false if there is none.
func (r *Records) Find(key uint64) (i int, ok bool) {
	return slices.BinarySearchFunc(r.index.Slice(), key, func(e recordEntry, key uint64) int {
		return cmp.Compare(e.key, key)
	})
}

// Free removes the files.
func (r *Records) Free() error { return errors.Join(r.index.Free(), r.bytes.Free()) }

// Reader reads a record that was written with binary.AppendUvarint, binary.AppendVarint and AppendText. It does not
// check the bytes, which this program has written.
type Reader struct{ Rest []byte }

// Byte reads a byte.
func (r *Reader) Byte() byte {
	b := r.Rest[0]
	r.Rest = r.Rest[1:]
	return b
}

// Uvarint reads an unsigned number.
func (r *Reader) Uvarint() uint64 {
	if b := r.Rest[0]; b < 0x80 {
		r.Rest = r.Rest[1:]
		return uint64(b)
	}
	v, n := binary.Uvarint(r.Rest)
	r.Rest = r.Rest[n:]
	return v
}

// Varint reads a signed number.
func (r *Reader) Varint() int64 {
	v := r.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// Text reads a text. It is a part of the record, to be copied if it is kept longer.
func (r *Reader) Text() []byte {
	n := r.Uvarint()
	text := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return text
}

// AppendText appends a text.
func AppendText[T string | []byte](row []byte, text T) []byte {
	return append(binary.AppendUvarint(row, uint64(len(text))), text...)
}
