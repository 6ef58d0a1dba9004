package credential

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"
)

// maxTokenLen is the maximum length of a token. It bounds the work for unknown tokens.
const maxTokenLen = 4096

// The typ headers of tokens that this service signs.
const (
	accessType = "at+jwt"
	userType   = "maps-user+jwt"
)

// parser decodes tokens and verifies signatures. Claims are checked separately for each kind of token.
var parser = jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())

// parseSigned decodes a token into claims and verifies its signature. choose returns the key for a header and claims
// that are not verified yet. The error is a refusal, or that of choose.
func parseSigned(token string, claims jwt.Claims, choose jwt.Keyfunc) error {
	if len(token) > maxTokenLen {
		return refusedTooLong
	}
	var chosen error
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		// Critical extensions must be supported (RFC 7515, section 4.1.11). This service supports none.
		if _, critical := t.Header["crit"]; critical {
			chosen = refusedMalformed
			return nil, chosen
		}
		var key any
		key, chosen = choose(t)
		return key, chosen
	})
	switch {
	case err == nil:
		return nil
	case chosen != nil:
		return chosen
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return refusedSignature
	case errors.Is(err, jwt.ErrTokenUnverifiable):
		return refusedAlgorithm
	}
	return refusedMalformed
}

func headerText(t *jwt.Token, name string) string {
	text, _ := t.Header[name].(string)
	return text
}
