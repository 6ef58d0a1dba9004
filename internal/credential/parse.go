package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"

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
// which at that point nobody vouches for. Its errors are refusals, or what choose returned.
func parseSigned(token string, claims jwt.Claims, choose jwt.Keyfunc) error {
	if len(token) > maxTokenLen {
		return refusedTooLong
	}
	var chosen error
	_, err := parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		var key any
		if chosen = checkHeader(t); chosen == nil {
			key, chosen = choose(t)
		}
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

// checkHeader refuses headers that two readers could understand in two ways, and extensions that have to be understood
// (RFC 7515, section 4.1.11), of which this service knows none.
func checkHeader(t *jwt.Token) error {
	encoded, _, _ := strings.Cut(t.Raw, ".")
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || uniqueNames(raw) != nil {
		return refusedMalformed
	}
	if _, critical := t.Header["crit"]; critical {
		return refusedMalformed
	}
	return nil
}

func headerText(t *jwt.Token, name string) string {
	text, _ := t.Header[name].(string)
	return text
}

var errNames = errors.New("not a JSON object with distinct names")

// uniqueNames checks that data is a JSON object in which no object has a name twice.
func uniqueNames(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	// open has an entry for each open object (its names) and array (nil).
	var open []map[string]bool
	wantName := false
	for begun := false; ; begun = true {
		t, err := d.Token()
		if err == io.EOF && begun && len(open) == 0 {
			return nil
		}
		if err != nil || len(open) == 0 && (begun || t != json.Delim('{')) {
			return errNames
		}
		switch t {
		case json.Delim('{'):
			open, wantName = append(open, map[string]bool{}), true
			continue
		case json.Delim('['):
			open, wantName = append(open, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if wantName {
				names := open[len(open)-1]
				name := t.(string)
				if names[name] {
					return errNames
				}
				names[name], wantName = true, false
				continue
			}
		}
		// A value has ended: in an object, a name comes next.
		wantName = len(open) > 0 && open[len(open)-1] != nil
	}
}
