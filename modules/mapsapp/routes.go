package mapsapp

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"
	"go.uber.org/zap"
)

// A configuration may be sound in each of its parts and still serve nobody: a handler behind a matcher that never lets
// its address through, or maps_auth in front of what gives out tokens. The operator is told of that when the app
// starts.

// Endpoint is what a handler implements that answers at addresses of its own.
type Endpoint interface {
	caddy.Module
	// Addresses returns, for each thing that the handler answers, paths at which it does. One of each will do.
	Addresses() [][]string
}

const guardID = "http.handlers.maps_auth"

// What stands behind maps_auth, and what does not.
var (
	meantGuarded   = []string{"http.handlers.maps_reverse_geocode", "http.handlers.maps_match", "http.handlers.maps_tiles"}
	meantUnguarded = map[string]string{
		"http.handlers.maps_tokens":     "who has no token yet cannot get one there",
		"http.handlers.maps_accounts":   "no user token is let through to it, and it checks tokens by itself",
		"http.handlers.maps_playground": "a browser that opens the page has no token yet",
		"http.handlers.maps_console":    "a browser that opens the page has no token yet",
		"http.handlers.maps_docs":       "a browser that opens the page has no token yet",
	}
)

// conditions are what a request has to meet, all of them, each by one set of matchers.
type conditions []caddyhttp.MatcherSets

// visit goes through the routes of one server.
type visit struct {
	server string
	logger *zap.Logger
	// reached says of each group of addresses whether a request for one of them can come to a handler.
	reached map[string]bool
	order   []unreached // in which they were seen
}

type unreached struct{ name, addresses string }

// warnOfRoutes looks at where the handlers of caddy-maps stand.
func (a *App) warnOfRoutes() {
	app, err := a.ctx.AppIfConfigured("http")
	if err != nil {
		return
	}
	for name, server := range app.(*caddyhttp.App).Servers {
		v := visit{server: name, logger: a.logger, reached: make(map[string]bool)}
		v.routes(server.Routes, nil, nil)
		for _, u := range v.order {
			if !v.reached[u.name+u.addresses] {
				v.logger.Warn("a handler never gets a request that it answers: no matcher in front of it lets its address "+
					"through; change the matcher, or the handler's prefix", zap.String("server", name), zap.String("handler", u.name),
					zap.String("address", u.addresses))
			}
		}
	}
}

// routes looks at handlers in the order in which requests come to them. on are the conditions to get there, and guards
// those of each maps_auth that stands in front.
func (v *visit) routes(list caddyhttp.RouteList, on conditions, guards []conditions) {
	groups := make([]string, len(guards)) // of the routes that hold the guards
	for _, route := range list {
		here := on.and(route)
		var seen []conditions
		for i, guard := range guards {
			if route.Group == "" || groups[i] != route.Group { // of a group a request takes one route
				seen = append(seen, guard)
			}
		}
		for _, handler := range route.Handlers {
			switch h := handler.(type) {
			case *caddyhttp.Subroute:
				v.routes(h.Routes, here, seen)
			case Endpoint:
				v.endpoint(h, here, seen)
			}
			if rewrites(handler) {
				here, on = nil, nil // from here on the path may be another
			}
			for _, guard := range guardsOf(handler, here) {
				seen, guards, groups = append(seen, guard), append(slices.Clip(guards), guard), append(groups, route.Group)
			}
		}
	}
}

// and adds the condition to get to the handlers of a route.
func (c conditions) and(route caddyhttp.Route) conditions {
	if len(route.MatcherSets) == 0 {
		return c
	}
	return append(slices.Clone(c), route.MatcherSets)
}

// rewrites reports whether a handler, or one in it, may change the path.
func rewrites(handler caddyhttp.MiddlewareHandler) bool {
	if subroute, ok := handler.(*caddyhttp.Subroute); ok {
		return slices.ContainsFunc(subroute.Routes, func(r caddyhttp.Route) bool {
			return slices.ContainsFunc(r.Handlers, rewrites)
		})
	}
	_, ok := handler.(*rewrite.Rewrite)
	return ok
}

// guardsOf returns the conditions of each maps_auth that a handler is or holds.
func guardsOf(handler caddyhttp.MiddlewareHandler, on conditions) (found []conditions) {
	switch h := handler.(type) {
	case *caddyhttp.Subroute:
		for _, route := range h.Routes {
			here := on.and(route)
			for _, inner := range route.Handlers {
				found = append(found, guardsOf(inner, here)...)
			}
		}
	case caddy.Module:
		if h.CaddyModule().ID == guardID {
			found = append(found, on)
		}
	}
	return found
}

func (v *visit) endpoint(h Endpoint, on conditions, guards []conditions) {
	id := string(h.CaddyModule().ID)
	name := strings.TrimPrefix(id, "http.handlers.")
	reached, maybeGuarded := false, false
	for _, group := range h.Addresses() {
		addresses := strings.Join(group, " or ")
		key := name + addresses
		if _, seen := v.reached[key]; !seen {
			v.order = append(v.order, unreached{name, addresses})
			v.reached[key] = false
		}
		for _, address := range group {
			if may, _ := on.meet(address); !may {
				continue
			}
			v.reached[key], reached = true, true
			for _, guard := range guards {
				may, sure := guard.meet(address)
				maybeGuarded = maybeGuarded || may
				if why, unguarded := meantUnguarded[id]; unguarded && sure {
					v.logger.Warn(name+" stands behind maps_auth, and should not: "+why,
						zap.String("server", v.server), zap.String("address", address))
					return
				}
			}
		}
	}
	if slices.Contains(meantGuarded, id) && reached && !maybeGuarded {
		v.logger.Warn(name+" has no maps_auth in front of it: everybody who can reach this server may use it",
			zap.String("server", v.server))
	}
}

// meet reports whether a request for a path may meet the conditions, and whether it surely does: by matchers of paths,
// and without any others.
func (c conditions) meet(address string) (may, sure bool) {
	sure = true
	for _, sets := range c {
		setMay, setSure := false, false
		for _, set := range sets {
			m, s := meetSet(set, address)
			setMay, setSure = setMay || m, setSure || s
		}
		if !setMay {
			return false, false
		}
		sure = sure && setSure
	}
	return true, sure
}

func meetSet(set caddyhttp.MatcherSet, address string) (may, sure bool) {
	sure = true
	for _, matcher := range set {
		switch m := matcher.(type) {
		case *caddyhttp.MatchPath:
			if slices.ContainsFunc(*m, func(pattern string) bool { return strings.Contains(pattern, "{") }) {
				sure = false
				continue
			}
			r := &http.Request{URL: &url.URL{Path: address}}
			r = r.WithContext(context.WithValue(context.Background(), caddy.ReplacerCtxKey, caddy.NewReplacer()))
			if matched, err := m.MatchWithError(r); err != nil || !matched {
				return false, false
			}
		case *caddyhttp.MatchHost: // which site it is makes no difference
		default:
			sure = false
		}
	}
	return true, sure
}
