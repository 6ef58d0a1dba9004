package service

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/timeouts"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/geocoding"
	"github.com/mapsedge/caddy-maps/modules/matching"
	"github.com/mapsedge/caddy-maps/modules/pages"
	"github.com/mapsedge/caddy-maps/modules/routing"
	"github.com/mapsedge/caddy-maps/modules/tiles"
)

// part is one thing that the service serves.
type part struct {
	name    string
	paths   []string      // for the matcher `path`
	limit   string        // of clients; empty for none
	scope   account.Scope // that requests need; empty for none
	perUser string        // the limit of accounts
	handler caddy.Module
}

// parts lists what the service serves. No two parts have a path in common.
func (s *Service) parts() []part {
	all := []part{
		{name: partTokens, paths: below("/api/v1/external"), limit: limitTokens, handler: &access.Tokens{CORS: s.cors}},
		{name: partAccounts, paths: below("/api/v1/service-accounts"), limit: limitTokens, handler: new(access.Accounts)},
		{name: partSearch, paths: []string{"/v2/search/geocode", "/api/v1/route/geocoding"}, limit: limitClient,
			scope: account.ScopeGeocoding, perUser: limitAccount, handler: &geocoding.Search{GeocodersRaw: s.geocoders}},
		{name: partReverse, limit: limitClient, scope: account.ScopeReverseGeocoding, perUser: limitAccount,
			paths:   []string{"/v2/search/reverse-geocoding", "/v2/search/coverage", "/api/v1/route/revgeocoding"},
			handler: &geocoding.Handler{GeocodersRaw: s.geocoders}},
		{name: partMatching, paths: []string{"/api/route/matching", "/api/route/matching/"}, limit: limitClient,
			scope: account.ScopeDirection, perUser: limitAccount,
			handler: &matching.Handler{MatchersRaw: s.matchers, Profile: s.profiles}},
		s.routes(account.ScopeDirection, "/api/v1/route", "/api/v1/isochrone"),
		s.routes(account.ScopeDirection, "/api/route/direction", "/api/route/direction/", "/route/v1/*", "/nearest/v1/*",
			"/match/v1/*"),
		s.routes(account.ScopeMatrix, "/api/route/matrix", "/api/route/matrix/", "/table/v1/*"),
		s.routes(account.ScopeONM, "/api/route/onm", "/api/route/onm/"),
		s.routes(account.ScopeTSS, "/api/route/tss", "/api/route/tss/", "/trip/v1/*"),
		{name: partTiles, paths: below("/tiles"), limit: limitTilesClient,
			scope: account.ScopeTile, perUser: limitTilesAccount, handler: &tiles.Handler{Regions: s.regions}},
		{name: partMap, paths: below("/playground"), limit: limitClient, handler: s.playground()},
		{name: partConsole, paths: below("/console"), limit: limitClient, handler: new(pages.Console)},
		{name: partDocs, paths: below("/docs"), limit: limitClient, handler: new(pages.Docs)},
		{name: partHealth, paths: []string{"/healthz"}, limit: limitClient, handler: new(app.Health)},
	}
	served := slices.DeleteFunc(all, func(p part) bool { return !s.serves(p.name) })
	if s.serves(partStart) {
		served = append(served, part{name: partStart, paths: []string{"/", "/start/*"}, limit: limitClient,
			handler: s.start(served)})
	}
	return served
}

// start returns the start page, which shows what else is served.
func (s *Service) start(served []part) *pages.Start {
	page := &pages.Start{Regions: s.regions}
	shown := map[string]*string{
		partMap: &page.Playground, partConsole: &page.Console, partDocs: &page.Docs, partTokens: &page.Tokens,
		partTiles: &page.Tiles, partMatching: &page.Matching, partRouting: &page.Routing, partSearch: &page.Search,
		partReverse: &page.Geocoding,
	}
	for _, p := range served {
		if path, ok := shown[p.name]; ok && *path == "" { // a part may serve more paths than the page shows
			*path = p.paths[0]
		}
	}
	return page
}

// playground returns the map, without directions if there are no routes, and without search if there is none.
func (s *Service) playground() *pages.Playground {
	p := &pages.Playground{Region: s.regions[0], Guest: s.guest, Public: s.public, Profile: s.profiles}
	if !s.serves(partRouting) {
		p.Routing = "off"
	}
	if !s.serves(partSearch) {
		p.Search = "off"
	}
	return p
}

