package credential

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"
)

// maxTokenLen bounds the work on a token that is not known yet.
const maxTokenLen = 4096

// Types of the tokens that this service signs.
const (
	accessType = "at+jwt"
	userType   = "maps-user+jwt"
)

// parser decodes and checks signatures. The claims are checked by each kind of token for itself.
var parser = jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())

// parseSigned decodes a token into claims and checks its signature with the key that choose picks by header and claims,
// which are not to be trusted at that point. Its errors are refusals, or what choose returned.
func parseSigned(token string, claims jwt.Claims, choose jwt.Keyfunc) error {
	if len(token) > maxTokenLen {
		return refusedTooLong
	}
	var chosen error
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		// Extensions that have to be understood (RFC 7515, section 4.1.11). This service knows none.
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
