package access

import (
	"errors"
	"net/http"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// operator is the actor of what is done through Caddy's admin API.
const operator = "user:operator"

func init() {
	app.AddAdminRoute("/maps/organizations", app.AdminMethods{http.MethodGet: asOperator((*Accounts).organizations)})
	app.AddAdminRoute("/maps/accounts", app.AdminMethods{
		http.MethodGet: asOperator((*Accounts).listNamed), http.MethodPost: asOperator((*Accounts).createNamed),
	})
	app.AddAdminRoute("/maps/accounts/{id}", app.AdminMethods{
		http.MethodGet: asOperator((*Accounts).get), http.MethodPatch: asOperator((*Accounts).update),
		http.MethodDelete: asOperator((*Accounts).remove),
	})
}

// asOperator serves a request to the admin API as that of a user: of the organization of the account in the path, if
// there is one.
func asOperator(serve method) func(*app.App, http.ResponseWriter, *http.Request) error {
	return func(running *app.App, w http.ResponseWriter, r *http.Request) error {
		session, err := running.Session(r.Context())
		if err != nil {
			return err
		}
		defer session.Release()
		c := &call{w: w, r: r, session: session, caller: caller{actor: operator, user: true}, id: r.PathValue("id")}
		if len(c.id) > maxIDLength {
			return errNoAccount
		}
		if c.id != "" {
			var acc account.Account
			acc, err = session.Store.Account(r.Context(), c.id)
			c.caller.organization = acc.OrganizationID
		}
		if err == nil {
			err = serve(&Accounts{app: running, logger: running.Logger()}, c)
		}
		if errors.Is(err, account.ErrNotFound) {
			return errNoAccount
		}
		return err
	}
}

// organizations answers with the organizations that have accounts.
func (a *Accounts) organizations(c *call) error {
	page, err := parsePage(c.r.URL.RawQuery)
	if err != nil {
		return apierror.FailedValidation(err.Error())
	}
	found, err := c.session.Store.Organizations(c.r.Context(), page.After, page.Limit+1)
	if err != nil {
		return err
	}
	writePage(c.w, found, page.Limit, func(o *account.Organization) string { return o.Name })
	return nil
}

// listNamed is list for the organization that a parameter names.
func (a *Accounts) listNamed(c *call) error {
	given := c.r.URL.Query()["organization"] // list refuses a malformed query
	if len(given) > 1 {
		return apierror.FailedValidation("organization: appears more than once")
	}
	if len(given) == 1 {
		c.caller.organization = given[0]
	}
	if err := c.checkNamed(); err != nil {
		return err
	}
	return a.list(c)
}

// createNamed is create for the organization that the body names.
func (a *Accounts) createNamed(c *call) error {
	memory := a.app.Body(c.r)
	defer memory.Release()
	var f struct {
		Organization string `json:"organization"`
		fields
	}
	if err := request.ReadObject(c.r, request.SmallBody, &memory, &f); err != nil {
		return err
	}
	c.caller.organization = f.Organization
	if err := c.checkNamed(); err != nil {
		return err
	}
	return a.add(c, &f.fields)
}

// checkNamed checks the organization that a request names.
func (c *call) checkNamed() error {
	if c.caller.organization == "" {
		return apierror.FailedValidation("organization: missing")
	}
	if err := credential.CheckOrganization(c.caller.organization); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	return nil
}