// routes is a part of routing: the paths with one scope, whose errors have one style.
func (s *Service) routes(scope account.Scope, paths ...string) part {
	return part{name: partRouting, paths: paths, limit: limitClient, scope: scope, perUser: limitAccount,
		handler: &routing.Handler{RoutersRaw: s.routers, Profile: s.profiles}}
}

func below(prefix string) []string { return []string{prefix, prefix + "/*"} }

// serves reports whether a part is served. A playground without tiles would be empty.
func (s *Service) serves(name string) bool {
	return !slices.Contains(s.without, name) && (name != partMap || s.serves(partTiles))
}

// A client that stalls for that long, or sends a body at less than readRate bytes a second on average, loses its
// connection.
const (
	readTimeout  = 10 * time.Second
	readRate     = 500
	writeTimeout = 30 * time.Second
)

// expand returns two routes: one for the paths of the service, whose errors are JSON, and one that answers 404 if
// nothing else in the site answers.
func (s *Service) expand(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	s.complete()
	var paths []string
	inner := caddyhttp.RouteList{{HandlersRaw: handlers(&timeouts.Timeouts{
		ReadTimeout: readTimeout, ReadMinRate: readRate, WriteTimeout: writeTimeout})}}
	for _, p := range s.parts() {
		paths = append(paths, p.paths...)
		inner = append(inner, caddyhttp.Route{MatcherSetsRaw: at(p.paths), HandlersRaw: s.handlers(p)})
	}
	var prefixes []string
	for _, path := range paths {
		prefixes = append(prefixes, cmp.Or(strings.TrimRight(path, "/*"), "/"))
	}
	if err := app.Serves(h, slices.Compact(prefixes)...); err != nil {
		return nil, err
	}
	own := &caddyhttp.Subroute{Routes: inner, Errors: &caddyhttp.HTTPErrorConfig{
		Routes: caddyhttp.RouteList{{HandlersRaw: handlers(new(Errors))}}}}
	return []httpcaddyfile.ConfigValue{
		{Class: "route", Value: caddyhttp.Route{MatcherSetsRaw: at(paths), HandlersRaw: handlers(own)}},
		{Class: "route", Value: caddyhttp.Route{HandlersRaw: handlers(new(Errors))}},
	}, nil
}

// complete adds the engines of the regions where the directive has none, and the profiles.
func (s *Service) complete() {
	if len(s.routers) == 0 {
		s.routers = []json.RawMessage{caddyconfig.JSONModuleObject(
			&routing.Local{Regions: s.regions}, "source", "local", nil)}
	}
	if len(s.matchers) == 0 {
		s.matchers = []json.RawMessage{caddyconfig.JSONModuleObject(
			&matching.Local{Regions: s.regions}, "source", "local", nil)}
		if len(s.profiles) == 0 {
			s.profiles = []string{"car", "bicycle", "foot"}
		}
	}
	if len(s.geocoders) == 0 {
		s.geocoders = []json.RawMessage{caddyconfig.JSONModuleObject(
			&geocoding.Local{Regions: s.regions}, "source", "local", nil)}
	}
}

// handlers returns the handlers of a part: limits and access control in front of what serves it.
func (s *Service) handlers(p part) []json.RawMessage {
	var chain []caddy.Module
	limited := s.serves(partLimits)
	if limited && p.limit != "" {
		chain = append(chain, &Limit{Limit: *s.limits[p.limit]})
	}
	if p.scope != "" {
		auth := &access.Auth{Scopes: []string{string(p.scope)}, APIKeyQuery: []string{"apiKey", "accessToken"}, CORS: s.cors}
		if strings.HasPrefix(p.paths[0], routingPaths) {
			auth.ErrorStyle = "routing"
		}
		if limited {
			auth.Limit = s.limits[p.perUser]
		}
		chain = append(chain, auth)
	}
	return handlers(append(chain, p.handler)...)
}

// handlers returns the JSON of handlers.
func handlers(chain ...caddy.Module) []json.RawMessage {
	raw := make([]json.RawMessage, len(chain))
	for i, handler := range chain {
		raw[i] = caddyconfig.JSONModuleObject(handler, "handler", handler.CaddyModule().ID.Name(), nil)
	}
	return raw
}

// at returns the matcher for paths.
func at(paths []string) caddyhttp.RawMatcherSets {
	return caddyhttp.RawMatcherSets{{"path": caddyconfig.JSON(caddyhttp.MatchPath(paths), nil)}}
}
