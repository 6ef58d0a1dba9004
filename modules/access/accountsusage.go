package access

import (
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
)

// usagePath stands where the id of an account would, which begins with sa_.
const usagePath = "usage"

// usage answers with what the accounts of the organization used, deleted ones too.
func (a *Accounts) usage(c *call) error {
	request, err := usageapi.Parse(c.r.URL.RawQuery, c.caller.organization, c.session.Store.Now())
	if err != nil {
		return apierror.FailedValidation(err.Error())
	}
	return request.Serve(c.w, c.r, c.session.Meter, c.session.Store)
}
