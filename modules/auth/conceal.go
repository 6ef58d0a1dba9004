package auth

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/mapsedge/caddy-maps/internal/urlquery"
)

// conceal keeps a request out of the access log if that log would show the token in its URL. The operator was
// warned at the start, and gets the line that logInstead writes.
func (a *Auth) conceal(r *http.Request) bool {
	if len(a.logs()) == 0 || !a.inURL(r.RequestURI) && !a.inURL(r.Header.Get("Referer")) {
		return false
	}
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	return true
}

func (a *Auth) inURL(url string) bool {
	return urlquery.Redact(url, a.APIKeyQuery) != url
}

// logInstead writes the line of a request that conceal has kept out of the access log.
func (a *Auth) logInstead(r *http.Request, out *response, begun time.Time) {
	level := zap.InfoLevel
	if out.status >= http.StatusInternalServerError {
		level = zap.ErrorLevel
	}
	if c := a.logger.Check(level, "handled request"); c != nil {
		c.Write(
			a.loggable(r),
			zap.String("user_id", out.identity.Client),
			zap.Duration("duration", time.Since(begun)),
			zap.Int("status", out.status),
			zap.Stringer("reason", out.reason))
	}
}

func (a *Auth) loggable(r *http.Request) zap.Field {
	return zap.Object("request", a.shown.Request(caddyhttp.LoggableHTTPRequest{Request: r}))
}

// answerError answers with the server's error routes, with the request as the next handlers saw it. The server would
// take its own for that, and log it: it still has the token where its log shows URLs, and where a handler on the
// way here made a copy of the request, as `tracing` does. Error routes of a subroute in between, which only a
// configuration in JSON has, are passed over.
func (a *Auth) answerError(w http.ResponseWriter, r *http.Request, err error) error {
	status := statusOf(err)
	level := zapcore.DebugLevel
	server, _ := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	switch {
	case server != nil && server.Errors != nil && len(server.Errors.Routes) > 0:
		restore(r)
		last := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(status)
			return nil
		})
		routes := server.Errors.Routes.Compile(last)
		if again := routes.ServeHTTP(w, server.Errors.WithError(r, err)); again != nil {
			level, err = zapcore.ErrorLevel, errors.Join(err, again)
			w.WriteHeader(status)
		}
	default:
		if status >= http.StatusInternalServerError {
			level = zapcore.ErrorLevel
		}
		w.WriteHeader(status)
	}
	if c := a.logger.Check(level, "the request failed"); c != nil {
		c.Write(zap.Error(err), zap.Int("status", status), a.loggable(r))
	}
	return nil
}

// restore undoes what rewrites have done to a request, as the server does before its error routes.
func restore(r *http.Request) {
	saved, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	if !ok {
		return
	}
	r.Method, r.RemoteAddr, r.RequestURI = saved.Method, saved.RemoteAddr, saved.RequestURI
	if saved.URL != nil && r.URL != nil {
		*r.URL = *saved.URL
	}
}
