package mapsapp

import (
	"math"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/dustin/go-humanize"

	"github.com/mapsedge/caddy-maps/internal/endpoint"
)

func init() { httpcaddyfile.RegisterGlobalOption("maps", parseGlobalOption) }

// parseGlobalOption reads the global option as the app.
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		return nil, d.Err("the maps option may stand only once")
	}
	app := new(App)
	if err := app.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "maps", Value: caddyconfig.JSON(app, nil)}, nil
}

// UnmarshalCaddyfile reads the global option:
//
//	maps {
//	    issuer               <name>
//	    audience             <name>
//	    store                <module> [<arguments...>]
//	    signing_algorithm    EdDSA|ES256
//	    key_encryption_key   <placeholder>
//	    key_rotation         <duration>
//	    access_token_ttl     <duration>
//	    refresh_token_ttl    <duration>
//	    max_stale            <duration>
//	    max_bodies_in_flight <size>
//	    max_wait             <duration>
//	    region               <name> <file>|<url> {
//	        refresh   <duration>
//	        cache_dir <directory>
//	        header    <field> <value>
//	        timeout   <duration>
//	        max_size  <size>
//	        wait      <duration>
//	    }
//	    usage {
//	        hours <duration>
//	        days  <duration>
//	    }
//	    user_tokens {
//	        issuer             <url>
//	        audience           <name>
//	        jwks_url           <url>
//	        algorithms         <name>...
//	        organization_claim <name>
//	        require_claim      <name> <value>
//	        any_user
//	        local              on|off
//	        login {
//	            client_id     <id>
//	            authorize_url <url>
//	            token_url     <url>
//	            scope         <name>...
//	        }
//	    }
//	}
//
// `region` may stand more than once, and `header` in it. Its options are for regions that are fetched from a URL.
// Example:
//
//	{
//	    maps {
//	        issuer   https://maps.example.com
//	        audience maps.example.com
//	        store    bolt ./data/accounts.db
//	        region   delaware ./data/delaware.region
//	        region   andorra  https://files.example.com/andorra.region {
//	            refresh 15m
//	            header  Authorization "Bearer {env.MAPS_FILES_TOKEN}"
//	        }
//	        user_tokens {
//	            issuer        https://id.example.com
//	            audience      maps-management
//	            jwks_url      https://id.example.com/.well-known/jwks.json
//	            require_claim role maps-admin
//	            login {
//	                client_id     caddy-maps-console
//	                authorize_url https://id.example.com/authorize
//	                token_url     https://id.example.com/token
//	            }
//	        }
//	    }
//	}
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the option's name
	if d.NextArg() {
		return d.ArgErr()
	}
	seen := make(map[string]bool)
	for d.NextBlock(0) {
		option := d.Val()
		if option != "region" && seen[option] {
			return d.Errf("%s may stand only once", option)
		}
		seen[option] = true
		var err error
		switch option {
		case "issuer":
			err = oneArgument(d, &a.Issuer)
		case "audience":
			err = oneArgument(d, &a.Audience)
		case "store":
			err = a.unmarshalStore(d)
		case "signing_algorithm":
			err = oneArgument(d, &a.SigningAlgorithm)
		case "key_encryption_key":
			err = oneArgument(d, &a.KeyEncryptionKey)
		case "key_rotation":
			err = durationArgument(d, &a.KeyRotation)
		case "access_token_ttl":
			err = durationArgument(d, &a.AccessTokenTTL)
		case "refresh_token_ttl":
			err = durationArgument(d, &a.RefreshTokenTTL)
		case "max_stale":
			err = durationArgument(d, &a.MaxStale)
		case "max_bodies_in_flight":
			err = Size(d, &a.MaxBodiesInFlight)
		case "max_wait":
			err = durationArgument(d, &a.MaxWait)
		case "region":
			err = a.unmarshalRegion(d)
		case "usage":
			a.Usage = new(Usage)
			err = a.Usage.unmarshal(d)
		case "user_tokens":
			a.UserTokens = new(UserTokens)
			err = a.UserTokens.unmarshal(d)
		default:
			err = d.Errf("unknown option of maps: %s", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *App) unmarshalStore(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	name := d.Val()
	module, err := caddyfile.UnmarshalModule(d, "maps.stores."+name)
	if err != nil {
		return err
	}
	a.StoreRaw = caddyconfig.JSONModuleObject(module, "module", name, nil)
	return nil
}

// eachOption reads the options of a block, each of which may stand once. The block's name takes no arguments.
func eachOption(d *caddyfile.Dispenser, read func(option string) error) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] {
			return d.Errf("%s may stand only once", option)
		}
		seen[option] = true
		if err := read(option); err != nil {
			return err
		}
	}
	return nil
}

