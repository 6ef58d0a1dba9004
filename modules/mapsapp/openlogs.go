package mapsapp

import (
	"slices"

	"go.uber.org/zap"
)

// CheckLogs registers a function of a handler, to be called when the app starts and everything is provisioned. It
// returns the names of the loggers that would write the handler's tokens in clear, which the operator is warned of.
func (a *App) CheckLogs(open func() []string) { a.logChecks = append(a.logChecks, open) }

func (a *App) warnOfOpenLogs() {
	var names []string
	for _, open := range a.logChecks {
		names = append(names, open()...)
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	a.logger.Warn("these loggers write URLs as they are, with the tokens that api_key_query takes from them: "+
		"requests that have one in their URL are left out of access logs, and logged by http.handlers.maps_auth "+
		"instead; add `format filter { request maps_redact <parameter> }` to the log of the site, and to "+
		"`log default` in the global options", zap.Strings("loggers", slices.Compact(names)))
}
