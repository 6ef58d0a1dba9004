package credential

import (
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Ids are a prefix, nanoseconds since 1970 in 11 base62 digits (until the year 3600), and 11 random digits.
const (
	accountPrefix = "sa_"
	grantPrefix   = "gr_"
	keyPrefix     = "pk_"
	idTimeDigits  = 11
	idRandomChars = 11
)

// NewAccountID makes an id (sa_…) that sorts by time of creation.
func NewAccountID(now time.Time) string { return newID(accountPrefix, now) }

// IsAccountID reports whether a text has the form of an account's id.
func IsAccountID(text string) bool {
	rest, ok := strings.CutPrefix(text, accountPrefix)
	return ok && len(rest) == idTimeDigits+idRandomChars && strings.Trim(rest, base62) == ""
}

func newID(prefix string, now time.Time) string {
	text := append(make([]byte, 0, len(prefix)+idTimeDigits+idRandomChars), prefix...)
	return string(appendRandom(appendNumber(text, uint64(max(now.UnixNano(), 0)), idTimeDigits), idRandomChars))
}

// newTokenID makes a jti.
func newTokenID() string { return string(appendRandom(make([]byte, 0, 22), 22)) }

// NewAccountTokens makes an account's two long-lived tokens, and sets the account's hashes and hints.
func NewAccountTokens(acc *account.Account) (client, server string, err error) {
	client, server = newOpaque(clientPrefix), newOpaque(serverPrefix)
	acc.ClientHash, acc.ServerHash = hashOf(client), hashOf(server)
	acc.ClientHint, acc.ServerHint = client[opaqueLen-hintLen:], server[opaqueLen-hintLen:]
	return client, server, nil
}

// NewPublishableKey makes the id (pk_…) and the text (mpk_…) of a publishable key.
func NewPublishableKey(now time.Time) (id, key string) {
	return newID(keyPrefix, now), newOpaque(publishablePrefix)
}

// hintLen is the number of characters at the end of a token that its account shows. They are part of the checksum.
const hintLen = 4
