package mapsapp

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

const keyEncryptionKeyLength = 32 // AES-256

// onePlaceholder is a value that is nothing but a placeholder whose secret stands elsewhere.
var onePlaceholder = regexp.MustCompile(`^\{(file|env)\.[^{}]+\}$`)

var errLiteralKey = errors.New("a key written into the configuration is refused, because Caddy shows and saves its " +
	"configuration; use {file./path/to/key} or {env.NAME}")

// someKey stands in for keys.
var someKey = strings.Repeat("00", keyEncryptionKeyLength)

// readKeyEncryptionKey returns the key behind a placeholder; nil if there is none. Errors never hold the key.
func readKeyEncryptionKey(raw string, resolve resolver) ([]byte, error) {
	if raw == "" {
		return nil, nil
	}
	if !onePlaceholder.MatchString(raw) {
		return nil, errLiteralKey
	}
	text, err := resolve(raw, someKey)
	if err != nil {
		return nil, err // names the placeholder alone
	}
	return decodeKey(strings.TrimSpace(text))
}

func decodeKey(text string) ([]byte, error) {
	if len(text) == hex.EncodedLen(keyEncryptionKeyLength) {
		if key, err := hex.DecodeString(text); err == nil {
			return key, nil
		}
	}
	unpadded := strings.TrimRight(text, "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if key, err := encoding.DecodeString(unpadded); err == nil {
			if len(key) == keyEncryptionKeyLength {
				return key, nil
			}
			return nil, fmt.Errorf("holds %d bytes where AES-256 takes %d", len(key), keyEncryptionKeyLength)
		}
	}
	return nil, fmt.Errorf("must be %d bytes in base64 or hexadecimal", keyEncryptionKeyLength)
}
