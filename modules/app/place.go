package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// places is what handlers tell the app in their Provision about where they are, to find mistakes between directives.
type places struct {
	guards []guard
	tiles  []serverPath // where handlers serve tiles
	shown  []serverPath // where pages expect tiles
}

// guard is a maps_auth.
type guard struct {
	routes any // the list of routes that it is in: a *caddyhttp.Server or *caddyhttp.Subroute
	scopes account.ScopeSet
}

// serverPath is a path as clients see it, without a trailing slash.
type serverPath struct {
	server *caddyhttp.Server
	path   string
}

// Prefix parses a path of the handler that is being provisioned: its option of this name. It refuses one that
// handle_path has removed from the path of every request.
func Prefix(ctx caddy.Context, option, path string) (request.Prefix, error) {
	prefix, err := request.ParsePrefix(path)
	if err != nil {
		return "", options.Wrap(option, err)
	}
	removed := ""
	for _, part := range slices.Backward(strippedFrom(ctx)) {
		removed = part + removed
		if rest, ok := strings.CutPrefix(string(prefix), removed); ok && (rest == "" || rest[0] == '/') {
			return "", options.Located(directiveOf(ctx), fmt.Errorf("%s: handle_path removes %s from the path, so no request "+
				"would reach %s; write `%[1]s %[4]s`, or handle instead of handle_path", option, removed, prefix,
				cmp.Or(rest, "/")))
		}
	}
	return prefix, nil
}

// directiveOf returns the name of the handler that is being provisioned.
func directiveOf(ctx caddy.Context) string { return ctx.Module().CaddyModule().ID.Name() }

// strippedFrom returns what each handle_path around the handler that is being provisioned removes from paths, the
// outermost first.
func strippedFrom(ctx caddy.Context) (parts []string) {
	for _, module := range ctx.Modules() {
		subroute, ok := module.(*caddyhttp.Subroute)
		if !ok {
			continue
		}
		for _, route := range subroute.Routes {
			for _, handler := range route.Handlers { // only those in front are loaded yet
				if r, ok := handler.(*rewrite.Rewrite); ok && r.StripPathPrefix != "" && len(route.MatcherSets) == 0 {
					parts = append(parts, r.StripPathPrefix)
				}
			}
		}
	}
	return parts
}

// serverOf returns the server of the handler that is being provisioned.
func serverOf(ctx caddy.Context) *caddyhttp.Server {
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return server
}

// ServeTiles records where a handler serves tiles. Modules call it in their Provision.
func (a *App) ServeTiles(ctx caddy.Context, prefix request.Prefix) {
	path := strings.Join(strippedFrom(ctx), "") + string(prefix)
	a.places.tiles = append(a.places.tiles, serverPath{serverOf(ctx), path})
}

// ShowTiles makes the app warn at its start if no handler of this server serves tiles at a path, as clients see it.
// Modules call it in their Provision.
func (a *App) ShowTiles(ctx caddy.Context, path string) {
	a.places.shown = append(a.places.shown, serverPath{serverOf(ctx), strings.TrimSuffix(path, "/")})
}

func (a *App) warnOfMissingTiles() {
	for _, shown := range a.places.shown {
		if slices.Contains(a.places.tiles, shown) {
			continue
		}
		advice := "serve them with maps_tiles"
		for _, served := range a.places.tiles {
			if served.server == shown.server {
				advice = fmt.Sprintf("maps_tiles serves them at %s: write `tiles %[1]s`", cmp.Or(served.path, "/"))
			}
		}
		a.logger.Warn("the map of maps_playground stays empty, unless another handler serves its tiles",
			zap.Error(options.Located("maps_playground", fmt.Errorf("tiles: no maps_tiles of this server serves %s: %s",
				cmp.Or(shown.path, "/"), advice))))
	}
}

// AddGuard is Guard for a maps_auth, which lets requests pass to handlers behind it.
func (a *App) AddGuard(ctx caddy.Context, scopes account.ScopeSet) {
	a.Guard(scopes)
	if lists := routesAround(ctx); len(lists) > 0 {
		a.places.guards = append(a.places.guards, guard{lists[len(lists)-1], scopes})
	}
}

// routesAround returns the lists of routes around the handler that is being provisioned, the outermost first. Outside
// of a server's own routes there are none: named routes may be invoked from anywhere.
func routesAround(ctx caddy.Context) (lists []any) {
	server := serverOf(ctx)
	loading := func(r caddyhttp.Route) bool { return r.HandlersRaw != nil }
	if server == nil || !slices.ContainsFunc(server.Routes, loading) {
		return nil // its own routes are loaded already
	}
	lists = append(lists, server)
	for _, module := range ctx.Modules() {
		if subroute, ok := module.(*caddyhttp.Subroute); ok {
			lists = append(lists, subroute)
		}
	}
	return lists
}

// hasGuard reports whether a maps_auth in front of the handler that is being provisioned requires a scope. It is true
// if that cannot be known.
func (a *App) hasGuard(ctx caddy.Context, scope account.Scope) bool {
	lists := routesAround(ctx)
	return lists == nil || slices.ContainsFunc(a.places.guards, func(g guard) bool {
		return slices.Contains(lists, g.routes) && (g.scopes == account.AnyScope || g.scopes.Has(scope.Set()))
	})
}
