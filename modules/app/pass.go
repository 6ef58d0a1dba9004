package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// Pass is what maps_auth attaches to a request that it let through.
type Pass interface {
	// Allows reports whether this maps_auth, or one in front of it, required the scope, or accepts any scope and the token
	// has this one. If one accepts any scope and the token lacks this one, the error is the apierror.Error to send.
	Allows(scope account.ScopeSet) (bool, error)
	// Charge sets the units that the request counts for.
	Charge(units int64) error
	// Limit is the rate limit of the request's account, which may be nil, and the account that it counts.
	Limit() (limit *RateLimit, account string)
	// PublishableQuery is the query (apiKey=mpk_…) of a request whose query had a publishable key; empty for all others.
	PublishableQuery() string
}

// passVar is the request variable that holds the Pass. No configuration can forge one, because the directive `vars`
// only sets JSON values.
const passVar = "http.handlers.maps_auth"

// SetPass records that a maps_auth let the request of this context through.
func SetPass(ctx context.Context, pass Pass) { caddyhttp.SetVar(ctx, passVar, pass) }

// PassOf returns the Pass of the last maps_auth that let the request of this context through, or nil.
func PassOf(ctx context.Context) Pass {
	pass, _ := caddyhttp.GetVar(ctx, passVar).(Pass)
	return pass
}

// Charge sets the units that a request counts for; the default is 1. Call it before doing the work. It does nothing
// without maps_auth. It returns the apierror.Error to send if a quota forbids so many units.
func Charge(ctx context.Context, units int64) error {
	if pass := PassOf(ctx); pass != nil {
		return pass.Charge(units)
	}
	return nil
}

// WithPublishableKey adds the publishable key in the query of the request of this context, if it had one, to an address
// without a query. A page that loads a document with its key can then follow the addresses in it. Tokens are never
// added.
func WithPublishableKey(ctx context.Context, address string) string {
	if pass := PassOf(ctx); pass != nil && pass.PublishableQuery() != "" {
		return address + "?" + pass.PublishableQuery()
	}
	return address
}

// Gate refuses requests to a map handler that no maps_auth let through with the handler's scope.
type Gate struct {
	scope   account.Scope
	style   apierror.Style
	public  bool
	explain func() // logs once what to change in the configuration
}

// NewGate returns the gate of the handler that is being provisioned. A public gate lets every request through. If no
// request can pass it, the log says what to change.
func (a *App) NewGate(ctx caddy.Context, scope account.Scope, style apierror.Style, public bool) *Gate {
	return a.NewGates(ctx, style, public, scope)[scope]
}

// NewGates is NewGate for a handler whose paths have scopes of their own. A handler may be behind some of them only.
func (a *App) NewGates(ctx caddy.Context, style apierror.Style, public bool, scopes ...account.Scope,
) map[account.Scope]*Gate {
	directive, logger := directiveOf(ctx), ctx.Logger()
	gates, guarded := map[account.Scope]*Gate{}, false
	for _, scope := range scopes {
		problem := options.Located(directive, fmt.Errorf("%s refuses requests that no maps_auth let through with the scope "+
			"%[2]s: write `maps_auth %[2]s` in front of it, or `public` in its block if it is open to all", directive, scope))
		gates[scope] = &Gate{scope: scope, style: style, public: public,
			explain: sync.OnceFunc(func() { logger.Error(problem.Error()) })}
		if public {
			a.public |= scope.Set()
		} else if a.hasGuard(ctx, scope) || len(scopes) == 1 {
			a.Guard(scope.Set())
			guarded = guarded || a.hasGuard(ctx, scope)
		}
	}
	if !public && !guarded {
		gates[scopes[0]].explain()
	}
	return gates
}

// Refuse answers a request that may not pass, and reports whether it did: with 403 if a `maps_auth *` let a token
// without the scope through, and else with 500.
func (g *Gate) Refuse(w http.ResponseWriter, r *http.Request) bool { return g.RefuseAs(g.style, w, r) }

// RefuseAs is Refuse with errors in another style.
func (g *Gate) RefuseAs(style apierror.Style, w http.ResponseWriter, r *http.Request) bool {
	if g.public {
		return false
	}
	if pass := PassOf(r.Context()); pass != nil {
		allowed, err := pass.Allows(g.scope.Set())
		if refused, ok := errors.AsType[apierror.Error](err); ok {
			style.Write(w, refused)
			return true
		}
		if allowed {
			return false
		}
	}
	g.explain()
	style.Write(w, apierror.Internal())
	return true
}
