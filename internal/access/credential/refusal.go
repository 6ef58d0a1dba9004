package credential

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// refusal is a reason for refusing a token. All refusals match ErrInvalid. Their texts are fixed, so that they can be
// labels of metrics and never contain a part of a token.
type refusal struct{ text string }

func (r refusal) Error() string        { return r.text }
func (r refusal) Is(target error) bool { return target == ErrInvalid }

// refusals are the texts of all refusals.
var refusals []string

// newRefusal is only for variables of this package.
func newRefusal(text string) refusal {
	refusals = append(refusals, text)
	return refusal{text}
}

// Reasons returns all texts that Reason can return.
func Reasons() []string { return append(slices.Clone(refusals), ErrNoScope.Error()) }

// Reason returns the fixed text for why a token was refused, or "" for any other error.
func Reason(err error) string {
	if why, ok := errors.AsType[refusal](err); ok {
		return why.text
	}
	if errors.Is(err, ErrNoScope) {
		return ErrNoScope.Error()
	}
	return ""
}

var (
	refusedMalformed    = newRefusal("malformed")
	refusedTooLong      = newRefusal("longer than 4 KiB")
	refusedType         = newRefusal("wrong type of token")
	refusedIssuer       = newRefusal("unknown issuer")
	refusedAudience     = newRefusal("wrong audience")
	refusedKey          = newRefusal("unknown key")
	refusedAlgorithm    = newRefusal("algorithm is not the key's")
	refusedSignature    = newRefusal("bad signature")
	refusedClaims       = newRefusal("claims missing or of the wrong form")
	refusedExpired      = newRefusal("expired")
	refusedNotYet       = newRefusal("not valid yet")
	refusedLife         = newRefusal("lives longer than tokens of its kind")
	refusedGrant        = newRefusal("grant ended")
	refusedSuspended    = newRefusal("account suspended")
	refusedRevoked      = newRefusal("account revoked or deleted")
	refusedGeneration   = newRefusal("account left ACTIVE after the token was made")
	refusedUnknown      = newRefusal("unknown token")
	refusedOrganization = newRefusal("accounts of two organizations")
	refusedHolder       = newRefusal("client or server token missing or of another account")
	refusedLocalUsers   = newRefusal("local user tokens are off")
	refusedNoOrg        = newRefusal("no organization in the token")
	refusedRequired     = newRefusal("required claim missing or of another value")
)

// inactive returns the refusal for an account that is not ACTIVE.
func inactive(s account.Status) refusal {
	if s == account.StatusSuspended {
		return refusedSuspended
	}
	return refusedRevoked
}

// found returns the error for a call of the store: missing if it found nothing.
func found(err error, missing refusal) error {
	switch {
	case err == nil:
		return nil
	case account.IsUnavailable(err):
		return unavailable(err)
	}
	return missing
}

func unavailable(err error) error { return fmt.Errorf("reading the store: %w", err) }
