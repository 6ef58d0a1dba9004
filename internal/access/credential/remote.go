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
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

const (
	// keysRefresh is the interval at which the keys of an issuer are fetched.
	keysRefresh = 15 * time.Minute
	// keysPause is the shortest time between two fetches because of an unknown key or an unavailable issuer. It keeps
	// tokens with invented key ids from causing many requests.
	keysPause = 10 * time.Second
	// keysTimeout is the timeout of a fetch, and keysMaxBytes the maximum size of its response.
	keysTimeout  = 5 * time.Second
	keysMaxBytes = 1 << 20
)

// remoteIssuer verifies tokens of another issuer. Its keys are fetched when the first token arrives, and refreshed
// regularly. While the issuer is unavailable, the last keys stay valid.
type remoteIssuer struct {
	cfg    UserIssuer
	sets   keySets
	failed atomic.Pointer[error] // why the last fetch failed
	// keys fetches the key set on its first call. Both keyfuncs use the same keys; refresh fetches them again if a token
	// names an unknown one.
	keys     func() (known, refresh keyfunc.Keyfunc)
	fetching sync.Mutex
	pause    *rate.Limiter
}

// newRemoteIssuer refreshes the keys until the context ends.
func newRemoteIssuer(refreshing context.Context, cfg UserIssuer) *remoteIssuer {
	r := &remoteIssuer{cfg: cfg, sets: keySets{issuer: http.DefaultTransport},
		pause: rate.NewLimiter(rate.Every(keysPause), 1)}
	client := &http.Client{Timeout: keysTimeout, Transport: &r.sets, CheckRedirect: checkRedirect}
	r.keys = sync.OnceValues(func() (known, refresh keyfunc.Keyfunc) {
		r.pause.Allow()
		// None of these fails with a URL that CheckJWKSURL has accepted.
		set, _ := jwkset.NewStorageFromHTTP(cfg.JWKSURL, jwkset.HTTPClientStorageOptions{
			Client: client, Ctx: refreshing, HTTPTimeout: keysTimeout, RefreshInterval: keysRefresh,
			NoErrorReturnFirstHTTPReq: true,
			RefreshErrorHandler:       func(_ context.Context, err error) { r.failed.Store(&err) },
		})
		again, _ := jwkset.NewHTTPClient(jwkset.HTTPClientOptions{
			HTTPURLs:         map[string]jwkset.Storage{cfg.JWKSURL: set},
			RateLimitWaitMax: keysTimeout, // bounds the fetch, too
			// remoteIssuer.key limits the rate. This limiter would make tokens wait.
			RefreshUnknownKID: rate.NewLimiter(rate.Inf, 1),
		})
		known, _ = keyfunc.New(keyfunc.Options{Storage: set})
		refresh, _ = keyfunc.New(keyfunc.Options{Storage: again})
		return known, refresh
	})
	return r
}

// key returns the issuer's key that a token names.
func (r *remoteIssuer) key(ctx context.Context, t *jwt.Token) (any, error) {
	if !slices.Contains(r.cfg.Algorithms, t.Method.Alg()) {
		return nil, refusedAlgorithm
	}
	if headerText(t, "kid") == "" {
		return nil, refusedKey // without it, every key would have to be tried
	}
	known, refresh := r.keys()
	key, err := known.Keyfunc(t)
	if errors.Is(err, jwkset.ErrKeyNotFound) {
		r.fetching.Lock() // calls that wait here use the keys that this one fetches
		defer r.fetching.Unlock()
		if key, err = known.Keyfunc(t); errors.Is(err, jwkset.ErrKeyNotFound) && r.pause.Allow() {
			key, err = refresh.KeyfuncCtx(context.WithoutCancel(ctx))(t)
		}
	}
	switch {
	case err == nil:
		return key, nil
	case !r.sets.fetched.Load():
		return nil, fmt.Errorf("no keys of issuer %q: %w", r.cfg.Issuer, *r.failed.Load())
	}
	return nil, refusedKey // unknown, or for another algorithm or use
}

func checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 3 || !SafeURL(req.URL) || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return errors.New("the URL of the key set (jwks_url) redirects too often or away from https")
	}
	return nil
}

// keySets fetches key sets of bounded size. It removes keys that this service cannot use, as RFC 7517 requires: those
// of unknown types, for encryption, without an id, and symmetric ones. jwkset would refuse the whole set.
type keySets struct {
	issuer  http.RoundTripper
	fetched atomic.Bool // at least once
}

// RoundTrip implements http.RoundTripper.
func (k *keySets) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := k.issuer.RoundTrip(req)
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
	k.fetched.Store(true)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(usable)), int64(len(usable))
	return resp, nil
}

func usableKeys(body []byte) ([]byte, error) {
	var set jwkset.JWKSMarshal
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("the key set is not a JWKS")
	}
	set.Keys = slices.DeleteFunc(set.Keys, func(one jwkset.JWKMarshal) bool {
		_, err := jwkset.NewJWKFromMarshal(one, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		return err != nil || one.KID == "" || one.KTY == jwkset.KtyOct || one.USE != "" && one.USE != jwkset.UseSig
	})
	if len(set.Keys) == 0 {
		return nil, errors.New("the key set holds no key that can check signatures")
	}
	return json.Marshal(set)
}

// checkRequired checks the claim that users of the issuer need: it equals the value, or is a list that contains it.
func (r *remoteIssuer) checkRequired(c userClaims) error {
	if r.cfg.RequireClaim == "" {
		return nil
	}
	switch have := c[r.cfg.RequireClaim].(type) {
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
