package credential

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// An opaque token is a prefix for its kind, a secret of 43 base62 characters (62^43 > 2^256), and a CRC-32 of both in 6
// more, so that a mistyped or truncated token is refused without reading the store.
const (
	clientPrefix  = "mpc_"
	serverPrefix  = "mps_"
	refreshPrefix = "mpr_"

	publishablePrefix = "mpk_"

	prefixLen   = 4
	secretLen   = 43
	checksumLen = 6
	opaqueLen   = prefixLen + secretLen + checksumLen
)

// base62 is in ASCII order, so that numbers of a fixed width sort as text.
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newOpaque makes an opaque token.
func newOpaque(prefix string) string {
	text := appendRandom(append(make([]byte, 0, opaqueLen), prefix...), secretLen)
	return string(appendChecksum(text))
}

// parseOpaque checks the form of a token and returns its hash.
func parseOpaque(prefix, token string) (h account.Hash, ok bool) {
	if len(token) != opaqueLen || token[:prefixLen] != prefix || strings.Trim(token[prefixLen:], base62) != "" {
		return h, false
	}
	if body := []byte(token[:opaqueLen-checksumLen]); string(appendChecksum(body)) != token {
		return h, false
	}
	return hashOf(token), true
}

func appendChecksum(body []byte) []byte {
	return appendNumber(body, uint64(crc32.ChecksumIEEE(body)), checksumLen)
}

func hashOf(token string) account.Hash { return sha256.Sum256([]byte(token)) }

// appendNumber appends a number with exactly width base62 digits.
func appendNumber(to []byte, n uint64, width int) []byte {
	at := len(to)
	to = append(to, make([]byte, width)...)
	for i := len(to) - 1; i >= at; i-- {
		to[i] = base62[n%62]
		n /= 62
	}
	return to
}

// appendRandom appends n uniformly distributed base62 characters. It skips bytes from 248 = 4·62 on.
func appendRandom(to []byte, n int) []byte {
	var pool [64]byte
	for {
		rand.Read(pool[:]) // never returns an error
		for _, b := range pool {
			if n == 0 {
				return to
			}
			if b < 248 {
				to = append(to, base62[b%62])
				n--
			}
		}
	}
}
