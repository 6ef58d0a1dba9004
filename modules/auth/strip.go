package auth

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/urlquery"
)

// strip removes the token from everything that later handlers, placeholders and upstreams can see of a request. copied
// reports that a handler in front of this one has made a copy of the request, so that the server still holds one with
// the token.
func (a *Auth) strip(r *http.Request, repl *caddy.Replacer) (copied bool) {
	delete(r.Header, "Authorization")
	// What follows a body may say anything again, under any name, and is not there yet to be looked at. HTTP lets
	// everybody on the way leave it out (RFC 9110, section 6.5.1).
	delete(r.Header, "Trailer")
	r.Trailer = nil
	if a.APIKeyQuery == "" {
		return false
	}
	for i, referer := range r.Header["Referer"] {
		r.Header["Referer"][i] = urlquery.RemoveFromReferer(referer, a.APIKeyQuery)
	}
	if r.URL.RawQuery != "" {
		r.URL.RawQuery = urlquery.Remove(r.URL.RawQuery, a.APIKeyQuery)
	}
	r.RequestURI = urlquery.RemoveFromURI(r.RequestURI, a.APIKeyQuery)

	// Caddy saves the request as it came: FastCGI, error routes and {http.request.orig_uri…} go back to that.
	saved, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok {
		return false
	}
	if saved.URL != nil && saved.URL.RawQuery != "" {
		saved.URL.RawQuery = urlquery.Remove(saved.URL.RawQuery, a.APIKeyQuery) // shared by all who hold the saved request
	}
	uri := urlquery.RemoveFromURI(saved.RequestURI, a.APIKeyQuery)
	if uri == saved.RequestURI {
		return false
	}
	saved.RequestURI = uri
	// The request is changed in place, so that the server, which holds it too, restores this version before error routes
	// run.
	*r = *r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, saved))
	if seen, _ := repl.GetString("http.request.orig_uri"); seen == uri {
		return false
	}
	// The placeholder reads the server's own request, and that is another one: a copy was made on the way here.
	repl.Set("http.request.orig_uri", uri)
	return true
}
