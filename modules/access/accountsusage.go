package access

import (
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
)

// usagePath takes the place of an account's id; ids begin with sa_.
const usagePath = "usage"

// usage answers with the usage of the organization's accounts, including deleted ones.
func (a *Accounts) usage(c *call) error {
	request, err := usageapi.Parse(c.r.URL.RawQuery, c.caller.organization, c.session.Store.Now())
	if err != nil {
		return apierror.FailedValidation(err.Error())
	}
	return request.Serve(c.w, c.r, c.session.Meter, c.session.Store)
}
