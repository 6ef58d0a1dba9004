package access

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// strip removes the token from everything that later handlers, placeholders and upstreams can see of a request.
func (a *Auth) strip(r *http.Request) {
	delete(r.Header, "Authorization")
	// Trailers could contain the token and have not been received yet. Every intermediary may drop them (RFC 9110, section
	// 6.5.1).
	delete(r.Header, "Trailer")
	r.Trailer = nil
	if len(a.APIKeyQuery) == 0 {
		return
	}
	for i, referer := range r.Header["Referer"] {
		r.Header["Referer"][i] = a.without(referer, request.RemoveFromReferer)
	}
	r.URL.RawQuery = a.without(r.URL.RawQuery, request.RemoveParameter)
	r.RequestURI = a.without(r.RequestURI, request.RemoveFromURI)

	// Caddy saves the original request. FastCGI, error routes and {http.request.orig_uri…} use it.
	saved, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok {
		return
	}
	if saved.URL != nil { // shared by all copies of the saved request
		saved.URL.RawQuery = a.without(saved.URL.RawQuery, request.RemoveParameter)
	}
	uri := a.without(saved.RequestURI, request.RemoveFromURI)
	if uri == saved.RequestURI {
		return
	}
	saved.RequestURI = uri
	// The request is changed in place, because the server holds it too and restores it before error routes run.
	*r = *r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, saved))
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if seen, _ := repl.GetString("http.request.orig_uri"); seen != uri {
		repl.Set("http.request.orig_uri", uri) // an earlier handler, such as `tracing`, has copied the request
	}
}

// without removes all parameters that may carry a token.
func (a *Auth) without(text string, remove func(text, parameter string) string) string {
	if text == "" {
		return ""
	}
	for _, name := range a.APIKeyQuery {
		text = remove(text, name)
	}
	return text
}
