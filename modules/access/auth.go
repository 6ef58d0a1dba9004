// Package auth is the Caddy handler `maps_auth`: it lets a request pass that carries an access token with the needed
// scopes, and takes the token out of it.
package access

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Auth)) }

// Auth lets requests pass that carry a valid access token of a service account, in the Authorization header or, where
// configured, in a query parameter. The token is removed from the request before the next handler runs.
//
// After a pass these placeholders are set:
//
// Placeholder | Description
// ------------|------------
// `{http.auth.user.id}` | The account of the client token
// `{http.auth.user.organization}` | Its organization
// `{http.auth.user.scopes}` | The scopes of the request, separated by spaces
// `{http.auth.user.admin}` | Whether every account behind the token has `isAdmin`
//
// When the token is valid but the request is refused all the same, because a scope is missing, it comes from where the
// token may not be used, or a quota is used up, `{http.auth.candidate.id}` and `{http.auth.candidate.organization}` are
// set instead.
//
// Each request that passes counts for the account of the client token, under each of the scopes. Of several maps_auth
// on its way each counts only what those in front of it have not.
type Auth struct {
	// The scopes that a request needs, all of them: TILE, MATRIX, ONM, DIRECTION, TSS, GEOCODING or REVERSEGEOCODING.
	// Required.
	Scopes []string `json:"scopes,omitempty"`

	// Query parameters that may carry the token instead of the Authorization header. Caddy logs URLs with their query: the
	// access log and the default logger then need the filter `maps_redact` with the same names, or tokens show there in
	// clear. A warning at the start names the loggers that lack it. Default: none.
	APIKeyQuery []string `json:"api_key_query,omitempty"`

	// The family of error bodies: `platform` or `routing`. Default: `platform`.
	ErrorStyle string `json:"error_style,omitempty"`

	// Whether the next handlers, and so any upstream, get to see the token. Otherwise it is removed from the header, the
	// query and the Referer. Default: false.
	ForwardToken bool `json:"forward_token,omitempty"`

	// The origins of web pages that may read the responses: `https://app.example.com`, `https://*.example.com` for all
	// below a domain, or `*` for all. Preflight requests are then answered before authentication, and this handler alone
	// sets Access-Control-Allow-Origin. Default: none.
	CORS []string `json:"cors,omitempty"`

	// How many units a request counts for: a placeholder that yields a whole number from 0 to 1000000000. Where it yields
	// nothing before the next handler runs, it is read again when the response begins, with what the response holds, such
	// as `{http.response.header.X-Matrix-Elements}`; a quota then takes effect on the next request. What is no such number
	// counts 1. Clients must not be able to choose it: no header or parameter of the request. Default: 1, and for map
	// matching the points of the trace.
	Units string `json:"units,omitempty"`

	app     *app.App
	logger  *zap.Logger
	metrics *app.AuthResults
	style   apierror.Style
	scopes  account.ScopeSet
	cors    *request.CORS
	quotas  quotaKinds
}

// CaddyModule returns the Caddy module information.
func (*Auth) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_auth", New: func() caddy.Module { return new(Auth) }}
}

// Provision checks the configuration.
func (a *Auth) Provision(ctx caddy.Context) error {
	a.logger = ctx.Logger()
	if err := a.parse(); err != nil {
		return err
	}
	var err error
	if a.app, err = app.Get(ctx); err != nil {
		return err
	}
	a.metrics = &a.app.Metrics().Auth
	a.quotas = newQuotaKinds(a.Scopes)
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		a.app.WarnOfLogs(server, a.APIKeyQuery)
	}
	return nil
}

// parse reads the configuration's words; the Caddyfile calls it too, so that a mistake is reported with its line.
func (a *Auth) parse() error {
	if len(a.Scopes) == 0 {
		return errors.New("maps_auth needs at least one scope")
	}
	a.scopes = 0
	for _, name := range a.Scopes {
		scope := account.Scope(name).Set()
		if scope == 0 {
			return fmt.Errorf("unknown scope %q: %s", name, text.DidYouMean(name, scopeNames()))
		}
		a.scopes |= scope
	}
	var err error
	if a.style, err = apierror.ParseStyle(a.ErrorStyle); err != nil {
		return options.Of("error_style", err)
	}
	for i, name := range a.APIKeyQuery {
		switch {
		case name == "" || strings.ContainsAny(name, "&=#"):
			return options.Wrong("api_key_query", "%q cannot be the name of a parameter", name)
		case slices.Contains(a.APIKeyQuery[:i], name):
			return options.Wrong("api_key_query", "%q is named twice", name)
		}
	}
	if a.Units != "" && (!strings.HasPrefix(a.Units, "{") || !strings.HasSuffix(a.Units, "}")) {
		return options.Wrong("units", "%q is no placeholder like {http.response.header.X-Matrix-Elements}", a.Units)
	}
	a.cors, err = request.NewCORS(a.CORS, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete)
	return options.Of("cors", err)
}

