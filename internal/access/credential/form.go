package credential

import (
	"encoding/base64"
	"encoding/json"
	"strings"
)

// Kind is a kind of tokens, as the form of a token shows it.
type Kind uint8

// The kinds of tokens.
const (
	KindClient Kind = iota
	KindServer
	KindRefresh
	KindPublishable // a key for pages
	KindAccess
	KindUser // of this service; one of another issuer is a JWT of any other type
)

const (
	kindJWT  = KindUser + 1
	kindNone = kindJWT + 1 // not a token
)

var kindNames = [...]string{
	KindClient: "a client token", KindServer: "a server token", KindRefresh: "a refresh token",
	KindPublishable: "a publishable key", KindAccess: "an access token", KindUser: "a user token",
	kindJWT: "a JWT of another type", kindNone: "not a token",
}

// Hint returns what the form of a refused token reveals where one of a kind belongs, or "" if its form is right. It
// depends only on the token's text, so it does not tell whether the token is known, expired or revoked. The result
// contains nothing of the token, and neither quotes nor backslashes.
func Hint(token string, wanted Kind) string {
	const damaged = "truncated or mistyped"
	kind, whole := formOf(token)
	fits := kind == wanted || wanted == KindAccess && kind == KindPublishable ||
		wanted == KindUser && (kind == KindAccess || kind == kindJWT) // other issuers choose the type
	switch {
	case fits && whole:
		return ""
	case fits, kind == kindJWT && !whole:
		return "the token is " + damaged
	case whole, kind == kindNone:
		return "this is " + kindNames[kind] + "; " + kindNames[wanted] + " belongs here"
	}
	return "this is " + kindNames[kind] + ", but " + damaged + "; " + kindNames[wanted] + " belongs here"
}

// formOf returns the kind that a token's form shows, and whether the form is complete.
func formOf(token string) (kind Kind, whole bool) {
	for kind, prefix := range [...]string{KindClient: clientPrefix, KindServer: serverPrefix, KindRefresh: refreshPrefix,
		KindPublishable: publishablePrefix} {
		if strings.HasPrefix(token, prefix) {
			_, whole = parseOpaque(prefix, token)
			return Kind(kind), whole
		}
	}
	// A JWT has three parts. Its first one is a JSON object, which begins with {".
	header, rest, _ := strings.Cut(token, ".")
	_, signature, signed := strings.Cut(rest, ".")
	if !strings.HasPrefix(header, "eyJ") || strings.Contains(signature, ".") || len(token) > maxTokenLen {
		return kindNone, false
	}
	var fields struct{ Typ, Alg string }
	text, err := base64.RawURLEncoding.DecodeString(header)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	switch {
	case err != nil:
		return kindJWT, false
	case fields.Typ == accessType:
		kind = KindAccess
	case fields.Typ == userType:
		kind = KindUser
	default:
		kind = kindJWT
	}
	// Signatures of the algorithms that this service signs with have 64 bytes.
	fixed := fields.Alg == "EdDSA" || fields.Alg == "ES256"
	return kind, signed && signature != "" && (!fixed || len(signature) == base64.RawURLEncoding.EncodedLen(64))
}
