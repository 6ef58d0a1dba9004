package places

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// textTable has the texts of an extract, by their numbers, which others read as well, and after these some more. The
// zero number is the empty text.
type textTable struct {
	first *scratch.Texts
	more  *scratch.Texts
	base  uint32 // how many the extract has
	err   error
}

func newTextTable(dir *scratch.Dir, first *scratch.Texts) (*textTable, error) {
	more, err := scratch.NewTexts(dir, "moretexts")
	return &textTable{first: first, more: more, base: uint32(first.Len())}, err
}

// add returns the number of a text. An error is kept in err.
func (t *textTable) add(s string) uint32 {
	if n := t.first.Find(s); n != 0 || s == "" {
		return n
	}
	n, err := t.more.Add(s)
	if err != nil && t.err == nil {
		t.err = err
	}
	return t.base + n
}

// bytes is a text by its number, to be read only, until the next add.
func (t *textTable) bytes(n uint32) []byte {
	if n < t.base {
		return t.first.Bytes(n)
	}
	return t.more.Bytes(n - t.base)
}

func (t *textTable) text(n uint32) string { return string(t.bytes(n)) }