func scopeNames() []string {
	names := make([]string, len(account.AllScopes))
	for i, scope := range account.AllScopes {
		names[i] = string(scope)
	}
	return names
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (a *Auth) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if a.cors.Preflight(w, r) {
		return nil
	}
	out := &response{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, auth: a, outer: outerOf(r),
		counting: counting{request: r},
	}
	defer out.release()
	if refused := a.check(r, out); refused != nil {
		out.release() // before a client that may be slow gets its answer
		refused.counter.Inc()
		a.app.Metrics().Refused(app.AuthHandler, refused.kind)
		if out.identity.Client != "" {
			out.publish()
		}
		a.explain(out, refused)
		a.style.Write(out, refused.response)
		return nil
	}
	a.metrics.OK.Inc()
	out.passed = true
	out.publish()
	app.SetPass(r.Context(), out)
	if !a.ForwardToken {
		a.strip(r)
	}
	err := next.ServeHTTP(out, r)
	out.finish(err)
	return err
}

// refusal is why a request does not pass: what the client is told, and the true reason, for the log.
type refusal struct {
	response apierror.Error
	reason   fmt.Stringer
	counter  prometheus.Counter
	kind     app.Reason
}

// reasonText is a reason that is written already.
type reasonText string

func (t reasonText) String() string { return string(t) }

// unavailable is a refusal because nobody could be asked.
func (a *Auth) unavailable(reason string) *refusal {
	return &refusal{apierror.Unavailable(), reasonText(reason), a.metrics.Unavailable, app.ReasonUnavailable}
}

// check fills in who stands behind a request, and counts it, or says why it may not pass. The session is left to the
// caller to release.
func (a *Auth) check(r *http.Request, out *response) *refusal {
	token, err := request.FindToken(r.Header, r.URL.RawQuery, a.APIKeyQuery)
	switch {
	case err != nil:
		return &refusal{apierror.Unauthorized(true), reasonText(err.Error()), a.metrics.Invalid, app.BearerReason(err)}
	case token == "":
		return &refusal{apierror.Unauthorized(false), app.ReasonNoToken, a.metrics.NoToken,
			app.ReasonNoToken}
	}
	ctx := r.Context()
	session, err := a.app.Session(ctx)
	if err != nil {
		return a.unavailable(err.Error())
	}
	out.session = session
	if a.app.TooStale(session) {
		return a.unavailable("the store has not answered for longer than max_stale")
	}
	who := &out.identity
	*who, err = session.Authority.VerifyAccess(ctx, token)
	switch {
	case errors.Is(err, credential.ErrInvalid):
		return &refusal{apierror.Unauthorized(true), reasonText(err.Error()), a.metrics.Invalid, app.ReasonFor(err)}
	case err != nil:
		return a.unavailable(err.Error())
	case !who.Scopes.Has(a.scopes):
		return &refusal{apierror.InsufficientScope(a.scopes.String()),
			reasonText(fmt.Sprintf("needs the scopes %q, has %q", a.scopes, who.Scopes)), a.metrics.NoScope, app.ReasonNoScope}
	}
	if reason, violated := app.CheckRestrictions(who.Bounds, r); violated {
		return &refusal{apierror.Restricted(), reason, a.metrics.Restricted, reason}
	}
	return a.admit(r, out)
}

// explain tells the operator, and nobody else, why a request was refused: in the access log's line of the request, if
// the server has such a log, where it adds no line that a flood of requests could multiply, and in this module's own
// log at DEBUG.
func (a *Auth) explain(out *response, why *refusal) {
	ctx := out.request.Context()
	if server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); server == nil || server.Logs != nil {
		if extra, ok := ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
			extra.Add(zap.Stringer("reason", why.reason))
		}
	}
	if c := a.logger.Check(zap.DebugLevel, "request refused"); c != nil {
		c.Write(
			zap.Stringer("reason", why.reason),
			zap.Int("status", why.response.Status),
			zap.String("account_id", out.identity.Client),
			zap.String("remote_addr", out.request.RemoteAddr))
	}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Auth)(nil)
	_ caddyhttp.MiddlewareHandler = (*Auth)(nil)
)
