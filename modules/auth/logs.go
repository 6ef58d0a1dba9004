package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/logging"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Caddy's server logs each request as it came: it makes its copy before any handler runs. Only the filter of a log's
// format can take the token out of that.

// openLogs returns the names of the loggers of this handler's requests that write URLs as they are.
func (a *Auth) openLogs(ctx caddy.Context) (open []string) {
	server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || a.APIKeyQuery == "" {
		return nil
	}
	for _, name := range loggers(server, hostsOf(server.Routes, a)) {
		if !hidesParameter(ctx, name, a.APIKeyQuery) {
			open = append(open, name)
		}
	}
	return open
}

// hostsOf returns the names of the sites in which a handler stands; nil if it may be any.
func hostsOf(routes caddyhttp.RouteList, handler caddyhttp.MiddlewareHandler) (hosts []string) {
	for _, route := range routes {
		if !holds(route.Handlers, handler) {
			continue
		}
		own := hostsOfRoute(route)
		if len(own) == 0 {
			return nil
		}
		hosts = append(hosts, own...)
	}
	return hosts
}

// hostsOfRoute returns the hosts that a route is for; nil if it may be any.
func hostsOfRoute(route caddyhttp.Route) (hosts []string) {
	for _, set := range route.MatcherSets { // one of them has to match
		at := slices.IndexFunc(set, func(matcher any) bool { _, ok := matcher.(*caddyhttp.MatchHost); return ok })
		if at < 0 {
			return nil
		}
		hosts = append(hosts, *set[at].(*caddyhttp.MatchHost)...)
	}
	return hosts
}

// meet reports whether a request may be for one of both lists of hosts; an empty one stands for any.
func meet(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool {
			return certmagic.MatchWildcard(x, y) || certmagic.MatchWildcard(y, x)
		})
	})
}

func holds(handlers []caddyhttp.MiddlewareHandler, handler caddyhttp.MiddlewareHandler) bool {
	return slices.ContainsFunc(handlers, func(h caddyhttp.MiddlewareHandler) bool {
		if subroute, ok := h.(*caddyhttp.Subroute); ok {
			return slices.ContainsFunc(subroute.Routes, func(r caddyhttp.Route) bool { return holds(r.Handlers, handler) })
		}
		return h == handler
	})
}

// loggers returns the names of the loggers to which a server gives the requests for some hosts, or for any: those of
// its errors and, where it has one for them, those of its access log.
func loggers(server *caddyhttp.Server, hosts []string) (names []string) {
	add := func(access bool, suffixes ...string) {
		for _, suffix := range suffixes {
			if suffix != "" {
				suffix = "." + suffix
			}
			names = append(names, "http.log.error"+suffix)
			if access {
				names = append(names, "http.log.access"+suffix)
			}
		}
	}
	logs := server.Logs
	if logs == nil {
		add(false, "")
		return names
	}
	if len(hosts) == 0 {
		add(true, logs.DefaultLoggerName)
		for _, own := range logs.LoggerNames {
			add(true, own...)
		}
	}
	for _, host := range hosts {
		matches := func(pattern string) bool { return certmagic.MatchWildcard(host, pattern) }
		mapped := false
		for pattern, own := range logs.LoggerNames {
			if matches(pattern) {
				add(true, own...)
				mapped = true
			}
		}
		if !mapped {
			add(!logs.SkipUnmappedHosts && !slices.ContainsFunc(logs.SkipHosts, matches), logs.DefaultLoggerName)
		}
	}
	names = append(names, renamed(server, hosts)...)
	slices.Sort(names)
	return slices.Compact(names)
}

// renamed returns the names of the loggers to which the directive log_name may give requests for some hosts, or for
// any, in place of those that the server has for them.
func renamed(server *caddyhttp.Server, hosts []string) (names []string) {
	for _, route := range server.Routes {
		if meet(hosts, hostsOfRoute(route)) {
			names = appendRenamed(names, route)
		}
	}
	for _, route := range server.NamedRoutes {
		names = appendRenamed(names, *route)
	}
	return names
}

func appendRenamed(names []string, route caddyhttp.Route) []string {
	for _, handler := range route.Handlers {
		switch h := handler.(type) {
		case *caddyhttp.Subroute:
			for _, inner := range h.Routes {
				names = appendRenamed(names, inner)
			}
		case *caddyhttp.VarsMiddleware:
			own, _ := (*h)[caddyhttp.AccessLoggerNameVarKey].([]any)
			for _, name := range own {
				suffix := ""
				if name, _ := name.(string); name != "" {
					suffix = "." + name
				}
				names = append(names, "http.log.access"+suffix, "http.log.error"+suffix)
			}
		}
	}
	return names
}

// namedLogger lets Caddy choose the logs that take what a logger of this name writes.
type namedLogger string

// CaddyModule returns a module of the logger's name.
func (n namedLogger) CaddyModule() caddy.ModuleInfo { return caddy.ModuleInfo{ID: caddy.ModuleID(n)} }

// hidesParameter reports whether no log that takes a logger's lines writes the value of a query parameter. Nothing is
// written to find out.
func hidesParameter(ctx caddy.Context, logger, parameter string) bool {
	core := ctx.Logger(namedLogger(logger)).Core()
	if !core.Enabled(zapcore.ErrorLevel) {
		return true
	}
	p := probe{parameter: parameter}
	core.With([]zap.Field{zap.Object("maps_probe", &p)}) // each log has its encoder encode the field
	return !p.shows
}

// probe is encoded in place of a request, and finds out what the encoder's filters would leave of one.
type probe struct {
	parameter string
	shows     bool
}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (p *probe) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	filter, filters := encoder.(logging.FilterEncoder)
	if !filters || filter.Fields == nil {
		p.shows = true
		return nil
	}
	const secret = "MAPS-PROBE"
	uri := "/?" + url.QueryEscape(p.parameter) + "=" + secret
	var field zap.Field
	if whole, has := filter.Fields["request"]; has {
		request := caddyhttp.LoggableHTTPRequest{Request: &http.Request{RequestURI: uri}}
		field = whole.Filter(zap.Object("request", request))
	} else if field = zap.String("uri", uri); filter.Fields["request>uri"] != nil {
		field = filter.Fields["request>uri"].Filter(field)
	}
	written := zapcore.NewMapObjectEncoder()
	field.AddTo(written)
	if strings.Contains(fmt.Sprint(written.Fields), secret) {
		p.shows = true
	}
	return nil
}
