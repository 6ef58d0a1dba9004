package access

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// maxUnits is the largest value of `units` for one request.
const maxUnits = 1_000_000_000

// counting is what a request counts for.
type counting struct {
	// session is held until the end of the request, so that the store is open for what is counted late.
	session *app.Session
	request *http.Request
	entry   usage.Entry
	// counted are the scopes under which this or an outer maps_auth has counted the request for the identity's account.
	counted account.ScopeSet
	late    bool // the units are read from the response
	charged bool // a later handler has set the units
}

// release ends the use of the store.
func (c *counting) release() {
	if c.session != nil {
		c.session.Release()
		c.session = nil
	}
}

// admit counts the request for each scope that no outer maps_auth has counted for this account.
func (a *Auth) admit(r *http.Request, out *response) *refusal {
	scopes := a.scopes
	out.counted = scopes
	if out.outer != nil && out.outer.identity.Client == out.identity.Client {
		scopes &^= out.outer.counted
		out.counted |= out.outer.counted
	}
	if scopes == 0 {
		return nil
	}
	var err error
	out.entry, err = out.identity.Counter.Admit(r.Context(), scopes, out.identity.Limits, out.identity.Unix)
	if err != nil {
		return a.notAdmitted(err)
	}
	return a.chargeConfigured(out)
}

// notAdmitted is the refusal for an error of Admit or Charge.
func (a *Auth) notAdmitted(err error) *refusal {
	over, ok := errors.AsType[*usage.Exceeded](err)
	if !ok {
		return a.unavailable(err.Error())
	}
	a.app.Metrics().CountQuotaRefusal(over.Quota.Scope)
	return &refusal{a.quotas.answer(over), exceeded{over}, a.metrics.Quota, app.ReasonQuota}
}

// chargeConfigured sets the units that `units` yields. If it is still empty, it is read again from the response.
func (a *Auth) chargeConfigured(out *response) *refusal {
	if a.Units == "" {
		return nil
	}
	units, found := a.configuredUnits(out.request)
	if out.late = !found; out.late {
		return nil
	}
	if err := out.entry.Charge(units); err != nil {
		return a.notAdmitted(err)
	}
	return nil
}

// configuredUnits returns the value of `units`, or 1 if that is not a valid number. found is false if it is empty.
func (a *Auth) configuredUnits(r *http.Request) (units int64, found bool) {
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	text := repl.ReplaceAll(a.Units, "")
	if text == "" {
		return 1, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n > maxUnits {
		a.logger.Debug("units are not an integer from 0 to 1000000000; the request counts 1", zap.String("units", a.Units))
		return 1, true
	}
	return int64(n), true
}

// countResponse counts what is known once the response begins.
func (o *response) countResponse(status int) {
	if status >= http.StatusInternalServerError {
		o.entry.Failed()
	}
	if o.late {
		o.late = false
		units, _ := o.auth.configuredUnits(o.request)
		o.entry.Count(units)
	}
}

// Limit implements app.Pass.
func (o *response) Limit() (limit *app.RateLimit, account string) {
	return o.auth.Limit, o.identity.Client
}

// Charge implements app.Pass: every maps_auth that the request has passed counts the units, unless it has `units`.
func (o *response) Charge(units int64) error {
	if o.auth.Units == "" && !o.charged && o.session != nil {
		o.charged = true
		if err := o.entry.Charge(units); err != nil {
			why := o.auth.notAdmitted(err)
			o.auth.app.Metrics().Refused(app.AuthHandler, why.kind)
			o.auth.explain(o, why)
			return why.response
		}
	}
	if o.outer != nil {
		return o.outer.Charge(units)
	}
	return nil
}
