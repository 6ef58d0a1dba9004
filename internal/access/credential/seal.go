package credential

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// sealKey encrypts a key's private half. What the store says about the key is authenticated with it, so that write
// access to the store does not suffice to pass one key off as another.
func sealKey(encryptionKey []byte, k account.Key) account.Key {
	k.Private = sealer(encryptionKey).Seal(nil, nil, k.Private, sealedAbout(k))
	k.Sealed = true
	return k
}

// unsealKey returns a key's private half in clear.
func unsealKey(encryptionKey []byte, k account.Key) ([]byte, error) {
	switch {
	case !k.Sealed:
		return k.Private, nil
	case len(encryptionKey) == 0:
		return nil, errors.New("it is sealed in the store, and no key encryption key is configured")
	}
	clear, err := sealer(encryptionKey).Open(nil, nil, k.Private, sealedAbout(k))
	if err != nil {
		return nil, errors.New("the configured key encryption key does not open it: " +
			"it is not the one that sealed it, or the stored key is damaged")
	}
	return clear, nil
}

func sealedAbout(k account.Key) []byte {
	return fmt.Appendf(nil, "caddy-maps signing key\n%s\n%s\n%s", k.ID, k.Use, k.Algorithm)
}

// sealer draws a random nonce for each sealing and puts it in front.
func sealer(encryptionKey []byte) cipher.AEAD {
	block, err := aes.NewCipher(encryptionKey)
	if err != nil {
		panic(err) // Config.Validate checked the length, the only thing that can be wrong
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // AES blocks have the size that GCM needs
	}
	return aead
}
