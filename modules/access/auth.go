// Package access has the Caddy modules that decide who may do what: the handlers `maps_auth`, which checks access
// tokens, `maps_tokens`, which exchanges and refreshes tokens, and `maps_accounts`, which manages service accounts, and
// the log filter `maps_redact`.
//
// It translates between HTTP and the packages in internal/access, which issue and verify tokens, store accounts and
// count usage. Start reading at ServeHTTP in auth.go, tokens.go and accounts.go.
package access

import (
	"cmp"
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

// Auth lets requests with a valid access token or publishable key pass, and removes it before the next handler. These
// placeholders tell an upstream who is calling. `header_up` also replaces what clients send in these headers:
//
//	reverse_proxy 127.0.0.1:5000 {
//	    header_up X-Maps-Account      {http.auth.user.id}           # the account of the client token or key
//	    header_up X-Maps-Organization {http.auth.user.organization} # its organization
//	    header_up X-Maps-Scopes       {http.auth.user.scopes}       # the token's scopes, separated by spaces
//	    header_up X-Maps-Admin        {http.auth.user.admin}        # whether every account behind the token has isAdmin
//	}
//
// `{http.maps.client_network}` is the client's IPv4 address, or the /64 network of its IPv6 address.
//
// If a valid token's request is refused for its scope, restrictions or quota, `{http.auth.candidate.id}` and
// `{http.auth.candidate.organization}` are set instead.
//
// A request counts for the account of the client token under each scope, once even if several maps_auth name the scope.
type Auth struct {
	// The scopes that a request needs, all of them: TILE, MATRIX, ONM, DIRECTION, TSS, GEOCODING, REVERSEGEOCODING, and
	// those that the app declares. Or `*` by itself, for any scope: the next handler decides. The handlers of maps do so,
	// and refuse tokens that lack theirs. Such requests count under the scope `*`, so only quotas for `*` limit them.
	// Required.
	Scopes []string `json:"scopes,omitempty"`

	// Query parameters that may carry the token instead of the Authorization header. Caddy logs queries: use the filter
	// `maps_redact` with the same names in the access log and the default logger. A warning names loggers without it.
	// Default: none.
	APIKeyQuery []string `json:"api_key_query,omitempty"`

	// The form of error bodies: `platform` or `routing`. Default: `platform`.
	ErrorStyle string `json:"error_style,omitempty"`

	// Whether the next handlers, and so upstreams, see the token. Otherwise header, query and Referer lose it. Default:
	// false.
	ForwardToken bool `json:"forward_token,omitempty"`

	// The origins of web pages that may read responses: `https://app.example.com`, `https://*.example.com` for all
	// subdomains, or `*`. Preflight requests are answered before authentication. Only this handler sets
	// Access-Control-Allow-Origin. Default: none.
	CORS []string `json:"cors,omitempty"`

	// The units of a request: a placeholder for a whole number up to 1000000000; anything else counts 1. If it is empty
	// before the next handler, it is read again with the response, such as `{http.response.header.X-Matrix-Elements}`,
	// and quotas then affect the next request. Never use what clients can set. Default: 1, and for map matching the
	// points of the trace.
	Units string `json:"units,omitempty"`

	// The rate of requests that each account may send, behind restrictions and in front of quotas. A refused request gets
	// 429 with Retry-After and counts for no quota. Default: none.
	Limit *app.RateLimit `json:"limit,omitempty"`

	app     *app.App
	logger  *zap.Logger
	metrics *app.AuthResults
	style   apierror.Style
	scopes  account.ScopeSet // or account.AnyScope
	cors    *request.CORS
	quotas  quotaKinds
}

// CaddyModule returns the Caddy module information.
func (*Auth) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_auth", New: func() caddy.Module { return new(Auth) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (a *Auth) UnmarshalJSON(data []byte) error { return options.Decode(data, a) }

// Provision checks the configuration.
func (a *Auth) Provision(ctx caddy.Context) error {
	if err := a.provision(ctx); err != nil {
		return err
	}
	a.app.AddGuard(ctx, a.scopes)
	return nil
}

// provision is Provision for one that is not in front of other handlers.
func (a *Auth) provision(ctx caddy.Context) error {
	a.logger = ctx.Logger()
	var err error
	if a.app, err = app.Get(ctx); err != nil {
		return err
	}
	if err := a.parse(a.app.ScopeNames()); err != nil {
		return err
	}
	for _, name := range a.Scopes {
		a.scopes |= account.Scope(name).Set()
	}
	a.metrics = &a.app.Metrics().Auth
	a.quotas = newQuotaKinds(a.Scopes)
	if a.Limit != nil {
		if err := a.Limit.Provision(); err != nil {
			return options.Wrap("limit", err)
		}
	}
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		a.app.WarnOfLogs(ctx, server, a.APIKeyQuery)
	}
	return nil
}

