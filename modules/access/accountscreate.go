package access

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// created is an account with its two tokens, which are only shown once.
type created struct {
	account.Account
	ClientToken string `json:"clientToken"`
	ServerToken string `json:"serverToken"`
}

func (a *Accounts) create(c *call) error {
	memory := a.app.Body(c.r)
	defer memory.Release()
	var f fields
	if err := request.ReadObject(c.r, request.SmallBody, &memory, &f); err != nil {
		return err
	}
	return a.add(c, &f)
}

// add creates an account with the fields of a body.
func (a *Accounts) add(c *call, f *fields) error {
	if err := cmp.Or(f.check(a.app.AllowedScopes()), f.complete()); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	at := c.now()
	acc := account.Account{
		ID: credential.NewAccountID(c.session.Store.Now()), OrganizationID: c.caller.organization, CreatedBy: c.caller.actor,
		Status: account.StatusActive, CreatedAt: at, UpdatedAt: at,
	}
	f.apply(&acc)
	acc.Holds.Suspended = c.caller.user && acc.Status == account.StatusSuspended
	if err := c.caller.mayMakeAdmin(acc.IsAdmin); err != nil {
		return err
	}
	if err := c.caller.mayGrant(acc.Scopes.Set(), 0); err != nil {
		return err
	}
	client, server, err := credential.NewAccountTokens(&acc)
	if err != nil {
		return err
	}
	err = c.session.Store.CreateAccount(c.r.Context(), acc, a.app.AccountLimit())
	switch {
	case errors.Is(err, account.ErrLimit):
		return apierror.AccountLimit(fmt.Sprintf("the organization has %d service accounts already", a.app.AccountLimit()))
	case err != nil:
		return err
	}
	a.record(c, acc, "created", nil)
	c.w.Header().Set("Location", collectionPath(c.r)+"/"+acc.ID)
	request.WriteJSON(c.w, http.StatusCreated, body{created{acc, client, server}})
	return nil
}

// complete checks what a new account must have.
func (f *fields) complete() error {
	switch {
	case f.Scopes == nil:
		return errors.New("scopes: missing")
	case f.Status != nil && f.Status.Final():
		return errors.New("status: a new account is ACTIVE or SUSPENDED")
	}
	return nil
}

// collectionPath is the path to which the client sent the request, before any handler stripped a prefix, without a
// slash at its end.
func collectionPath(r *http.Request) string {
	path := r.URL.EscapedPath()
	if saved, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		path = saved.URL.EscapedPath()
	}
	path = strings.Trim(path, "/")
	if path == "" {
		return ""
	}
	return "/" + path // exactly one slash: two would begin a host name
}
