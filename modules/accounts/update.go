package accounts

import (
	"net/http"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
)

func (a *Accounts) update(c *call) error {
	memory := a.app.Body(c.r)
	defer memory.Release()
	var f fields
	if err := httpjson.ReadObject(c.r, httpjson.SmallBody, &memory, &f); err != nil {
		return err
	}
	if f == (fields{}) {
		return apierror.FailedValidation("body: has no field to change")
	}
	if err := f.check(); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	if f.IsAdmin != nil {
		if err := c.caller.mayMakeAdmin(*f.IsAdmin); err != nil {
			return err
		}
	}
	at := c.now()
	var changed []string // of the run that was committed
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
		return len(changed) > 0 || acc.Holds != before.Holds, nil
	})
	if err != nil {
		return err
	}
	a.recordUpdate(c, before, after, changed)
	httpjson.Write(c.w, http.StatusOK, body{after})
	return nil
}

// apply writes the fields of a body into an account and returns the names of those that had another value.
func (f *fields) apply(acc *account.Account) (changed []string) {
	if f.Platform != nil && *f.Platform != acc.Platform {
		acc.Platform = *f.Platform
		changed = append(changed, "platform")
	}
	if f.IsAdmin != nil && *f.IsAdmin != acc.IsAdmin {
		acc.IsAdmin = *f.IsAdmin
		changed = append(changed, "isAdmin")
	}
	if f.Description != nil && *f.Description != acc.Description {
		acc.Description = *f.Description
		changed = append(changed, "description")
	}
	if f.Scopes != nil && !slices.Equal(*f.Scopes, acc.Scopes) {
		acc.Scopes = *f.Scopes
		changed = append(changed, "scopes")
	}
	if f.Status != nil && *f.Status != acc.Status {
		acc.Status = *f.Status
		changed = append(changed, "status")
	}
	if f.Quotas != nil && !slices.Equal(*f.Quotas, acc.Quotas) {
		acc.Quotas = *f.Quotas
		changed = append(changed, "quotas")
	}
	if f.Restrictions != nil && !sameRestrictions(*f.Restrictions, acc.Restrictions) {
		acc.Restrictions = *f.Restrictions
		changed = append(changed, "restrictions")
	}
	return changed
}

func sameRestrictions(a, b account.Restrictions) bool {
	return slices.Equal(a.Origins, b.Origins) && slices.Equal(a.Networks, b.Networks)
}

// recordUpdate tells a change of the status from one of the other fields, since somebody may wait for just that.
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
