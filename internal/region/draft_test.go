package region

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// TestDraft: sections can be read before the file is complete, wherever they are, and the file is the same.
func TestDraft(t *testing.T) {
	dir, err := scratch.Open(t.TempDir(), "draft", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := Create(dir.Path(), func(name string) Spool { return scratch.NewStream(dir, name) })
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]uint32, 50_000) // of several blocks
	for i := range numbers {
		numbers[i] = uint32(i * i)
	}
	check := func(f *File, name string, n int) {
		t.Helper()
		v, err := Section[uint32](f, name)
		if err != nil || !slices.Equal(v.All(), numbers[:n]) || n > 0 && *v.At(n - 1) != numbers[n-1] {
			t.Errorf("section %q has %d elements, not the %d written: %v", name, v.Len(), n, err)
		}
	}
	draft := func() *File {
		f, err := w.Draft("a.")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Release)
		return f
	}
	empty := draft()
	check(empty, "a.direct", 0)
	spooled, other := w.Spool("a.spooled", 4), w.Spool("b.spooled", 4)
	direct := w.Direct("a.direct", 4)
	for _, s := range []*SectionWriter{spooled, other, direct} {
		if err := Append(s, numbers...); err != nil {
			t.Fatal(err)
		}
	}
	if err := direct.Close(); err != nil {
		t.Fatal(err)
	}
	Add(w, "a.added", numbers[:10])
	first := draft()
	check(first, "a.direct", len(numbers))
	check(first, "a.spooled", len(numbers))
	check(first, "a.added", 10)
	check(first, "b.spooled", 0) // not asked for
	later := w.Direct("a.later", 4)
	if err := Append(later, numbers[:20]...); err != nil {
		t.Fatal(err)
	}
	if err := later.Close(); err != nil {
		t.Fatal(err)
	}
	second := draft()
	check(second, "a.later", 20)
	check(second, "a.direct", len(numbers))
	path := filepath.Join(t.TempDir(), "draft.region")
	if err := w.Commit(t.Context(), path, testMeta); err != nil {
		t.Fatal(err)
	}
	whole, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Release()
	for name, n := range map[string]int{"a.direct": len(numbers), "a.spooled": len(numbers), "a.added": 10, "a.later": 20,
		"b.spooled": len(numbers)} {
		check(whole, name, n)
	}
	if err := whole.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
