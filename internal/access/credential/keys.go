package credential

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// JWS names of the algorithms that this service signs with.
const (
	algEdDSA = "EdDSA"
	algES256 = "ES256"
)

// signingKey is a key with which this service signs and verifies its tokens.
type signingKey struct {
	id      string
	use     account.KeyUse
	method  jwt.SigningMethod
	private crypto.Signer    // for method.Sign
	public  crypto.PublicKey // for method.Verify
	header  string           // the encoded JOSE header of its tokens, with the dot that follows
}

// newKey makes a key pair that is not encrypted.
func newKey(use account.KeyUse, algorithm string, now time.Time) (account.Key, error) {
	var private crypto.Signer
	var err error
	switch algorithm {
	case algEdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	case algES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	default:
		err = fmt.Errorf("no algorithm %q", algorithm)
	}
	if err != nil {
		return account.Key{}, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return account.Key{}, err
	}
	id, err := thumbprint(private.Public())
	return account.Key{ID: id, Use: use, Algorithm: algorithm, Private: encoded, CreatedAt: now.UTC()}, err
}

// openKey decodes a stored key. It must have the algorithm that is stored with it.
func openKey(encryptionKey []byte, k account.Key) (*signingKey, error) {
	clear, err := unsealKey(encryptionKey, k)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(clear)
	if err != nil {
		return nil, errors.New("the stored private key is not in PKCS #8 form")
	}
	key := &signingKey{id: k.ID, use: k.Use}
	typ := accessType
	switch k.Use {
	case account.KeyAccess:
	case account.KeyUser:
		typ = userType
	default:
		return nil, fmt.Errorf("unknown use %q; was the store written by a newer version?", k.Use)
	}
	switch private := parsed.(type) {
	case ed25519.PrivateKey:
		key.method, key.private, key.public = jwt.SigningMethodEdDSA, private, private.Public()
	case *ecdsa.PrivateKey:
		if private.Curve != elliptic.P256() {
			return nil, errors.New("an EC key must be on curve P-256")
		}
		key.method, key.private, key.public = jwt.SigningMethodES256, private, &private.PublicKey
	default:
		return nil, errors.New("neither an Ed25519 nor a P-256 key")
	}
	if key.method.Alg() != k.Algorithm {
		return nil, fmt.Errorf("stored for algorithm %q, but it is a key for %s", k.Algorithm, key.method.Alg())
	}
	header, err := json.Marshal(map[string]string{"alg": k.Algorithm, "kid": k.ID, "typ": typ})
	key.header = base64.RawURLEncoding.EncodeToString(header) + "."
	return key, err
}

// sign makes a compact JWS of the claims.
func (k *signingKey) sign(claims any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := make([]byte, 0, len(k.header)+base64.RawURLEncoding.EncodedLen(len(payload))+90)
	text = append(text, k.header...)
	text = base64.RawURLEncoding.AppendEncode(text, payload)
	signature, err := k.method.Sign(string(text), k.private)
	if err != nil {
		return "", fmt.Errorf("signing: %w", err)
	}
	return string(base64.RawURLEncoding.AppendEncode(append(text, '.'), signature)), nil
}

// thumbprint returns the RFC 7638 thumbprint of a key, which is its id.
func thumbprint(public crypto.PublicKey) (string, error) {
	sum, err := (&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256)
	return base64.RawURLEncoding.EncodeToString(sum), err
}
