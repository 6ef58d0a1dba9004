package credential

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// JWS names of the algorithms that this service signs with.
const (
	algEdDSA = "EdDSA"
	algES256 = "ES256"
)

// signingKey is a key with which this service signs and checks its own tokens.
type signingKey struct {
	id     string
	use    account.KeyUse
	method jwt.SigningMethod // the one algorithm of the key
	// private is what method.Sign takes, public what method.Verify takes.
	private crypto.Signer
	public  crypto.PublicKey
	created time.Time
	header  string // the encoded JOSE header of tokens that it signs, with the dot that follows
}

// keyring holds the signing keys of one store.
type keyring struct {
	byID   map[string]*signingKey
	access *signingKey   // signs access tokens
	user   *signingKey   // signs local user tokens
	jwks   []byte        // public keys of access tokens
	kept   []account.Key // as the store has them, oldest first; their private halves are not kept
}

// find returns the key with this id and use.
func (r *keyring) find(use account.KeyUse, id string) (*signingKey, bool) {
	k, ok := r.byID[id]
	return k, ok && k.use == use
}

// loadKeys reads the keys of a store, and makes those that are missing. Keys that lie in clear are sealed where there is a
// key encryption key.
func loadKeys(ctx context.Context, cfg Config, store account.Store) (*keyring, error) {
	for _, use := range []account.KeyUse{account.KeyAccess, account.KeyUser} {
		if err := ensureKey(ctx, cfg, store, use); err != nil {
			return nil, err
		}
	}
	kept, err := store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the signing keys: %w", err)
	}
	ring := &keyring{byID: make(map[string]*signingKey, len(kept))}
	for _, k := range kept {
		key, err := openKey(cfg.KeyEncryptionKey, k)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", k.ID, err)
		}
		if len(cfg.KeyEncryptionKey) != 0 && !k.Sealed {
			if err := store.ReplaceKey(ctx, sealKey(cfg.KeyEncryptionKey, k)); err != nil {
				return nil, fmt.Errorf("sealing signing key %s: %w", k.ID, err)
			}
		}
		if ring.byID[key.id] != nil {
			return nil, fmt.Errorf("signing key %s is in the store twice", k.ID)
		}
		ring.byID[key.id] = key
		// Oldest first: the newest key of the algorithm signs.
		if key.method.Alg() == cfg.Algorithm {
			if key.use == account.KeyAccess {
				ring.access = key
			} else {
				ring.user = key
			}
		}
	}
	if ring.access == nil || ring.user == nil {
		return nil, errors.New("the store lost a signing key that it had just taken")
	}
	ring.kept = kept
	for i := range kept {
		kept[i].Private = nil
	}
	ring.jwks, err = publicSet(kept, ring)
	return ring, err
}

// ensureKey makes the first key of a use, unless there is one.
func ensureKey(ctx context.Context, cfg Config, store account.Store, use account.KeyUse) error {
	kept, err := store.Keys(ctx)
	if err != nil {
		return fmt.Errorf("reading the signing keys: %w", err)
	}
	for _, k := range kept {
		if k.Use == use && k.Algorithm == cfg.Algorithm {
			return nil
		}
	}
	fresh, err := newKey(use, cfg.Algorithm, cfg.Now())
	if err != nil {
		return fmt.Errorf("making a signing key: %w", err)
	}
	if len(cfg.KeyEncryptionKey) != 0 {
		fresh = sealKey(cfg.KeyEncryptionKey, fresh)
	}
	if _, err := store.AddFirstKey(ctx, fresh); err != nil {
		return fmt.Errorf("keeping a new signing key: %w", err)
	}
	return nil
}

// newKey makes a key pair, in clear.
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

// openKey turns a stored key into one that signs. The key must be of the algorithm that it is stored under.
func openKey(encryptionKey []byte, k account.Key) (*signingKey, error) {
	clear, err := unsealKey(encryptionKey, k)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(clear)
	if err != nil {
		return nil, errors.New("the stored private key is not in PKCS #8 form")
	}
	key := &signingKey{id: k.ID, use: k.Use, created: k.CreatedAt}
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
		return nil, fmt.Errorf("stored for algorithm %q, but is one for %s", k.Algorithm, key.method.Alg())
	}
	header, err := json.Marshal(struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
		Type      string `json:"typ"`
	}{k.Algorithm, k.ID, typ})
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

// jwk is the public half of a key (RFC 7517, RFC 8037). The fields of RFC 7638's thumbprint come first, in its order.
type jwk struct {
	Curve     string `json:"crv"`
	KeyType   string `json:"kty"`
	X         string `json:"x"`
	Y         string `json:"y,omitempty"`
	Algorithm string `json:"alg,omitempty"`
	KeyID     string `json:"kid,omitempty"`
	Use       string `json:"use,omitempty"`
}

func publicJWK(public crypto.PublicKey) (jwk, error) {
	switch key := public.(type) {
	case ed25519.PublicKey:
		return jwk{Curve: "Ed25519", KeyType: "OKP", X: base64.RawURLEncoding.EncodeToString(key)}, nil
	case *ecdsa.PublicKey:
		point, err := key.Bytes() // 4, X, Y (SEC 1)
		if err != nil || len(point) != 65 {
			return jwk{}, errors.New("not a point on P-256")
		}
		x, y := point[1:33], point[33:]
		return jwk{Curve: "P-256", KeyType: "EC", X: base64.RawURLEncoding.EncodeToString(x), Y: base64.RawURLEncoding.EncodeToString(y)}, nil
	}
	return jwk{}, errors.New("neither an Ed25519 nor a P-256 key")
}

// thumbprint is a key's id: its RFC 7638 thumbprint, so that no two keys can share one.
func thumbprint(public crypto.PublicKey) (string, error) {
	key, err := publicJWK(public)
	if err != nil {
		return "", err
	}
	canonical, err := json.Marshal(key)
	sum := sha256.Sum256(canonical)
	return base64.RawURLEncoding.EncodeToString(sum[:]), err
}

// publicSet is the JWKS of the access keys, newest first.
func publicSet(kept []account.Key, ring *keyring) ([]byte, error) {
	set := struct {
		Keys []jwk `json:"keys"`
	}{Keys: []jwk{}}
	for i := len(kept) - 1; i >= 0; i-- {
		key, ok := ring.find(account.KeyAccess, kept[i].ID)
		if !ok {
			continue
		}
		public, err := publicJWK(key.public)
		if err != nil {
			return nil, err
		}
		public.Algorithm, public.KeyID, public.Use = key.method.Alg(), key.id, "sig"
		set.Keys = append(set.Keys, public)
	}
	return json.Marshal(set)
}
