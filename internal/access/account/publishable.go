package account

import (
	"fmt"
	"time"
)

// PublishableKey lets web pages use some scopes of an account. It is no secret: pages contain it, and only requests
// from their origins may use it.
type PublishableKey struct {
	ID           string    `json:"id"` // pk_…, sorts by time of creation
	Organization string    `json:"-"`
	Account      string    `json:"-"`   // its id
	Key          string    `json:"key"` // mpk_…
	Description  string    `json:"description"`
	Scopes       Scopes    `json:"scopes"`  // some of PublishableScopes; the key has those that its account has too
	Origins      []string  `json:"origins"` // as in Restrictions; never empty
	CreatedBy    string    `json:"createdBy"`
	CreatedAt    time.Time `json:"createdAt"` // UTC
}

// PublishableScopes are the scopes that a publishable key can have.
var PublishableScopes = Scopes{ScopeTile, ScopeGeocoding, ScopeReverseGeocoding, ScopeDirection}

// MaxPublishableKeys is the maximum number of publishable keys of an account.
const MaxPublishableKeys = 100

// Grant sets the scopes of a new key; nil for all publishable ones of its account. The error names the scope that the
// account lacks.
func (k *PublishableKey) Grant(scopes Scopes, acc *Account) error {
	k.Scopes = nil
	for _, scope := range PublishableScopes {
		if acc.Scopes.Set().Has(scope.Set()) {
			k.Scopes = append(k.Scopes, scope)
		}
	}
	if scopes == nil {
		if k.Scopes == nil {
			return fmt.Errorf("the account has none of [%v]", PublishableScopes)
		}
		return nil
	}
	for _, scope := range scopes {
		switch {
		case !PublishableScopes.Set().Has(scope.Set()):
			return fmt.Errorf("%s is none of [%v]", scope, PublishableScopes)
		case !k.Scopes.Set().Has(scope.Set()):
			return fmt.Errorf("the account lacks %s", scope)
		}
	}
	k.Scopes = scopes
	return nil
}
