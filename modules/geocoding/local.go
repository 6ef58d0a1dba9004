package geocoding

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Local)) }

// Local answers from regions of the maps app.
type Local struct {
	// The regions, by their names or their files. The first that covers the position answers; a search finds places of
	// all. Required.
	Regions []string `json:"regions,omitempty"`

	regions []*regions.Region
	app     *app.App
}

// CaddyModule returns the Caddy module information.
func (*Local) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.geocoders.local", New: func() caddy.Module { return new(Local) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (g *Local) UnmarshalJSON(data []byte) error { return options.Decode(data, g) }

var errNoRegion = errors.New("geocoder local needs the name of at least one region")

// Provision finds the regions. Their files are opened when the app starts.
func (g *Local) Provision(ctx caddy.Context) (err error) {
	if len(g.Regions) == 0 {
		return errNoRegion
	}
	if g.app, err = app.Get(ctx); err != nil {
		return err
	}
	g.regions, err = app.LookupRegions(ctx, g.Regions)
	return err
}

// Reverse implements geocoding.Geocoder.
func (g *Local) Reverse(ctx context.Context, req *geocoding.Request) (*geocoding.Result, error) {
	return regions.Ask(
		func() (*regions.Pinned, error) { return regions.PinCovering(g.regions, req.Point) },
		func(p *regions.Pinned) (*geocoding.Result, error) { return p.Places.Reverse(ctx, req) })
}

// Search implements geocoding.Searcher: it merges what the regions find by score. A region that cannot be read is
// skipped if others find something.
func (g *Local) Search(ctx context.Context, q *geocoding.Query) (*geocoding.Result, error) {
	var work admission.Work
	if err := work.Begin(ctx, g.app.Processors(), app.Caller(ctx)); err != nil {
		return nil, err
	}
	began := time.Now()
	defer func() {
		_ = work.Spend(min(workPerMicrosecond*time.Since(began).Microseconds(), maxWork)) // it has been done
		work.End()
	}()
	if len(g.regions) == 1 {
		return searchIn(ctx, g.regions[0], q)
	}
	one := *q
	one.Into = nil
	merged := new(geocoding.Result)
	var problem error
	for _, region := range g.regions {
		found, err := searchIn(ctx, region, &one)
		if err != nil {
			problem = cmp.Or(problem, err)
			continue
		}
		merged.Places = append(merged.Places, found.Places...)
	}
	if len(merged.Places) == 0 && problem != nil || ctx.Err() != nil {
		return nil, cmp.Or(ctx.Err(), problem)
	}
	slices.SortStableFunc(merged.Places, func(a, b geocoding.Place) int {
		return cmp.Compare(b.Score.Total, a.Score.Total)
	})
	kept := merged.Places[:0]
	for _, p := range merged.Places {
		if len(kept) < q.Limit && !slices.ContainsFunc(kept, func(k geocoding.Place) bool {
			return k.ID == p.ID || k.Name == p.Name && k.Location == p.Location
		}) {
			kept = append(kept, p)
		}
	}
	merged.Places = kept
	return merged, nil
}

const (
	workPerMicrosecond = 3    // see admission.Work
	maxWork            = 8000 // what is still no heavy request
)

func searchIn(ctx context.Context, region *regions.Region, q *geocoding.Query) (*geocoding.Result, error) {
	return regions.Ask(region.Pin,
		func(p *regions.Pinned) (*geocoding.Result, error) { return p.Search.Search(ctx, q) })
}

// Covers reports whether one of the regions covers a position.
func (g *Local) Covers(point orb.Point) bool { return regions.AnyCovers(g.regions, point) }

// Sources returns the regions in the order of precedence.
func (g *Local) Sources() []*regions.Region { return g.regions }

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	geocoder local <region...>
//
// Example:
//
//	maps_reverse_geocode {
//	    geocoder local delaware andorra
//	}
func (g *Local) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if g.Regions = d.RemainingArgs(); len(g.Regions) == 0 {
		return options.WithLine(d, errNoRegion)
	}
	return options.Block(d, "geocoder local", nil)
}

// RegionNames returns the configured names of the regions.
func (g *Local) RegionNames() []string { return g.Regions }

// Interface guards
var (
	_ caddy.Provisioner     = (*Local)(nil)
	_ caddyfile.Unmarshaler = (*Local)(nil)
	_ geocoding.Geocoder    = (*Local)(nil)
	_ geocoding.Searcher    = (*Local)(nil)
	_ regions.Partial       = (*Local)(nil)
)
