package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/logging"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// WarnOfLogs has the start warn of logs that would show these query parameters of a server's requests.
func (a *App) WarnOfLogs(server *caddyhttp.Server, parameters []string) {
	if len(parameters) == 0 {
		return
	}
	a.logChecks = append(a.logChecks, func() (open []string) {
		names := []string{"http.log.error"}
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
			// Each log that takes the logger's lines has its encoder encode the field. Nothing is written.
			a.ctx.Logger(namedModule(name)).With(zap.Object("probe", &probe))
			return !probe.open
		})
	})
}

func (a *App) warnOfOpenLogs() {
	var open []string
	for _, check := range a.logChecks {
		open = append(open, check()...)
	}
	slices.Sort(open)
	if len(open) > 0 {
		a.logger.Warn("these loggers show the tokens that maps_auth takes from the query, in URLs: add `format filter { "+
			"request maps_redact <parameter> }` to the log of each site with maps_auth, and to the global `log default`",
			zap.Strings("loggers", slices.Compact(open)))
	}
}

// redactor is the log filter maps_redact. Its package imports this one.
type redactor interface {
	// Redacts reports whether the values of a query parameter are hidden.
	Redacts(parameter string) bool
}

// logProbe finds out whether an encoder lacks the filter for a query parameter.
type logProbe struct {
	parameters []string
	open       bool
}

func (p *logProbe) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	filters, _ := encoder.(logging.FilterEncoder)
	filter, _ := filters.Fields["request"].(redactor)
	p.open = p.open || filter == nil || slices.ContainsFunc(p.parameters, func(name string) bool {
		return !filter.Redacts(name)
	})
	return nil
}
