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

// maxUnits is the most that `units` takes for one request.
const maxUnits = 1_000_000_000

// counting is what a request counts for.
type counting struct {
	// session is held from the check to the end of the request, so that what is counted late finds its store open.
	session *app.Session
	request *http.Request
	entry   usage.Entry
	// counted are the scopes that this maps_auth, and those in front of it, have counted the request under for the
	// account of the identity.
	counted account.ScopeSet
	late    bool // how many units they are shows when the response begins
	charged bool // the next handlers have said how many units they are
}

// release ends the use of the store.
func (c *counting) release() {
	if c.session != nil {
		c.session.Release()
		c.session = nil
	}
}

// admit counts a request under those scopes under which no maps_auth in front of this one has for the same account.
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

// notAdmitted explains an error of Admit or Charge.
func (a *Auth) notAdmitted(err error) *refusal {
	over, ok := errors.AsType[*usage.Exceeded](err)
	if !ok {
		return a.unavailable(err.Error())
	}
	a.app.Metrics().CountQuotaRefusal(over.Quota.Scope)
	return &refusal{a.quotas.answer(over), beyond{over}, a.metrics.Quota, app.ReasonQuota}
}

// chargeConfigured sets the units that `units` names. Where it names none yet, the response may.
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

// configuredUnits returns the units that `units` names, 1 for what is no number of units. found is false where it names
// nothing.
func (a *Auth) configuredUnits(r *http.Request) (units int64, found bool) {
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	text := repl.ReplaceAll(a.Units, "")
	if text == "" {
		return 1, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n > maxUnits {
		a.logger.Debug("units are no whole number from 0 to 1000000000: counted as 1", zap.String("units", a.Units))
		return 1, true
	}
	return int64(n), true
}

// tally counts what is known when the response begins.
func (o *response) tally(status int) {
	if status >= http.StatusInternalServerError {
		o.entry.Failed()
	}
	if o.late {
		o.late = false
		units, _ := o.auth.configuredUnits(o.request)
		o.entry.Count(units)
	}
}

// Charge implements app.Pass: every maps_auth on the way counts the units, unless its configuration says where to
// find them.
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
