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
	object, err := httpjson.ReadObject(c.r, httpjson.SmallBody, &memory)
	if err != nil {
		return err
	}
	if object.Len() == 0 {
		return apierror.FailedValidation("body: has no field to change")
	}
	f, err := parseFields(object)
	if err != nil {
		return apierror.FailedValidation(err.Error())
	}
	if f.isAdmin != nil {
		if err := c.caller.mayMakeAdmin(*f.isAdmin); err != nil {
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
		if f.scopes != nil {
			if err := c.caller.mayGrant(f.scopes.Set(), acc.Scopes.Set()); err != nil {
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
		c.caller.hold(&before, acc, f.status != nil, f.scopes != nil)
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
	if f.platform != nil && *f.platform != acc.Platform {
		acc.Platform = *f.platform
		changed = append(changed, "platform")
	}
	if f.isAdmin != nil && *f.isAdmin != acc.IsAdmin {
		acc.IsAdmin = *f.isAdmin
		changed = append(changed, "isAdmin")
	}
	if f.description != nil && *f.description != acc.Description {
		acc.Description = *f.description
		changed = append(changed, "description")
	}
	if f.scopes != nil && !slices.Equal(*f.scopes, acc.Scopes) {
		acc.Scopes = *f.scopes
		changed = append(changed, "scopes")
	}
	if f.status != nil && *f.status != acc.Status {
		acc.Status = *f.status
		changed = append(changed, "status")
	}
	if f.quotas != nil && !slices.Equal(*f.quotas, acc.Quotas) {
		acc.Quotas = *f.quotas
		changed = append(changed, "quotas")
	}
	if f.restrictions != nil && !sameRestrictions(*f.restrictions, acc.Restrictions) {
		acc.Restrictions = *f.restrictions
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
