package osm

import (
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// versions finds the newest version of each object among several files. Of equal versions, that of the first file
// counts. Of a single file all objects are taken.
type versions struct {
	sorter *scratch.Sorter[version]
	losers *scratch.Array[version] // the versions that are not taken, by kind and id
}

type version struct {
	id            int64
	version, file int32
	kind          region.Kind
}

func compareObjects(a, b version) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
}

func newVersions(dir *scratch.Dir) *versions {
	const share = 8 // of all memory
	return &versions{losers: scratch.NewArray[version](dir, "older-versions"),
		sorter: scratch.NewSorter(dir, "versions", dir.Memory/share, func(a, b version) int {
			return cmp.Or(compareObjects(a, b), cmp.Compare(b.version, a.version), cmp.Compare(a.file, b.file))
		})}
}

func (v *versions) add(list []version) error {
	for _, o := range list {
		if err := v.sorter.Add(o); err != nil {
			return err
		}
	}
	return nil
}

func (v *versions) finish(ctx context.Context) error {
	newest := version{file: -1}
	return v.sorter.Each(func(o *version) error {
		switch {
		case newest.file < 0 || compareObjects(*o, newest) != 0:
			newest = *o
		case o.file != newest.file:
			return cmp.Or(ctx.Err(), v.losers.Append(*o))
		}
		return nil
	})
}

// wins reports whether to take the version of an object in a file.
func (v *versions) wins(o *osmfile.Object, file int) bool {
	is := version{id: o.ID, kind: o.Kind}
	losers := v.losers.Slice()
	i, _ := slices.BinarySearchFunc(losers, is, compareObjects)
	for ; i < len(losers) && compareObjects(losers[i], is) == 0; i++ {
		if int(losers[i].file) == file {
			return false
		}
	}
	return true
}
