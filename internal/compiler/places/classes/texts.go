package classes

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// Texts has the texts of an extract, to which some more are added. It keeps the first error of that.
type Texts struct {
	*scratch.Texts
	Err error
}

// Number returns the number of a text.
func (t *Texts) Number(s string) uint32 {
	n, err := t.Add(s)
	t.Err = cmp.Or(t.Err, err)
	return n
}
