package access

import (
	"net/http"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

func (a *Accounts) update(c *call) error {
	memory := a.app.Body(c.r)
	defer memory.Release()
	var f fields
	if err := request.ReadObject(c.r, request.SmallBody, &memory, &f); err != nil {
		return err
	}
	if f == (fields{}) {
		return apierror.FailedValidation("body: has no field to change")
	}
	if err := f.check(a.app.AllowedScopes()); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	if f.IsAdmin != nil {
		if err := c.caller.mayMakeAdmin(*f.IsAdmin); err != nil {
			return err
		}
	}
	at := c.now()
	var changed []string // by the attempt that was committed
	before, after, err := c.session.Store.UpdateAccount(c.r.Context(), c.id, func(acc *account.Account) (bool, error) {
		if acc.OrganizationID != c.caller.organization {
			return false, errNoAccount
		}
		if err := c.caller.mayChange(acc); err != nil {
			return false, err
		}
		if f.Scopes != nil {
			if err := c.caller.mayGrant(f.Scopes.Set(), acc.Scopes.Set()); err != nil {
				return false, err
			}
		}
		before := *acc
		changed = f.apply(acc)
		if before.Status.Final() {
			if len(changed) == 0 {
				return false, nil
			}
			return false, apierror.InvalidTransition("a revoked account cannot be changed")
		}
		if err := c.caller.mayUndo(&before, acc); err != nil {
			return false, err
		}
		c.caller.hold(&before, acc, f.Status != nil, f.Scopes != nil)
		if len(changed) > 0 {
			acc.UpdatedAt = at
		}
		return len(changed) > 0 || !acc.Holds.Equal(before.Holds), nil
	})
	if err != nil {
		return err
	}
	a.recordUpdate(c, before, after, changed)
	request.WriteJSON(c.w, http.StatusOK, body{after})
	return nil
}

// apply sets the body's fields in an account and returns the names of those that changed.
func (f *fields) apply(acc *account.Account) (changed []string) {
	set(&changed, "platform", &acc.Platform, f.Platform, equal)
	set(&changed, "isAdmin", &acc.IsAdmin, f.IsAdmin, equal)
	set(&changed, "description", &acc.Description, f.Description, equal)
	set(&changed, "scopes", &acc.Scopes, f.Scopes, slices.Equal)
	set(&changed, "status", &acc.Status, f.Status, equal)
	set(&changed, "quotas", &acc.Quotas, f.Quotas, slices.Equal)
	set(&changed, "restrictions", &acc.Restrictions, f.Restrictions, sameRestrictions)
	return changed
}

// set changes a field if the body has another value.
func set[T any](changed *[]string, name string, field, to *T, same func(a, b T) bool) {
	if to != nil && !same(*field, *to) {
		*field = *to
		*changed = append(*changed, name)
	}
}

func equal[T comparable](a, b T) bool { return a == b }

func sameRestrictions(a, b account.Restrictions) bool {
	return slices.Equal(a.Origins, b.Origins) && slices.Equal(a.Networks, b.Networks)
}

// recordUpdate records a change of the status apart from other changes, because event handlers may only need that.
func (a *Accounts) recordUpdate(c *call, before, after account.Account, changed []string) {
	others := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return name == "status" })
	if len(others) > 0 {
		a.record(c, after, "updated", others)
	}
	if before.Status == after.Status {
		return
	}
	kind := map[account.Status]string{
		account.StatusActive: "activated", account.StatusSuspended: "suspended", account.StatusRevoked: "revoked",
	}[after.Status]
	a.record(c, after, kind, []string{"status"})
}