// Cleanup releases the counts of the rate limit.
func (a *Auth) Cleanup() error {
	a.Limit.Cleanup()
	return nil
}

// parse validates the configuration, with the names of the scopes that exist; nil accepts any. UnmarshalCaddyfile calls
// it too, so that errors have a line.
func (a *Auth) parse(known []string) error {
	if len(a.Scopes) == 0 {
		return errors.New("maps_auth needs at least one scope")
	}
	for _, name := range a.Scopes {
		switch {
		case name == account.EveryScope && len(a.Scopes) > 1:
			return errors.New("maps_auth *: any scope is enough, so there can be no other")
		case name != account.EveryScope && known != nil && !slices.Contains(known, name):
			return fmt.Errorf("unknown scope %q: %s; scopes of your own are declared with `scope` in the option `maps`", name,
				text.DidYouMean(name, known))
		}
	}
	var err error
	if a.style, err = apierror.ParseStyle(a.ErrorStyle); err != nil {
		return options.Wrap("error_style", err)
	}
	for i, name := range a.APIKeyQuery {
		switch {
		case name == "" || strings.ContainsAny(name, "&=#"):
			return options.Errorf("api_key_query", "%q cannot be the name of a parameter", name)
		case slices.Contains(a.APIKeyQuery[:i], name):
			return options.Errorf("api_key_query", "%q is named twice", name)
		}
	}
	if a.Units != "" && (!strings.HasPrefix(a.Units, "{") || !strings.HasSuffix(a.Units, "}")) {
		return options.Errorf("units", "%q is not a placeholder, such as {http.response.header.X-Matrix-Elements}", a.Units)
	}
	a.cors, err = request.NewCORS(a.CORS, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete)
	return options.Wrap("cors", err)
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

// refusal is why a request does not pass: the client's response, and the true reason for the log.
type refusal struct {
	response apierror.Error
	reason   fmt.Stringer
	counter  prometheus.Counter
	kind     app.Reason
}

// reasonText is a reason as a string.
type reasonText string

func (t reasonText) String() string { return string(t) }

// unavailable is a refusal because the store could not be asked.
func (a *Auth) unavailable(reason string) *refusal {
	return &refusal{apierror.Unavailable(), reasonText(reason), a.metrics.Unavailable, app.ReasonUnavailable}
}

// lacks is the refusal of a token without the scopes that are needed, all of them; 0 for any scope.
func (a *Auth) lacks(needed account.ScopeSet, who *credential.Identity) *refusal {
	return &refusal{apierror.InsufficientScope(needed.String()),
		reasonText(fmt.Sprintf("needs the scopes %q, has %q", cmp.Or(needed, account.AnyScope), who.Scopes)),
		a.metrics.NoScope, app.ReasonNoScope}
}

// check authenticates a request and counts it, or returns why it may not pass. The caller must release the session.
func (a *Auth) check(r *http.Request, out *response) *refusal {
	token, err := request.FindToken(r.Header, r.URL.RawQuery, a.APIKeyQuery)
	switch {
	case err != nil:
		return &refusal{apierror.Unauthorized(true).WithDescription(err.Error()), reasonText(err.Error()), a.metrics.Invalid,
			app.BearerReason(err)}
	case token == "":
		return &refusal{apierror.Unauthorized(false), app.ReasonNoToken, a.metrics.NoToken,
			app.ReasonNoToken}
	}
	out.inQuery = r.Header["Authorization"] == nil
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
		err = withHint(err, given{token: token, wanted: credential.KindAccess})
		return &refusal{unauthorized(err), reasonText(err.Error()), a.metrics.Invalid, app.ReasonFor(err)}
	case err != nil:
		return a.unavailable(err.Error())
	case a.scopes == account.AnyScope && who.Scopes == 0:
		return a.lacks(0, who)
	case a.scopes != account.AnyScope && !who.Scopes.Has(a.scopes):
		return a.lacks(a.scopes, who)
	}
	if reason, violated := app.CheckRestrictions(who.Restrictions, r); violated {
		return &refusal{apierror.Restricted(), reason, a.metrics.Restricted, reason}
	}
	if retry, refused := a.Limit.Take(out.Header(), who.Client); refused {
		return &refusal{app.TooManyRequests(retry), app.ReasonRate, a.metrics.Limited, app.ReasonRate}
	}
	return a.admit(r, out)
}

// explain tells the operator, not the client, why a request was refused: in the request's line of the access log, so
// that a flood of requests adds no lines, and in this module's log at DEBUG.
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
	_ caddy.CleanerUpper          = (*Auth)(nil)
	_ caddyhttp.MiddlewareHandler = (*Auth)(nil)
)
