package auth

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/bearer"
)

// strip removes the token from everything that later handlers, placeholders and upstreams can see of a request.
func (a *Auth) strip(r *http.Request, repl *caddy.Replacer) {
	delete(r.Header, "Authorization")
	if a.APIKeyQuery == "" {
		return
	}
	for i, referer := range r.Header["Referer"] {
		r.Header["Referer"][i] = bearer.StripReferer(referer, a.APIKeyQuery)
	}
	if r.URL.RawQuery != "" {
		r.URL.RawQuery = bearer.StripQuery(r.URL.RawQuery, a.APIKeyQuery)
	}
	r.RequestURI = bearer.StripURI(r.RequestURI, a.APIKeyQuery)

	// Caddy saves the request as it came: FastCGI, error routes and {http.request.orig_uri…} go back to that.
	saved, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok {
		return
	}
	if saved.URL != nil && saved.URL.RawQuery != "" {
		saved.URL.RawQuery = bearer.StripQuery(saved.URL.RawQuery, a.APIKeyQuery) // shared by all who hold the saved request
	}
	uri := bearer.StripURI(saved.RequestURI, a.APIKeyQuery)
	if uri == saved.RequestURI {
		return
	}
	saved.RequestURI = uri
	// The request is changed in place, so that the server, which holds it too, restores this version before error routes run.
	*r = *r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, saved))
	// And where a handler before this one made a copy of the request, the placeholder still reads the copy's original.
	repl.Set("http.request.orig_uri", uri)
}
