package scratch

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestRecords: records come out by their keys, those of equal keys in the order in which they were added.
func TestRecords(t *testing.T) {
	d := open(t, t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		r := NewRecords(d, "records")
		type added struct{ key, number uint64 }
		var want []added
		keys := rapid.Uint64Range(0, rapid.SampledFrom([]uint64{0, 10, math.MaxUint64}).Draw(t, "greatest key"))
		add := func(key uint64) {
			want = append(want, added{key, uint64(len(want))})
			record := binary.AppendUvarint(nil, want[len(want)-1].number)
			if err := r.Add(key, AppendText(record, "text")); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range rapid.SliceOfN(keys, 0, 50).Draw(t, "keys") {
			add(key)
		}
		if rapid.Bool().Draw(t, "many") { // more than are sorted in memory
			shift := rapid.SampledFrom([]int{0, 56}).Draw(t, "shift")
			for i := range uint64(5000) {
				add(i * 0x9E3779B97F4A7C15 >> shift)
			}
		}
		slices.SortStableFunc(want, func(a, b added) int { return cmp.Compare(a.key, b.key) })
		for range 2 { // sorting again changes nothing
			if err := r.Sort(t.Context()); err != nil || r.Len() != len(want) {
				t.Fatalf("%d records of %d, %v", r.Len(), len(want), err)
			}
			for i, w := range want {
				read := r.Read(i)
				got := added{r.Key(i), read.Uvarint()}
				if text := string(read.Text()); got != w || text != "text" {
					t.Fatalf("record %d is %v with %q, not %v", i, got, text, w)
				}
				if first, ok := r.Find(w.key); !ok || want[first].key != w.key || first > 0 && want[first-1].key == w.key {
					t.Fatalf("the first record of key %d is at %d, %v", w.key, first, ok)
				}
			}
		}
		key := keys.Draw(t, "key")
		first, ok := r.Find(key)
		at, there := slices.BinarySearchFunc(want, key, func(a added, key uint64) int { return cmp.Compare(a.key, key) })
		if first != at || ok != there {
			t.Fatalf("key %d is found at %d, %v, not at %d, %v", key, first, ok, at, there)
		}
		if err := r.Free(); err != nil || d.Size() != 0 {
			t.Fatalf("%d bytes are left, %v", d.Size(), err)
		}
	})
}

// TestRecordsEnd: a build that ends does not wait for records to be sorted.
func TestRecordsEnd(t *testing.T) {
	r := NewRecords(open(t, t.TempDir()), "records")
	check(t, errors.Join(r.Add(2, nil), r.Add(1, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Sort(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestReader: what was written is read.
func TestReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var row []byte
		var read []func(r *Reader) bool
		for range rapid.IntRange(0, 20).Draw(t, "values") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				v := rapid.Byte().Draw(t, "byte")
				row, read = append(row, v), append(read, func(r *Reader) bool { return r.Byte() == v })
			case 1:
				v := rapid.Uint64().Draw(t, "unsigned")
				row = binary.AppendUvarint(row, v)
				read = append(read, func(r *Reader) bool { return r.Uvarint() == v })
			case 2:
				v := rapid.Int64().Draw(t, "signed")
				row = binary.AppendVarint(row, v)
				read = append(read, func(r *Reader) bool { return r.Varint() == v })
			case 3:
				v := rapid.String().Draw(t, "text")
				row, read = AppendText(row, v), append(read, func(r *Reader) bool { return string(r.Text()) == v })
			case 4:
				v := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
				row, read = AppendText(row, v), append(read, func(r *Reader) bool { return slices.Equal(r.Text(), v) })
			}
		}
		r := Reader{row}
		for i, equals := range read {
			if !equals(&r) {
				t.Fatalf("value %d of %x is read as another one", i, row)
			}
		}
		if len(r.Rest) != 0 {
			t.Fatalf("%x is left of %x", r.Rest, row)
		}
	})
}
