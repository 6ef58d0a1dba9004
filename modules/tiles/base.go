package tiles

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// baseURL is the absolute address of the prefix as the client has reached it: what has been rewritten on the way to
// this handler, or by a trusted proxy before this server, is as the client wrote it. rest is what follows the prefix in
// the request's path.
func baseURL(r *http.Request, rest string) string {
	scheme, host, trusted := app.ExternalOrigin(r)
	path := r.URL.Path
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		if strings.HasSuffix(original.URL.Path, rest) {
			path = original.URL.Path // a part of it may have been stripped
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
