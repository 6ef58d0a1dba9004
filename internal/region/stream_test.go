package region

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// TestStreams: streamed sections of any size are read like those that were added whole. Those of Direct come first.
func TestStreams(t *testing.T) {
	parent := t.TempDir()
	dir, err := scratch.Open(parent, "a.region", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := Create(dir.Path(), func(name string) Spool { return scratch.NewStream(dir, name) })
	if err != nil {
		t.Fatal(err)
	}
	spooled, none := w.Spool("b", 8), w.Spool("none", 4)
	for i := range uint64(10_000) {
		if err := Append(spooled, i, i*i); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"z", "a"} {
		direct := w.Direct(name, 4)
		for i := range uint32(30_001) {
			if err := Append(direct, i+uint32(name[0])); err != nil {
				t.Fatal(err)
			}
		}
		if err := direct.Close(); err != nil {
			t.Fatal(err)
		}
	}
	Add(w, "whole", []uint16{1, 2, 3})
	path := filepath.Join(parent, "a.region")
	if err := w.Commit(t.Context(), path, testMeta); err != nil {
		t.Fatal(err)
	}
	if none.Len() != 0 || dir.Size() != 0 {
		t.Errorf("%d bytes in a section of none, %d in temporary files", none.Len(), dir.Size())
	}
	f := opened(t, path)
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	squares, err := Section[uint64](f, "b")
	if err != nil || squares.Len() != 20_000 || *squares.At(19_999) != 9999*9999 {
		t.Errorf("%d elements of 20,000, %v", squares.Len(), err)
	}
	for _, name := range []string{"z", "a"} {
		v, err := Section[uint32](f, name)
		if err != nil || v.Len() != 30_001 || *v.At(30_000) != 30_000+uint32(name[0]) {
			t.Errorf("section %s: %d elements, %v", name, v.Len(), err)
		}
	}
	if z, a, b := f.entries["z"].offset, f.entries["a"].offset, f.entries["b"].offset; z != headerSize || a < z || b < a {
		t.Errorf("sections at %d, %d, %d", z, a, b)
	}
}

// TestHalfElement: a section whose bytes are no whole elements is not committed.
func TestHalfElement(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := w.Direct("a", 4)
	if _, err := s.Write([]byte{1, 2, 3, 4, 5}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context(), filepath.Join(dir, "a.region"), testMeta); err == nil {
		t.Error("is committed")
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v are left, %v", files, err)
	}
}

// endingSpool is a spool of 64 MiB that ends a context when it is read.
type endingSpool struct {
	Spool
	end context.CancelFunc
}

func (s *endingSpool) Bytes() []byte {
	s.end()
	return make([]byte, 64<<20)
}

func (*endingSpool) Free() error { return nil }

// TestEndInSection: a commit ends at once when its context does, even in the middle of a large section. There is
// nothing left to discard then.
func TestEndInSection(t *testing.T) {
	dir := t.TempDir()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	w, err := Create(dir, func(string) Spool { return &endingSpool{end: end} })
	if err != nil {
		t.Fatal(err)
	}
	w.Spool("z", 1) // the last one
	if err := w.Commit(ctx, filepath.Join(dir, "a.region"), testMeta); !errors.Is(err, context.Canceled) {
		t.Errorf("commit: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Errorf("discard: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v are left, %v", files, err)
	}
}
