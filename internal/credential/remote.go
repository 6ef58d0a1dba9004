package credential

import (
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
	"golang.org/x/sync/singleflight"
)

const (
	// keysFresh is how long fetched keys are used without asking again.
	keysFresh = 15 * time.Minute
	// keysStale is how long they are used when the issuer cannot be asked.
	keysStale = 24 * time.Hour
	// keysPause is the least time between two fetches, so that tokens with made-up key ids cannot make this service
	// hammer an issuer.
	keysPause = 10 * time.Second
	// keysTimeout bounds one fetch, keysMaxBytes its answer.
	keysTimeout  = 5 * time.Second
	keysMaxBytes = 1 << 20
)

// remoteIssuer checks tokens of one other issuer, with keys that are fetched when the first token comes.
type remoteIssuer struct {
	cfg    UserIssuer
	now    func() time.Time
	client *http.Client
	flight singleflight.Group

	mu      sync.Mutex
	keys    keyfunc.Keyfunc // nil until the first fetch succeeded
	fetched time.Time       // when the keys were
	tried   time.Time       // when the last fetch began
	lastErr error           // of the last fetch
}

func newRemoteIssuer(cfg UserIssuer, now func() time.Time) *remoteIssuer {
	return &remoteIssuer{cfg: cfg, now: now, client: &http.Client{
		Timeout: keysTimeout,
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
	keys, err := r.current(ctx, false)
	if err != nil {
		return nil, err
	}
	key, err := keys.KeyfuncCtx(ctx)(t)
	if errors.Is(err, jwkset.ErrKeyNotFound) {
		// The issuer may have begun to use a new key.
		if keys, err = r.current(ctx, true); err != nil {
			return nil, err
		}
		key, err = keys.KeyfuncCtx(ctx)(t)
	}
	switch {
	case errors.Is(err, jwkset.ErrKeyNotFound):
		return nil, refusedKey
	case err != nil:
		return nil, refusedAlgorithm // the key says that it is for another algorithm or use
	}
	return key, nil
}

// current returns the issuer's keys, asking for them when there are none, when they are old, or when renew is set and
// keysPause allows.
func (r *remoteIssuer) current(ctx context.Context, renew bool) (keyfunc.Keyfunc, error) {
	r.mu.Lock()
	now := r.now()
	keys, age, mayAsk, lastErr := r.keys, now.Sub(r.fetched), now.Sub(r.tried) >= keysPause || r.tried.IsZero(), r.lastErr
	r.mu.Unlock()

	usable := keys != nil && age < keysStale
	switch {
	case usable && age < keysFresh && !renew:
		return keys, nil
	case !mayAsk && usable:
		return keys, nil
	case !mayAsk && lastErr != nil:
		return nil, lastErr
	}
	// One fetch at a time, for all who wait; it goes on when the request that began it is given up.
	done := r.flight.DoChan("", func() (any, error) { return r.fetch(context.WithoutCancel(ctx)) })
	if usable && !renew {
		return keys, nil // refreshed behind the back of this request
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case res := <-done:
		if res.Err == nil {
			return res.Val.(keyfunc.Keyfunc), nil
		}
		if usable {
			return keys, nil
		}
		return nil, res.Err
	}
}

// fetch asks the issuer for its keys.
func (r *remoteIssuer) fetch(ctx context.Context) (keyfunc.Keyfunc, error) {
	r.mu.Lock()
	r.tried = r.now()
	r.mu.Unlock()
	keys, err := r.download(ctx)
	if err != nil {
		err = fmt.Errorf("asking issuer %q for its keys: %w", r.cfg.Issuer, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastErr = err
	if err == nil {
		r.keys, r.fetched = keys, r.now()
	}
	return keys, err
}

func (r *remoteIssuer) download(ctx context.Context) (keyfunc.Keyfunc, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.cfg.JWKSURL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, keysMaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > keysMaxBytes {
		return nil, fmt.Errorf("its key set is larger than %d bytes", keysMaxBytes)
	}
	return parseKeySet(body)
}

// parseKeySet reads a JWKS. Keys that this service cannot use (of other kinds, for encryption, without an id,
// symmetric) are left out, as RFC 7517 wants, rather than making the whole set unusable.
func parseKeySet(body []byte) (keyfunc.Keyfunc, error) {
	var set jwkset.JWKSMarshal
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("its key set is not a JWKS")
	}
	storage, kept := jwkset.NewMemoryStorage(), map[string]bool{}
	for _, one := range set.Keys {
		if one.KID == "" || one.KTY == jwkset.KtyOct || one.USE != "" && one.USE != jwkset.UseSig {
			continue
		}
		key, err := jwkset.NewJWKFromMarshal(one, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		if err != nil {
			continue
		}
		if kept[one.KID] {
			return nil, errors.New("its key set has two keys of one id")
		}
		kept[one.KID] = true
		if err := storage.KeyWrite(context.Background(), key); err != nil {
			return nil, err
		}
	}
	if len(kept) == 0 {
		return nil, errors.New("its key set holds no key that can check signatures")
	}
	return keyfunc.New(keyfunc.Options{Storage: storage})
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
