package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/logging"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// WarnOfLogs makes the app warn at its start of logs that show these query parameters of a server's requests. ctx is
// that of the handler that reads them.
func (a *App) WarnOfLogs(ctx caddy.Context, server *caddyhttp.Server, parameters []string) {
	if len(parameters) == 0 {
		return
	}
	handled := slices.ContainsFunc(ctx.Modules(), func(module caddy.Module) bool {
		subroute, ok := module.(*caddyhttp.Subroute)
		return ok && subroute.Errors != nil
	})
	a.logChecks = append(a.logChecks, func() (unredacted []string) {
		var names []string
		if !handled { // errors that a subroute handles itself are not logged
			names = append(names, "http.log.error")
		}
		if logs := server.Logs; logs != nil {
			suffixes := slices.Concat(slices.Collect(maps.Values(logs.LoggerNames))...)
			if len(suffixes) == 0 || logs.DefaultLoggerName != "" {
				suffixes = append(suffixes, logs.DefaultLoggerName)
			}
			for _, name := range suffixes {
				names = append(names, strings.TrimSuffix("http.log.access."+name, "."))
			}
		}
		return slices.DeleteFunc(names, func(name string) bool {
			probe := logProbe{parameters: parameters}
			// The encoder of each log that accepts the logger's lines encodes the field. Nothing is written.
			a.ctx.Logger(namedModule(name)).With(zap.Object("probe", &probe))
			return !probe.unredacted
		})
	})
}

func (a *App) warnOfUnredactedLogs() {
	var unredacted []string
	for _, check := range a.logChecks {
		unredacted = append(unredacted, check()...)
	}
	slices.Sort(unredacted)
	if len(unredacted) > 0 {
		a.logger.Warn("these loggers show tokens in the query of URLs: add `format filter { "+
			"request maps_redact <parameter> }` to the log of each site with maps_auth, and to the global `log default`",
			zap.Strings("loggers", slices.Compact(unredacted)))
	}
}

// redactor is the log filter maps_redact. Its package imports this one.
type redactor interface {
	// Redacts reports whether the values of a query parameter are hidden.
	Redacts(parameter string) bool
}

// logProbe is a field that finds out whether an encoder lacks the filter for a query parameter.
type logProbe struct {
	parameters []string
	unredacted bool
}

func (p *logProbe) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	filters, _ := encoder.(logging.FilterEncoder)
	filter, _ := filters.Fields["request"].(redactor)
	p.unredacted = p.unredacted || filter == nil || slices.ContainsFunc(p.parameters, func(name string) bool {
		return !filter.Redacts(name)
	})
	return nil
}
