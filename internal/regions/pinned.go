package regions

import (
	"cmp"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/paulmach/orb"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/tiles"
)

// Pinned is an open region file with its engines. All requests that began while it was the current one share it. After
// it has been replaced, the last Release unmaps the file.
type Pinned struct {
	// File is the file itself.
	File *region.File
	// Places is the geocoder. In a region without places it finds none.
	Places geocoding.Geocoder
	// Search is the search of places by text. In a region without its index it finds none.
	Search geocoding.Searcher
	// Matcher matches traces. In a region without roads it finds no route.
	Matcher matching.Matcher
	// Networks are the road networks of the matcher. In a region without roads there are none.
	Networks matching.Networks
	// Router finds routes. In a region without cells it finds none.
	Router *routing.Engine
	// Map renders tiles; nil if the file has no map.
	Map *tiles.Map
	// Checksum identifies the content of File.
	Checksum string

	watched  *Watched
	identity fs.FileInfo
	opened   time.Time
	meta     region.Meta
	middle   func() orb.Point // see Region.Middle; read once

	verified    bool                               // only for the goroutine of watched
	overwritten atomic.Bool                        // it was changed in place, and can no longer be read
	damage      atomic.Pointer[region.DamageError] // the first damage that was found
}

// Release ends the use of the region. Data that refers to the file must not be used afterwards.
func (p *Pinned) Release() { p.File.Release() }

// Report returns an error of an engine. It logs the first one about damage of the file.
func (p *Pinned) Report(err error) error {
	if err == nil {
		return nil
	}
	damage, ok := errors.AsType[*region.DamageError](err)
	if !ok || !p.damage.CompareAndSwap(nil, damage) {
		return err
	}
	fields := []zap.Field{zap.String("path", p.File.Path()), zap.Error(damage)}
	if damage.Stack != nil {
		fields = append(fields, zap.ByteString("stack", damage.Stack))
	}
	p.watched.Logger.Error("a region file is damaged; requests that need the damaged part get 503", fields...)
	return err
}

// changed returns the error for a file that was written to while it was read.
func (p *Pinned) changed() error {
	return &region.DamageError{Path: p.File.Path(), Problem: "it was changed in place"}
}

// open opens a region file and its engines.
func (w *Watched) open(path string) (p *Pinned, err error) {
	file, err := region.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Release()
		}
	}()
	// Engines may read the file when they are opened.
	defer region.Recover(&err, region.FaultsPanic())
	info, err := file.Info()
	if err != nil {
		return nil, err
	}
	index, err := geocoding.Open(file)
	if err != nil {
		return nil, err
	}
	searcher, err := search.Open(file, index)
	if err != nil {
		return nil, err
	}
	networks, err := matching.OpenNetworks(file)
	if err != nil {
		return nil, err
	}
	router := routing.NewEngine(file, networks[:]...)
	if speeds := w.speeds.Load(); speeds != nil {
		go func() {
			if err := router.SetSpeeds(w.ctx, *speeds); err != nil {
				w.Logger.Error("the live speeds of a region cannot be set", zap.String("path", path), zap.Error(err))
			}
		}()
	}
	tiles, err := tiles.Open(file)
	if err != nil {
		return nil, err
	}
	middle := sync.OnceValue(func() orb.Point {
		b := info.Meta.Bounds
		return file.NearestCovered(orb.Point{(b.MinLon + b.MaxLon) / 2, (b.MinLat + b.MaxLat) / 2})
	})
	return &Pinned{File: file, Places: index, Search: searcher, Matcher: matching.NewLocal(networks, matching.Options{}),
		Networks: networks, Router: router, Map: tiles, Checksum: info.Checksum, opened: time.Now(), meta: info.Meta,
		middle: middle, watched: w}, nil
}

// Covers reports whether a position lies in the region.
func (p *Pinned) Covers(point orb.Point) (covered bool, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	return p.File.Covers(point), nil
}

// covers is Covers for many positions. It sets err to the first error.
func (p *Pinned) covers(err *error) func(orb.Point) bool {
	return func(point orb.Point) bool {
		covered, damage := p.Covers(point)
		*err = cmp.Or(*err, damage)
		return covered
	}
}

// Ask pins a region and calls ask. If the file was written over in place meanwhile, the answer is discarded, the file
// is opened again, and ask is called once more. ask must not keep its argument.
func Ask[T any](pin func() (*Pinned, error), ask func(*Pinned) (T, error)) (T, error) {
	return askUpTo(2, pin, ask)
}

func askUpTo[T any](times int, pin func() (*Pinned, error), ask func(*Pinned) (T, error)) (answer T, err error) {
	p, err := pin()
	if err != nil {
		return answer, err
	}
	defer p.Release()
	if answer, err = ask(p); !p.File.Changed() {
		return answer, p.Report(err)
	}
	if p.watched.replace(p); times > 1 {
		return askUpTo(times-1, pin, ask)
	}
	var none T
	return none, p.Report(p.changed())
}
