package mapsapp

import (
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/dustin/go-humanize"

	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// checkWritten finds what is wrong with a Caddyfile's block, by the rules that hold when it is loaded.
func (a *App) checkWritten() error {
	written := &App{
		Issuer: a.Issuer, Audience: a.Audience, SigningAlgorithm: a.SigningAlgorithm, KeyEncryptionKey: a.KeyEncryptionKey,
		KeyRotation: a.KeyRotation, AccessTokenTTL: a.AccessTokenTTL, RefreshTokenTTL: a.RefreshTokenTTL,
		MaxStale: a.MaxStale, MaxBodiesInFlight: a.MaxBodiesInFlight, MaxWait: a.MaxWait, Usage: a.Usage,
	}
	if a.UserTokens != nil {
		users := *a.UserTokens
		users.Login = nil // which its own block has checked, and which would get its defaults
		written.UserTokens = &users
	}
	return written.check(whileParsing)
}

// check fills in the defaults, and finds what is wrong with everything but the store and the regions.
func (a *App) check(resolve resolver) (err error) {
	if err := a.setDefaults(resolve); err != nil {
		return err
	}
	if err := a.checkLimits(); err != nil {
		return err
	}
	if a.config, err = a.authorityConfig(resolve); err != nil {
		return err
	}
	a.keep, err = a.Usage.retention()
	return options.Of("usage", err)
}

func (a *App) setDefaults(resolve resolver) error {
	for _, field := range []struct {
		name    string
		value   *string
		initial string
	}{
		{"issuer", &a.Issuer, defaultIssuer},
		{"audience", &a.Audience, defaultIssuer},
		{"signing_algorithm", &a.SigningAlgorithm, "EdDSA"},
	} {
		if *field.value == "" {
			*field.value = field.initial
		}
		value, err := resolve(*field.value, *field.value)
		if err != nil {
			return options.Of(field.name, err)
		}
		*field.value = value
	}
	for _, field := range []struct {
		value   *caddy.Duration
		initial time.Duration
	}{
		{&a.AccessTokenTTL, defaultAccessTokenTTL},
		{&a.RefreshTokenTTL, defaultRefreshTokenTTL},
		{&a.MaxStale, defaultMaxStale},
		{&a.MaxWait, defaultMaxWait},
	} {
		if *field.value == 0 {
			*field.value = caddy.Duration(field.initial)
		}
	}
	if a.MaxBodiesInFlight == 0 {
		a.MaxBodiesInFlight = defaultMaxBodies
	}
	return nil
}

func (a *App) checkLimits() error {
	if a.MaxBodiesInFlight < minMaxBodies {
		return options.Wrong("max_bodies_in_flight", "%s is less than %s",
			humanize.IBytes(uint64(max(0, a.MaxBodiesInFlight))), humanize.IBytes(minMaxBodies))
	}
	if a.MaxWait < 0 {
		return options.Wrong("max_wait", "must not be negative")
	}
	return nil
}

// authorityConfig checks everything that tokens depend on.
func (a *App) authorityConfig(resolve resolver) (credential.Config, error) {
	var none credential.Config
	if err := options.OneOf(a.SigningAlgorithm, "EdDSA", "ES256"); err != nil {
		return none, options.Of("signing_algorithm", err)
	}
	access, refresh := time.Duration(a.AccessTokenTTL), time.Duration(a.RefreshTokenTTL)
	if access < time.Second || access > credential.MaxAccessTTL {
		return none, options.Wrong("access_token_ttl", "%s is not between 1s and %s", options.Span(access),
			options.Span(credential.MaxAccessTTL))
	}
	if refresh < access {
		return none, options.Wrong("refresh_token_ttl", "%s is shorter than access_token_ttl, %s", options.Span(refresh),
			options.Span(access))
	}
	if a.MaxStale < 0 {
		return none, options.Wrong("max_stale", "must not be negative")
	}
	if rotation := time.Duration(a.KeyRotation); rotation != 0 && rotation < credential.MinKeyRotation {
		return none, options.Wrong("key_rotation", "%s is less than %s", options.Span(rotation),
			options.Span(credential.MinKeyRotation))
	}
	kek, err := readKeyEncryptionKey(a.KeyEncryptionKey, resolve)
	if err != nil {
		return none, options.Of("key_encryption_key", err)
	}
	cfg := credential.Config{
		Issuer: a.Issuer, Audience: a.Audience, Algorithm: a.SigningAlgorithm,
		AccessTTL: access, RefreshTTL: refresh, KeyEncryptionKey: kek, KeyRotation: time.Duration(a.KeyRotation),
	}
	if a.UserTokens != nil {
		if err := a.UserTokens.apply(&cfg, resolve); err != nil {
			return none, options.Of("user_tokens", err)
		}
	}
	return cfg, nil
}
