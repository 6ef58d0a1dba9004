package tiles

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// baseURL returns the absolute URL of the prefix as the client requested it, before any rewriting by Caddy or by a
// trusted proxy. rest is the part of the request's path behind the prefix.
func baseURL(r *http.Request, rest string) string {
	scheme, host, trusted := app.ExternalOrigin(r)
	path := r.URL.Path
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		if strings.HasSuffix(original.URL.Path, rest) {
			path = original.URL.Path // a prefix may have been stripped
		}
	}
	path = strings.TrimSuffix(path, rest)
	if trusted {
		if prefix, err := request.ParsePrefix(app.Forwarded(r.Header, "X-Forwarded-Prefix")); err == nil {
			path = string(prefix) + path
		}
	}
	return scheme + "://" + host + (&url.URL{Path: path}).EscapedPath()
}
