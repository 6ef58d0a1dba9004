package geocoding

import (
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// What only tests need to know.
const MaxLanguages = maxLanguages

var (
	Shorter   = shorter
	CountryOf = countryOf
)

// WithoutCells is the index with its trees only.
func (x *Index) WithoutCells(t testing.TB) *Index {
	t.Helper()
	plain, err := Open(x.file)
	if err != nil {
		t.Fatal(err)
	}
	plain.roots = region.View[placefile.Root]{}
	return plain
}

// KnowsAll reports whether a position lies in a cell that knows all that there is to know.
func (x *Index) KnowsAll(p orb.Point) bool {
	o := geometry.NewOrigin(p)
	const all = placefile.CellFeatures | placefile.CellContext | placefile.CellCovered
	return x.cellAt(&o).Flags&all == all
}
