package credential

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// sealKey encrypts the private half of a key. It authenticates the id, the use and the algorithm as well, so that one
// key cannot be replaced by another with write access to the store.
func sealKey(encryptionKey []byte, k account.Key) account.Key {
	k.Private = sealer(encryptionKey).Seal(nil, nil, k.Private, sealedAbout(k))
	k.Sealed = true
	return k
}

// unsealKey returns the private half of a key in clear.
func unsealKey(encryptionKey []byte, k account.Key) ([]byte, error) {
	switch {
	case !k.Sealed:
		return k.Private, nil
	case len(encryptionKey) == 0:
		return nil, errors.New("it is encrypted in the store, and no key encryption key is configured")
	}
	clear, err := sealer(encryptionKey).Open(nil, nil, k.Private, sealedAbout(k))
	if err != nil {
		return nil, errors.New("the configured key encryption key does not decrypt it: " +
			"it was encrypted with another one, or the stored key is damaged")
	}
	return clear, nil
}

func sealedAbout(k account.Key) []byte {
	return fmt.Appendf(nil, "caddy-maps signing key\n%s\n%s\n%s", k.ID, k.Use, k.Algorithm)
}

// sealer prepends a random nonce.
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