func (u *UserTokens) unmarshal(d *caddyfile.Dispenser) error {
	return eachOption(d, func(option string) (err error) {
		switch option {
		case "issuer":
			err = oneArgument(d, &u.Issuer)
		case "audience":
			err = oneArgument(d, &u.Audience)
		case "jwks_url":
			err = oneArgument(d, &u.JWKSURL)
		case "algorithms":
			if u.Algorithms = d.RemainingArgs(); len(u.Algorithms) == 0 {
				err = d.ArgErr()
			}
		case "organization_claim":
			err = oneArgument(d, &u.OrganizationClaim)
		case "require_claim":
			u.RequireClaim = new(Claim)
			if !d.AllArgs(&u.RequireClaim.Name, &u.RequireClaim.Value) {
				err = d.ArgErr()
			}
		case "any_user":
			u.AnyUser = true
			if d.NextArg() {
				err = d.ArgErr()
			}
		case "local":
			var on bool
			err = OnOff(d, &on)
			u.Local = &on
		case "login":
			u.Login = new(Login)
			err = u.Login.unmarshal(d)
		default:
			err = d.Errf("unknown option of user_tokens: %s", option)
		}
		return err
	})
}

func oneArgument(d *caddyfile.Dispenser, value *string) error {
	if !d.AllArgs(value) {
		return d.ArgErr()
	}
	if *value == "" {
		return d.Err("the value is empty")
	}
	return nil
}

func durationArgument(d *caddyfile.Dispenser, value *caddy.Duration) error {
	var text string
	if !d.AllArgs(&text) {
		return d.ArgErr()
	}
	parsed, err := caddy.ParseDuration(text)
	if err != nil {
		return d.Errf("%v", err)
	}
	if parsed <= 0 {
		return d.Errf("a duration must be positive, not %s", text)
	}
	*value = caddy.Duration(parsed)
	return nil
}

// Size reads the one argument of an option that is a number of bytes, such as 256MiB.
func Size(d *caddyfile.Dispenser, bytes *int64) error {
	var text string
	if !d.AllArgs(&text) {
		return d.ArgErr()
	}
	parsed, err := humanize.ParseBytes(text)
	if err != nil || parsed == 0 || parsed > math.MaxInt64 {
		return d.Errf("%q is not a positive size, such as 256MiB", text)
	}
	*bytes = int64(parsed)
	return nil
}

// OnOff reads the one argument of an option that is switched `on` or `off`.
func OnOff(d *caddyfile.Dispenser, value *bool) error {
	var text string
	if !d.AllArgs(&text) {
		return d.ArgErr()
	}
	switch text {
	case "on":
		*value = true
	case "off":
		*value = false
	default:
		return d.Errf("it is on or off, not %s", text)
	}
	return nil
}

// Prefix reads the one argument of an option `prefix`, so that a mistake is reported with its line.
func Prefix(d *caddyfile.Dispenser, value *string) error {
	if !d.AllArgs(value) {
		return d.ArgErr()
	}
	if _, err := endpoint.ParsePrefix(*value); err != nil {
		return d.Err(err.Error())
	}
	return nil
}

// PrefixAlone reads a directive that has no arguments and no option but `prefix`.
func PrefixAlone(d *caddyfile.Dispenser, value *string) error {
	d.Next() // the directive's name
	name := d.Val()
	if d.NextArg() {
		return d.ArgErr()
	}
	for d.NextBlock(0) {
		if d.Val() != "prefix" {
			return d.Errf("unknown option of %s: %s", name, d.Val())
		}
		if err := Prefix(d, value); err != nil {
			return err
		}
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*App)(nil)
