package credential

import (
	"errors"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// refusal is a reason for which a token is not accepted. All of them match ErrInvalid; the texts are fixed, so that a log
// or a metric can use them as a label and no part of a token can get into one.
type refusal string

func (r refusal) Error() string        { return string(r) }
func (r refusal) Is(target error) bool { return target == ErrInvalid }

// Reason returns why a token was refused, one of a few fixed texts, or "" for an error that is no refusal.
func Reason(err error) string {
	if why, ok := errors.AsType[refusal](err); ok {
		return string(why)
	}
	if errors.Is(err, ErrNoScope) {
		return ErrNoScope.Error()
	}
	return ""
}

const (
	refusedMalformed    = refusal("malformed")
	refusedTooLong      = refusal("longer than 4 KiB")
	refusedType         = refusal("wrong type of token")
	refusedIssuer       = refusal("unknown issuer")
	refusedAudience     = refusal("wrong audience")
	refusedKey          = refusal("unknown key")
	refusedAlgorithm    = refusal("algorithm is not the key's")
	refusedSignature    = refusal("bad signature")
	refusedClaims       = refusal("claims missing or of the wrong form")
	refusedExpired      = refusal("expired")
	refusedNotYet       = refusal("not valid yet")
	refusedGrant        = refusal("grant ended")
	refusedSuspended    = refusal("account suspended")
	refusedRevoked      = refusal("account revoked or deleted")
	refusedGeneration   = refusal("account left ACTIVE after the token was made")
	refusedUnknown      = refusal("unknown token")
	refusedOrganization = refusal("accounts of two organizations")
	refusedServer       = refusal("server token missing or of another account")
	refusedLocalUsers   = refusal("local user tokens are off")
	refusedNoOrg        = refusal("no organization in the token")
	refusedRequired     = refusal("required claim missing or of another value")
)

// inactive is the refusal for an account that is not ACTIVE.
func inactive(s account.Status) refusal {
	if s == account.StatusSuspended {
		return refusedSuspended
	}
	return refusedRevoked
}

// errDoubt: a change of the account failed half-way, and the store could not yet say how it ended.
var errDoubt = errors.New("the account's state is not known")

func unavailable(err error) error { return fmt.Errorf("asking the account store: %w", err) }
