package credential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

const (
	// keysRefresh is how often the keys of an issuer are fetched.
	keysRefresh = 15 * time.Minute
	// keysPause is the shortest time between two fetches because of a key that is unknown or an issuer that is down, so
	// that tokens with made-up key ids cannot make this service hammer an issuer.
	keysPause = 10 * time.Second
	// keysTimeout bounds one fetch, keysMaxBytes its answer.
	keysTimeout  = 5 * time.Second
	keysMaxBytes = 1 << 20
)

// remoteIssuer checks tokens of one other issuer, with keys that are fetched when the first token comes, and again from
// time to time.
type remoteIssuer struct {
	cfg        UserIssuer
	refreshing context.Context
	client     *http.Client

	mu    sync.Mutex
	keys  keyfunc.Keyfunc // nil until the first fetch succeeded
	tried time.Time
	err   error // of the last attempt
}

func newRemoteIssuer(refreshing context.Context, cfg UserIssuer) *remoteIssuer {
	return &remoteIssuer{cfg: cfg, refreshing: refreshing, client: &http.Client{
		Timeout:   keysTimeout,
		Transport: keySets{http.DefaultTransport},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= 3 || !SafeURL(req.URL) || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
				return errors.New("the URL of the key set (jwks_url) redirects too often or away from https")
			}
			return nil
		},
	}}
}

// key returns the issuer's key that a token names.
func (r *remoteIssuer) key(ctx context.Context, t *jwt.Token) (any, error) {
	if !slices.Contains(r.cfg.Algorithms, t.Method.Alg()) {
		return nil, refusedAlgorithm
	}
	if headerText(t, "kid") == "" {
		return nil, refusedKey // without it, every key would have to be tried
	}
	keys, err := r.fetched()
	if err != nil {
		return nil, fmt.Errorf("asking issuer %q for its keys: %w", r.cfg.Issuer, err)
	}
	key, err := keys.KeyfuncCtx(ctx)(t)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, refusedKey // it is unknown, or for another algorithm or use
	}
	return key, nil
}

// fetched returns the issuer's keys. While they have never been fetched, it tries at most once in each keysPause.
func (r *remoteIssuer) fetched() (keyfunc.Keyfunc, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys != nil || r.err != nil && time.Since(r.tried) < keysPause {
		return r.keys, r.err
	}
	r.tried = time.Now()
	var set jwkset.Storage
	set, r.err = jwkset.NewStorageFromHTTP(r.cfg.JWKSURL, jwkset.HTTPClientStorageOptions{
		Client: r.client, Ctx: r.refreshing, HTTPTimeout: keysTimeout, RefreshInterval: keysRefresh,
	})
	if r.err != nil {
		return nil, r.err
	}
	if set, r.err = jwkset.NewHTTPClient(jwkset.HTTPClientOptions{
		HTTPURLs:          map[string]jwkset.Storage{r.cfg.JWKSURL: set},
		RateLimitWaitMax:  keysTimeout,
		RefreshUnknownKID: rate.NewLimiter(rate.Every(keysPause), 1),
	}); r.err == nil {
		r.keys, r.err = keyfunc.New(keyfunc.Options{Storage: set})
	}
	return r.keys, r.err
}

// keySets fetches key sets of bounded size. It leaves out keys that this service cannot use (of other kinds, for
// encryption, without an id, symmetric), as RFC 7517 wants: jwkset would refuse the whole set.
type keySets struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (k keySets) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := k.RoundTripper.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, keysMaxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > keysMaxBytes:
		return nil, fmt.Errorf("the key set is larger than %d bytes", keysMaxBytes)
	}
	usable, err := usableKeys(body)
	if err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(usable)), int64(len(usable))
	return resp, nil
}

func usableKeys(body []byte) ([]byte, error) {
	var set, usable jwkset.JWKSMarshal
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("the key set is not a JWKS")
	}
	seen := make(map[string]bool)
	for _, one := range set.Keys {
		if one.KID == "" || one.KTY == jwkset.KtyOct || one.USE != "" && one.USE != jwkset.UseSig {
			continue
		}
		if _, err := jwkset.NewJWKFromMarshal(one, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{}); err != nil {
			continue
		}
		if seen[one.KID] {
			return nil, errors.New("the key set has two keys with the same id")
		}
		seen[one.KID] = true
		usable.Keys = append(usable.Keys, one)
	}
	if len(usable.Keys) == 0 {
		return nil, errors.New("the key set holds no key that can check signatures")
	}
	return json.Marshal(usable)
}

// checkRequired checks the claim that an issuer's users need: equal to the value, or a list that holds it.
func (r *remoteIssuer) checkRequired(c *userClaims) error {
	if r.cfg.RequireClaim == "" {
		return nil
	}
	switch have := c.MapClaims[r.cfg.RequireClaim].(type) {
	case string:
		if have == r.cfg.RequireValue {
			return nil
		}
	case bool:
		if fmt.Sprint(have) == r.cfg.RequireValue {
			return nil
		}
	case []any:
		if slices.Contains(have, any(r.cfg.RequireValue)) {
			return nil
		}
	}
	return refusedRequired
}
