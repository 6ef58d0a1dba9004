package access

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Verify)) }

// Verify answers other proxies whether a request may pass, as maps_auth would: `forward_auth` of Caddy, `auth_request`
// of nginx, ForwardAuth of Traefik. Examples for them: examples/proxies.
//
// The query of its own URL, which the proxy's configuration sets, names the scopes: `?scope=TILE`, or several, all of
// which are needed: `?scope=ORDERS&scope=INVOICES`. Without any, a token with any scope is enough, as for `maps_auth
// *`. Anything else in the query, such as an unknown scope, gets 400.
//
// If the request may pass, the answer is 204 with these headers for the upstream. Otherwise it is that of maps_auth:
// 401, 403, 429 or 503.
//
// Header | Description
// -------|------------
// `X-Maps-Account` | The account of the client token or key
// `X-Maps-Organization` | Its organization
// `X-Maps-Scopes` | The token's scopes, separated by spaces
//
// It reads the headers Authorization, Origin and Referer, with any method. From `trusted_proxies` it also reads where
// the client is (X-Forwarded-For), and tokens in the query of the original URL (X-Forwarded-Uri, X-Original-URI or
// X-Original-URL). The proxy must remove tokens from requests before they reach upstreams that should not see them, and
// answer preflight requests itself.
//
// A request counts for the account of the client token under each scope, or under `*` without one, with 1 unit.
type Verify struct {
	// Query parameters of the original URL that may carry the token instead of the Authorization header. Caddy logs
	// headers: use the filter `maps_redact` with the same names in the access log and the default logger. Default: none.
	APIKeyQuery []string `json:"api_key_query,omitempty"`

	// The form of error bodies: `platform` or `routing`. Default: `platform`.
	ErrorStyle string `json:"error_style,omitempty"`

	// The rate of requests that each account may send, as in maps_auth. Default: none.
	Limit *app.RateLimit `json:"limit,omitempty"`

	auth Auth // for any scope
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (v *Verify) UnmarshalJSON(data []byte) error { return options.Decode(data, v) }

// CaddyModule returns the Caddy module information.
func (*Verify) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_verify", New: func() caddy.Module { return new(Verify) }}
}

// Provision checks the configuration.
func (v *Verify) Provision(ctx caddy.Context) error {
	a, err := app.Get(ctx)
	if err != nil {
		return err
	}
	v.auth = v.newAuth(a.ScopeNames())
	if err := v.auth.provision(ctx); err != nil {
		return err
	}
	a.Guard(v.auth.scopes)
	return nil
}

func (v *Verify) newAuth(scopes []string) Auth {
	return Auth{Scopes: scopes, APIKeyQuery: v.APIKeyQuery, ErrorStyle: v.ErrorStyle, Limit: v.Limit,
		ForwardToken: true} // there is no next handler to hide it from
}

// Cleanup releases the counts of the rate limit.
func (v *Verify) Cleanup() error { return v.auth.Cleanup() }

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (v *Verify) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	auth := v.auth
	var err error
	if auth.scopes, err = v.scopesOf(r.URL.RawQuery); err != nil {
		w.Header()["Cache-Control"] = []string{"no-store"}
		auth.style.Write(w, apierror.FailedValidation(err.Error()))
		return nil
	}
	original := *r
	original.URL = &url.URL{RawQuery: v.originalQuery(r)}
	return auth.ServeHTTP(w, &original, caddyhttp.HandlerFunc(confirm))
}

// scopesOf reads the query of the handler's own URL. It does not decode it: names of scopes need no encoding.
func (v *Verify) scopesOf(query string) (needed account.ScopeSet, err error) {
	if query == "" {
		return account.AnyScope, nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name != "scope" {
			return 0, fmt.Errorf("%.40q: unknown parameter; only scope is known", name)
		}
		scope := account.Scope(value).Set() & v.auth.app.AllowedScopes()
		if scope == 0 {
			return 0, fmt.Errorf("scope: unknown scope %.40q: %s", value, text.DidYouMean(value, v.auth.Scopes))
		}
		needed |= scope
	}
	return needed, nil
}

// originalURL are the headers in which proxies send the URL that the client asked for.
var originalURL = []string{"X-Forwarded-Uri", "X-Original-Uri", "X-Original-Url"}

// originalQuery returns the query of the URL that the client asked for, if a trusted proxy sends it. Queries of several
// headers are joined, so that a token in two of them is refused as repeated.
func (v *Verify) originalQuery(r *http.Request) string {
	if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); !trusted {
		return ""
	}
	joined := ""
	for _, name := range originalURL {
		for _, uri := range r.Header[name] {
			_, query, _ := strings.Cut(uri, "?")
			if joined != "" {
				joined += "&"
			}
			joined += query
		}
	}
	return joined
}

// confirm answers a request that may pass.
func confirm(w http.ResponseWriter, r *http.Request) error {
	who := outerOf(r).identity
	values := [...]string{"no-store", who.Client, who.Organization, who.Scopes.String()}
	for i, name := range []string{"Cache-Control", "X-Maps-Account", "X-Maps-Organization", "X-Maps-Scopes"} {
		w.Header()[name] = values[i : i+1 : i+1]
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Verify)(nil)
	_ caddy.CleanerUpper          = (*Verify)(nil)
	_ caddyhttp.MiddlewareHandler = (*Verify)(nil)
)
