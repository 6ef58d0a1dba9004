package app

import (
	"cmp"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// settings are the effective values of a configuration, defaults included.
type settings struct {
	tokens      credential.Config
	keep        usage.Retention
	flush       time.Duration
	maxStale    time.Duration
	maxWait     time.Duration
	maxBodies   int64
	maxAccounts int
}

// settings checks everything except the store and the regions. UnmarshalCaddyfile calls it too, so that errors have a
// line. Placeholders are not replaced there yet, so values with placeholders are checked later.
func (a *App) settings() (s settings, err error) {
	s = settings{
		tokens: credential.Config{
			Issuer:      cmp.Or(a.Issuer, defaultIssuer),
			Audience:    cmp.Or(a.Audience, defaultIssuer),
			Algorithm:   cmp.Or(a.SigningAlgorithm, "EdDSA"),
			AccessTTL:   cmp.Or(time.Duration(a.AccessTokenTTL), defaultAccessTokenTTL),
			RefreshTTL:  cmp.Or(time.Duration(a.RefreshTokenTTL), defaultRefreshTokenTTL),
			KeyRotation: time.Duration(a.KeyRotation),
			MaxGrants:   cmp.Or(a.MaxGrants, credential.DefaultMaxGrants),
		},
		maxStale:    cmp.Or(time.Duration(a.MaxStale), defaultMaxStale),
		maxWait:     cmp.Or(time.Duration(a.MaxWait), defaultMaxWait),
		maxBodies:   cmp.Or(a.MaxBodiesInFlight, defaultMaxBodies),
		maxAccounts: cmp.Or(a.MaxAccounts, defaultMaxAccounts),
	}
	t := &s.tokens
	switch {
	case s.maxBodies < minMaxBodies:
		err = options.Errorf("max_bodies_in_flight", "%s is less than %s", humanize.IBytes(uint64(max(0, s.maxBodies))),
			humanize.IBytes(minMaxBodies))
	case s.maxWait < 0:
		err = options.Errorf("max_wait", "must not be negative")
	case s.maxStale < 0:
		err = options.Errorf("max_stale", "must not be negative")
	case s.maxAccounts < 0:
		err = options.Errorf("max_accounts", "must not be negative")
	case t.MaxGrants < 0:
		err = options.Errorf("max_grants", "must not be negative")
	case t.AccessTTL < time.Second || t.AccessTTL > credential.MaxAccessTTL:
		err = options.Errorf("access_token_ttl", "%s is not between 1s and %s", options.FormatDuration(t.AccessTTL),
			options.FormatDuration(credential.MaxAccessTTL))
	case t.RefreshTTL < t.AccessTTL:
		err = options.Errorf("refresh_token_ttl", "%s is shorter than access_token_ttl, %s",
			options.FormatDuration(t.RefreshTTL), options.FormatDuration(t.AccessTTL))
	case t.KeyRotation != 0 && t.KeyRotation < credential.MinKeyRotation:
		err = options.Errorf("key_rotation", "%s is less than %s", options.FormatDuration(t.KeyRotation),
			options.FormatDuration(credential.MinKeyRotation))
	default:
		err = options.Wrap("signing_algorithm", options.OneOf(t.Algorithm, "EdDSA", "ES256"))
	}
	if err == nil {
		err = options.Wrap("key_encryption_key", refuseLiteralKey(a.KeyEncryptionKey))
	}
	if err == nil {
		err = options.Wrap("scopes", a.checkScopes())
	}
	if err == nil && a.UserTokens != nil {
		err = options.Wrap("user_tokens", a.UserTokens.apply(t))
	}
	if err == nil {
		s.keep, s.flush, err = a.Usage.settings()
		err = options.Wrap("usage", err)
	}
	return s, err
}

// resolve replaces the placeholders of the configuration, except those of the key encryption key, the store and the
// regions.
func (a *App) resolve() error {
	for name, value := range map[string]*string{"issuer": &a.Issuer, "audience": &a.Audience} {
		if err := replace(name, value); err != nil {
			return err
		}
	}
	if a.UserTokens == nil {
		return nil
	}
	return options.Wrap("user_tokens", a.UserTokens.resolve())
}

// replace replaces the placeholders of an option's value.
func replace(option string, value *string) (err error) {
	*value, err = options.Replace(*value)
	return options.Wrap(option, err)
}
