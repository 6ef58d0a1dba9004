package osm

import (
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// versions tells which of several files has the newest version of an object; of equal ones it is the first file. A nil
// versions is that of a single file, whose objects are all taken.
type versions struct {
	sorter *scratch.Sorter[versionOf]
	// losers are the objects that are not taken, in order.
	losers *scratch.Array[loser]
}

type versionOf struct {
	id            int64
	version, file int32
	kind          mapdata.Kind
}

type loser struct {
	id   int64
	file int32
	kind mapdata.Kind
}

func newVersions(dir *scratch.Dir) *versions {
	const share = 8 // of all memory
	return &versions{losers: scratch.NewArray[loser](dir, "older-versions"),
		sorter: scratch.NewSorter(dir, "versions", dir.Memory/share, func(a, b versionOf) int {
			return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id), cmp.Compare(b.version, a.version),
				cmp.Compare(a.file, b.file))
		})}
}

// versionsBatch gathers the versions of objects.
type versionsBatch struct {
	file int32
	list []versionOf
}

func (r *reader) versionsBatch() osmfile.Batch { return &versionsBatch{file: int32(r.file)} }

func (b *versionsBatch) Add(o *osmfile.Object) (full bool) {
	b.list = append(b.list, versionOf{o.ID, o.Version, b.file, o.Kind})
	return len(b.list) >= fullLoad
}

func (r *reader) takeVersions(of osmfile.Batch) error {
	b := of.(*versionsBatch)
	for _, v := range b.list {
		if err := r.versions.sorter.Add(v); err != nil {
			return err
		}
	}
	b.list = b.list[:0]
	return nil
}

func (v *versions) finish(ctx context.Context) error {
	var winner versionOf
	first := true
	err := v.sorter.Each(func(o *versionOf) error {
		if first || o.kind != winner.kind || o.id != winner.id {
			winner, first = *o, false
			return nil
		}
		if o.file == winner.file {
			return nil
		}
		return cmp.Or(ctx.Err(), v.losers.Append(loser{o.id, o.file, o.kind}))
	})
	if err != nil {
		return err
	}
	slices.SortFunc(v.losers.Slice(), compareLosers)
	return nil
}

func compareLosers(a, b loser) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id), cmp.Compare(a.file, b.file))
}

// wins says whether the version of an object in a file is the one to take.
func (v *versions) wins(o *osmfile.Object, file int) bool {
	if v == nil {
		return true
	}
	_, loses := slices.BinarySearchFunc(v.losers.Slice(), loser{o.ID, int32(file), o.Kind}, compareLosers)
	return !loses
}

func (v *versions) free() error {
	if v == nil {
		return nil
	}
	return v.losers.Free()
}
