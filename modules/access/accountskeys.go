package access

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// keysPath is where the publishable keys of an account are, below its path.
const keysPath = "keys"

var errNoKey = apierror.NotFound("publishable key not found")

// keyFields are the fields of a new key's body.
type keyFields struct {
	Description string         `json:"description"`
	Scopes      account.Scopes `json:"scopes"` // nil if the body lacks them
	Origins     []string       `json:"origins"`
}

// check validates the values, with the scopes that accounts can have, except for whether the account has them.
func (f *keyFields) check(allowed account.ScopeSet) error {
	if err := checkDescription(f.Description); err != nil {
		return fmt.Errorf("description: %w", err)
	}
	if f.Scopes != nil {
		if err := f.Scopes.Check(allowed); err != nil {
			return fmt.Errorf("scopes: %w", err)
		}
	}
	switch {
	case f.Origins == nil:
		return errors.New("origins: missing")
	case len(f.Origins) == 0:
		return errors.New("origins: must not be empty")
	}
	_, err := account.Restrictions{Origins: f.Origins}.Compile()
	return err
}

// createKey adds a publishable key to an account.
func (a *Accounts) createKey(c *call) error {
	memory := a.app.Body(c.r)
	defer memory.Release()
	var f keyFields
	if err := request.ReadObject(c.r, request.SmallBody, &memory, &f); err != nil {
		return err
	}
	if err := f.check(a.app.AllowedScopes()); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	id, text := credential.NewPublishableKey(c.session.Store.Now())
	var owner account.Account
	made, err := c.session.Store.CreatePublishableKey(c.r.Context(), c.id, account.MaxPublishableKeys,
		func(acc account.Account) (account.PublishableKey, error) {
			owner = acc
			key := account.PublishableKey{
				ID: id, Key: text, Description: f.Description, Origins: f.Origins, CreatedBy: c.caller.actor, CreatedAt: c.now(),
			}
			if err := c.mayChangeKeys(&acc); err != nil {
				return key, err
			}
			if acc.Status.Final() {
				return key, apierror.InvalidTransition("a revoked account cannot get a key")
			}
			if err := key.Grant(f.Scopes, &acc); err != nil {
				return key, apierror.FailedValidation("scopes: " + err.Error())
			}
			return key, c.caller.mayGrant(key.Scopes.Set(), 0)
		})
	switch {
	case errors.Is(err, account.ErrLimit):
		return apierror.KeyLimit(fmt.Sprintf("the account has %d publishable keys already", account.MaxPublishableKeys))
	case err != nil:
		return err
	}
	a.record(c, owner, "updated", []string{keysPath})
	c.w.Header().Set("Location", collectionPath(c.r)+"/"+made.ID)
	request.WriteJSON(c.w, http.StatusCreated, body{made})
	return nil
}

// mayChangeKeys refuses callers that may not add and delete keys of an account.
func (c *call) mayChangeKeys(acc *account.Account) error {
	if acc.OrganizationID != c.caller.organization {
		return errNoAccount
	}
	return c.caller.mayChange(acc)
}

// keys answers with the publishable keys of an account.
func (a *Accounts) keys(c *call) error {
	acc, err := c.session.Store.Account(c.r.Context(), c.id)
	switch {
	case err != nil:
		return err
	case acc.OrganizationID != c.caller.organization:
		return errNoAccount
	}
	keys, err := c.session.Store.PublishableKeys(c.r.Context(), c.id)
	if err != nil {
		return err
	}
	if keys == nil {
		keys = []account.PublishableKey{}
	}
	request.WriteJSON(c.w, http.StatusOK, body{keys})
	return nil
}

// removeKey deletes a publishable key.
func (a *Accounts) removeKey(c *call) error {
	var owner account.Account
	err := c.session.Store.DeletePublishableKey(c.r.Context(), c.id, c.key, func(acc account.Account) error {
		if err := c.mayChangeKeys(&acc); err != nil {
			return err
		}
		owner = acc
		return nil
	})
	switch {
	case errors.Is(err, account.ErrNotFound) && owner.ID != "":
		return errNoKey
	case err != nil:
		return err
	}
	a.record(c, owner, "updated", []string{keysPath})
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
