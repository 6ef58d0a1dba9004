// Package service has the directive `maps_service`, which expands to the handlers of a whole maps service, and two
// handlers that it needs: `maps_errors`, which writes errors as JSON, and `maps_limit`, which limits the rate of
// requests.
//
// It serves nothing itself. Start with expand, which lists the parts.
package service

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
	"github.com/mapsedge/caddy-maps/modules/pages"
)

func init() {
	httpcaddyfile.RegisterDirective(app.ServiceDirective, parse)
	// In front of `handle`, or a `handle` for all paths would get the requests.
	httpcaddyfile.RegisterDirectiveOrder(app.ServiceDirective, httpcaddyfile.Before, "handle")
}

// Service is a whole maps service in one line: tokens, accounts, every API of the regions behind its scope, tiles,
// pages, health checks, JSON errors, and limits of sizes, times and rates. It serves only its own paths, and leaves the
// rest of the site to other directives. A request that none of them answers gets a JSON 404.
//
// A region is a file, whose base name without `.region` is its name, or the name of a region of the `maps` option. With
// several regions, the APIs choose by place. Tokens may come in the Authorization header or as the query parameters
// `apiKey` and `accessToken`; a site that has `log` needs the filter `maps_redact apiKey accessToken` there.
type Service struct {
	regions   []string
	without   []string
	cors      []string
	profiles  []string
	guest     string
	public    bool
	matchers  []json.RawMessage
	routers   []json.RawMessage
	geocoders []json.RawMessage
	limits    map[string]*app.RateLimit
}

// The parts that can be left out.
const (
	partTokens   = "tokens"
	partAccounts = "accounts"
	partMatching = "matching"
	partRouting  = "routing"
	partSearch   = "geocoding"
	partReverse  = "reverse_geocoding"
	partTiles    = "tiles"
	partMap      = "playground"
	partConsole  = "console"
	partDocs     = "docs"
	partHealth   = "health"
	partStart    = "start"
	partLimits   = "limits"
)

var partNames = []string{
	partTokens, partAccounts, partMatching, partRouting, partSearch, partReverse, partTiles, partMap, partConsole,
	partDocs, partHealth, partStart, partLimits,
}

// The names of the limits. They are also in the headers of responses.
const (
	limitClient       = "client"
	limitAccount      = "account"
	limitTilesClient  = "tiles_client"
	limitTilesAccount = "tiles_account"
	limitTokens       = "tokens"
)

func defaultLimits() map[string]*app.RateLimit {
	limits := make(map[string]*app.RateLimit)
	for _, limit := range []app.RateLimit{
		{Name: limitClient, Events: 200, Window: caddy.Duration(time.Second)},
		{Name: limitAccount, Events: 50, Window: caddy.Duration(time.Second)},
		{Name: limitTilesClient, Events: 1000, Window: caddy.Duration(time.Second)},
		{Name: limitTilesAccount, Events: 500, Window: caddy.Duration(time.Second)},
		{Name: limitTokens, Events: 100, Window: caddy.Duration(10 * time.Second)},
	} {
		limits[limit.Name] = &limit
	}
	return limits
}

func parse(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	s := new(Service)
	if err := s.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
		return nil, err
	}
	return s.expand(h)
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_service <region file or name...> {
//	    without  <part>...
//	    cors     <origin>...
//	    profile  car|bicycle|foot...
//	    guest    <account id>
//	    public
//	    limit    client|account|tiles_client|tiles_account|tokens <events> <window>
//	    matcher  <module> [<arguments...>]
//	    router   <module> [<arguments...>]
//	    geocoder <module> [<arguments...>]
//	}
//
// The parts that `without` leaves out are tokens, accounts, matching, routing, geocoding, reverse_geocoding, tiles,
// playground, console, docs, health, start and limits. `cors` lets pages of other origins call the APIs, and refresh
// tokens. `profile` lists what matching and routing offer, the first for requests without one; default: all. `guest`
// and `public` are those of `maps_playground`. `matcher`, `router` and `geocoder` replace the region's own engines.
// Example:
//
//	maps.example.com {
//	    maps_service ./delaware.region {
//	        cors    https://app.example.com
//	        without console
//	        limit   account 100 1s
//	    }
//	}
func (s *Service) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return s.unmarshal(d, nil) }

func (s *Service) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	s.limits = defaultLimits()
	d.Next() // the directive's name
	s.regions = d.RemainingArgs()
	for _, file := range s.regions {
		options.Remember(d, "region "+app.RegionName(file)) // files are opened when the configuration is loaded
	}
	check := func() error {
		if len(s.regions) == 0 {
			return errors.New("maps_service needs at least one region: the file that `caddy maps build` has written, or the " +
				"name of a region in the maps option")
		}
		if err := known.Check(s.regions...); err != nil {
			return err
		}
		if _, err := request.NewCORS(s.cors); err != nil {
			return options.Wrap("cors", err)
		}
		for _, part := range s.without {
			if err := options.OneOf(part, partNames...); err != nil {
				return options.Wrap("without", err)
			}
		}
		playground := pages.Playground{Guest: s.guest, Public: s.public, Profile: s.profiles}
		return playground.Validate()
	}
	return options.Block(d, app.ServiceDirective, check,
		options.Option{Name: "without", Args: "<part>...", Read: options.Words(&s.without), Repeats: true},
		options.Option{Name: "cors", Args: "<origin>...", Read: options.Words(&s.cors), Repeats: true},
		options.Option{Name: "profile", Args: "car|bicycle|foot...", Read: options.Words(&s.profiles), Repeats: true},
		options.Option{Name: "guest", Args: "<account id>", Read: options.Text(&s.guest)},
		options.Option{Name: "public", Read: options.Flag(&s.public)},
		options.Option{Name: "limit", Args: "<name> <events> <window>", Read: s.unmarshalLimit, Repeats: true},
		engine("matcher", "maps.matchers", &s.matchers, known),
		engine("router", "maps.routers", &s.routers, known),
		engine("geocoder", "maps.geocoders", &s.geocoders, known),
	)
}

func engine(name, namespace string, list *[]json.RawMessage, known app.RegionNames) options.Option {
	return options.Option{Name: name, Args: "<module> [<arguments...>]", Repeats: true,
		Read: func(d *caddyfile.Dispenser) error {
			module, raw, err := options.Module(d, namespace, "source")
			if err != nil {
				return err
			}
			*list = append(*list, raw)
			return known.CheckModule(module)
		}}
}

func (s *Service) unmarshalLimit(d *caddyfile.Dispenser) error {
	if d.CountRemainingArgs() != 3 || !d.NextArg() {
		return options.ErrCount
	}
	limit, ok := s.limits[d.Val()]
	if !ok {
		return fmt.Errorf("%q is not known; %s", d.Val(), text.DidYouMean(d.Val(),
			[]string{limitClient, limitAccount, limitTilesClient, limitTilesAccount, limitTokens}))
	}
	return limit.Unmarshal(d)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Service)(nil)
