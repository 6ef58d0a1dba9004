package credential

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// findPublishable looks up a key that is not in the cache. A mistyped one is refused without reading the store.
func (a *Authority) findPublishable(ctx context.Context, key string) (*knownToken, error) {
	if _, ok := parseOpaque(publishablePrefix, key); !ok {
		return nil, refusedMalformed
	}
	stored, err := a.store.PublishableKey(ctx, key)
	if err := found(err, refusedUnknown); err != nil {
		return nil, err
	}
	return &knownToken{
		token: strings.Clone(key), expires: math.MaxInt64, revision: a.store.Revision(stored.Organization),
	}, nil
}

// identifyPublishable reads a key, its account and their rights from the store. A key works again when its account is
// ACTIVE again.
func (a *Authority) identifyPublishable(ctx context.Context, t *knownToken) (Identity, error) {
	key, err := a.store.PublishableKey(ctx, t.token)
	if err := found(err, refusedUnknown); err != nil {
		return Identity{}, err
	}
	acc, err := a.activeNow(ctx, key.Account)
	if err != nil {
		return Identity{}, err
	}
	id, err := a.rights(ctx, &acc)
	if err != nil {
		return Identity{}, err
	}
	origins, err := account.Restrictions{Origins: key.Origins}.Compile()
	if err != nil || origins == nil { // a key without origins must not be valid everywhere
		return Identity{}, unavailable(errors.New("a publishable key has settings of a newer version"))
	}
	id.PublishableKey, id.Admin = t.token, false
	id.Scopes &= key.Scopes.Set() & account.PublishableScopes.Set()
	id.Restrictions = origins.And(id.Restrictions)
	return id, nil
}
