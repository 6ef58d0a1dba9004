package app

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/mapsedge/caddy-maps/modules/options"
)

const keyEncryptionKeyLength = 32 // AES-256

// onePlaceholder matches a value that consists of a single placeholder for a secret kept elsewhere.
var onePlaceholder = regexp.MustCompile(`^\{(file|env)\.[^{}]+\}$`)

var errLiteralKey = errors.New("a key written into the configuration is refused, because Caddy shows and saves its " +
	"configuration; use {file./path/to/key} or {env.NAME}")

func refuseLiteralKey(raw string) error {
	if raw != "" && !onePlaceholder.MatchString(raw) {
		return errLiteralKey
	}
	return nil
}

// readKeyEncryptionKey returns the key that a placeholder yields, or nil without a placeholder. Errors never contain
// the key.
func readKeyEncryptionKey(raw string) ([]byte, error) {
	if raw == "" {
		return nil, nil
	}
	text, err := options.Replace(raw)
	if err != nil {
		return nil, err // names only the placeholder
	}
	text = strings.TrimSpace(text)
	if key, err := hex.DecodeString(text); err == nil && len(key) == keyEncryptionKeyLength {
		return key, nil
	}
	unpadded := strings.TrimRight(text, "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if key, err := encoding.DecodeString(unpadded); err == nil {
			if len(key) == keyEncryptionKeyLength {
				return key, nil
			}
			return nil, fmt.Errorf("has %d bytes, but AES-256 needs %d", len(key), keyEncryptionKeyLength)
		}
	}
	return nil, fmt.Errorf("must be %d bytes in base64 or hexadecimal", keyEncryptionKeyLength)
}
