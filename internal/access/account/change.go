package account

import "slices"

// Change applies a change to a copy of a stored account, for a Store to write if changed is true. It keeps the id, the
// organization, the creation and the tokens of the account, and raises Generation when the account leaves ACTIVE.
func Change(stored Account, change func(*Account) (bool, error)) (after Account, changed bool, err error) {
	after = stored
	after.Scopes = slices.Clone(stored.Scopes)
	after.Quotas = slices.Clone(stored.Quotas)
	after.Restrictions.Origins = slices.Clone(stored.Restrictions.Origins)
	after.Restrictions.Networks = slices.Clone(stored.Restrictions.Networks)
	changed, err = change(&after)
	if err != nil || !changed {
		return stored, false, err
	}
	after.ID, after.OrganizationID = stored.ID, stored.OrganizationID
	after.CreatedBy, after.CreatedAt = stored.CreatedBy, stored.CreatedAt
	after.ClientHash, after.ServerHash = stored.ClientHash, stored.ServerHash
	after.ClientHint, after.ServerHint = stored.ClientHint, stored.ServerHint
	after.Generation = stored.Generation
	if stored.Status == StatusActive && after.Status != StatusActive {
		after.Generation++
	}
	return after, true, nil
}
