package geocodingeval

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/places"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// hiddenTag is a part of an address that is hidden, with what is derived of it.
type hiddenTag struct {
	what, key      string
	field          func(*geocoding.Address) string
	one, all       float64 // the least share that is equal, with one part hidden and with all; no map has all of them
	same, answered share
}

// hidden hides what houses say of their street and their postcode, and compares what is derived with it: a part of the
// houses at a time, whose neighbours still say theirs, and all of them at once, so that nothing is left but the map.
func (s *subject) hidden(ctx context.Context, t *table) error {
	for _, parts := range []int{s.parts, 1} {
		tags := []*hiddenTag{
			{what: "streets", key: "addr:street", field: func(a *geocoding.Address) string { return a.Street },
				one: 0.79, all: 0.74},
			{what: "postcodes", key: "addr:postcode", field: func(a *geocoding.Address) string { return a.Postcode },
				one: 0.94},
		}
		for part := range parts {
			if err := s.hide(ctx, tags, part, parts); err != nil {
				return err
			}
		}
		which := "all houses"
		if parts > 1 {
			which = fmt.Sprintf("one house in %d", parts)
		}
		for _, h := range tags {
			if h.answered.right == 0 {
				continue // no postcode is on the map but at houses
			}
			bar := h.one
			if parts == 1 {
				bar = h.all
			}
			if !s.marks {
				bar = 0
			}
			t.row(h.same.ratio(fmt.Sprintf("%s hidden from %s: derived and equal", h.what, which), bar))
			t.row(h.answered.ratio("derived at all", 0))
		}
	}
	return nil
}

// hide compiles the extract with tags hidden from one of some parts of the houses, and asks for each of these.
func (s *subject) hide(ctx context.Context, tags []*hiddenTag, part, parts int) error {
	data := *s.data
	data.Features = objects.Features{Records: scratch.NewRecords(s.dir, "hidden")}
	defer func() { _ = data.Features.Free() }()
	var houses []placestest.Feature
	n := 0
	for f := range placestest.All(s.data) {
		house := *f
		if f.Tags.Get("addr:housenumber") != "" {
			if n++; n%parts == part {
				house.Tags = slices.Clone(f.Tags)
				houses = append(houses, house)
				house.Tags = slices.DeleteFunc(slices.Clone(f.Tags), func(t placestest.Tag) bool {
					return slices.ContainsFunc(tags, func(h *hiddenTag) bool { return h.key == t.Key })
				})
			}
		}
		if err := placestest.Add(&data, &house); err != nil {
			return err
		}
	}
	w, err := region.Create(s.dir.Path(), func(name string) region.Spool { return scratch.NewStream(s.dir, name) })
	if err != nil {
		return err
	}
	if _, err := places.Write(w, &data, s.dir); err != nil {
		return errors.Join(err, w.Discard())
	}
	region.AddCoverage(w, data.Tiles.Sorted())
	path := filepath.Join(s.temporary, "hidden.region")
	if err := w.Commit(ctx, path, region.Meta{}); err != nil {
		return err
	}
	f, err := region.Open(path)
	if err != nil {
		return err
	}
	defer f.Release()
	index, err := geocoding.Open(f)
	if err != nil {
		return err
	}
	for i := range houses {
		h := &houses[i]
		r, err := index.Reverse(ctx, &geocoding.Request{Point: middle(h.Geometry), Size: geocoding.MaxSize})
		if err != nil {
			return err
		}
		id := geocodingtest.ID(h.Kind, h.ID)
		k := slices.IndexFunc(r.Places, func(p geocoding.Place) bool { return p.ID == id })
		if k < 0 {
			continue
		}
		for _, tag := range tags {
			if want := h.Tags.Get(tag.key); want != "" {
				got := tag.field(&r.Places[k].Address)
				if tag.answered.count(got != ""); got != "" {
					tag.same.count(plain(got) == plain(want))
				}
			}
		}
	}
	return nil
}

// middle is a position that a feature is found at.
func middle(g orb.Geometry) orb.Point {
	if p, ok := g.(orb.Point); ok {
		return p
	}
	p, _ := planar.CentroidArea(g)
	return p
}

// plain is a name without what spellings of it differ in.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.ReplaceAll(name, "ß", "ss"))
}
