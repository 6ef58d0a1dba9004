package credential

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// refusal is a reason for which a token is not accepted. All of them match ErrInvalid; the texts are fixed, so that a
// log or a metric can use them as a label and no part of a token can get into one.
type refusal struct{ text string }

func (r refusal) Error() string        { return r.text }
func (r refusal) Is(target error) bool { return target == ErrInvalid }

// refusals are the texts of all that there are.
var refusals []string

// newRefusal is for variables of this package alone.
func newRefusal(text string) refusal {
	refusals = append(refusals, text)
	return refusal{text}
}

// Reasons returns all texts that Reason returns for refused tokens.
func Reasons() []string { return append(slices.Clone(refusals), ErrNoScope.Error()) }

// Reason returns why a token was refused, one of a few fixed texts, or "" for an error that is no refusal.
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
	refusedServer       = newRefusal("server token missing or of another account")
	refusedLocalUsers   = newRefusal("local user tokens are off")
	refusedNoOrg        = newRefusal("no organization in the token")
	refusedRequired     = newRefusal("required claim missing or of another value")
)

// inactive is the refusal for an account that is not ACTIVE.
func inactive(s account.Status) refusal {
	if s == account.StatusSuspended {
		return refusedSuspended
	}
	return refusedRevoked
}

// found is the error of a call of the store whose answer may be that there is no such thing.
func found(err error, missing refusal) error {
	switch {
	case err == nil:
		return nil
	case account.IsUnavailable(err):
		return unavailable(err)
	}
	return missing
}

func unavailable(err error) error { return fmt.Errorf("asking the account store: %w", err) }
