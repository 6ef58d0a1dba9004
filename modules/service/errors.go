package service

import (
	"errors"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Errors))
	httpcaddyfile.RegisterHandlerDirective("maps_errors", parseErrors)
	httpcaddyfile.RegisterDirectiveOrder("maps_errors", httpcaddyfile.Before, "handle")
}

// Errors writes errors as JSON: below `/api/route/` as `{"error":{"code","message","status"}}`, at
// `/api/v1/external/token` as RFC 6749 says, and elsewhere as `{"error":text}`. In error routes, such as
// `handle_errors`, it writes the error that a handler has returned. In other routes it passes requests on, and answers
// 404 if no handler has answered.
type Errors struct{}

// CaddyModule returns the Caddy module information.
func (*Errors) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_errors", New: func() caddy.Module { return new(Errors) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (e *Errors) UnmarshalJSON(data []byte) error { return options.Decode(data, e) }

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (*Errors) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	failed, ok := r.Context().Value(caddyhttp.ErrorCtxKey).(error)
	if !ok {
		err := next.ServeHTTP(w, r)
		if unhandled, _ := caddyhttp.GetVar(r.Context(), unhandledVar).(bool); err == nil && unhandled {
			caddyhttp.SetVar(r.Context(), unhandledVar, false)
			styleOf(r).Write(w, apierror.OfStatus(http.StatusNotFound))
		}
		return err
	}
	status := http.StatusInternalServerError
	if known, ok := errors.AsType[caddyhttp.HandlerError](failed); ok && known.StatusCode >= http.StatusBadRequest {
		status = known.StatusCode
	}
	answer := apierror.OfStatus(status)
	answer.RoutingStatus = 0 // the response has the status of the error
	if given := w.Header().Get("Allow"); given != "" {
		answer.Allow = []string{given}
	}
	if status == http.StatusTooManyRequests {
		openToPages(w.Header())
	}
	styleOf(r).Write(w, answer)
	return nil
}

// unhandledVar is the variable that Caddy sets if no handler has answered a request.
const unhandledVar = "unhandled"

const (
	routingPaths = "/api/route/"            // all paths below have errors in the routing style
	oauthPath    = "/api/v1/external/token" // has those of RFC 6749
)

// styleOf returns the style of errors of the path that the client requested.
func styleOf(r *http.Request) apierror.Style {
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		r = &original
	}
	switch {
	case strings.HasPrefix(r.URL.Path, routingPaths):
		return apierror.Routing
	case strings.TrimSuffix(r.URL.Path, "/") == oauthPath:
		return apierror.OAuth
	}
	return apierror.Platform
}

// openToPages lets pages of any origin read when to try again, unless maps_auth has said which may. The response holds
// nothing else.
func openToPages(h http.Header) {
	if len(h["Access-Control-Allow-Origin"]) == 0 {
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "Retry-After, RateLimit, RateLimit-Policy")
	}
}

func parseErrors(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	e := new(Errors)
	return e, e.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive, which has no options:
//
//	maps_errors [<matcher>]
//
// Example:
//
//	handle_errors {
//	    maps_errors
//	}
func (e *Errors) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	return options.Block(d, "maps_errors", nil)
}

// Interface guards
var (
	_ caddyhttp.MiddlewareHandler = (*Errors)(nil)
	_ caddyfile.Unmarshaler       = (*Errors)(nil)
)
