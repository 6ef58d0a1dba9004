package app

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { httpcaddyfile.RegisterGlobalOption("maps", parseGlobalOption) }

// parseGlobalOption reads the global option as the app.
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		d.Next() // the option's name
		return nil, d.Err("maps may appear only once; write all of its options in one block")
	}
	options.Forget()
	app := new(App)
	if err := app.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: "maps", Value: caddyconfig.JSON(app, nil)}, nil
}

// globalOption returns the global option of a directive's Caddyfile. It is read before all directives.
func globalOption(h httpcaddyfile.Helper) *App {
	app := new(App)
	if option, ok := h.Option("maps").(httpcaddyfile.App); ok {
		_ = json.Unmarshal(option.Value, app) // it was written by parseGlobalOption
	}
	return app
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
//	    max_grants           <number>
//	    max_accounts         <number>
//	    max_stale            <duration>
//	    max_bodies_in_flight <size>
//	    max_wait             <duration>
//	    region               <name> <file>|<url> {
//	        awaited
//	        refresh   <duration>
//	        cache_dir <directory>
//	        header    <field> <value>
//	        timeout   <duration>
//	        max_size  <size>
//	        wait      <duration>
//	    }
//	    scope                <NAME> <purpose>
//	    usage {
//	        flush <duration>
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
// `region` and `scope` may be repeated, and `header` within a region. `awaited` is for a file that may appear later;
// all other options of a region are for one that is fetched from a URL. Example:
//
//	{
//	    maps {
//	        issuer   https://maps.example.com
//	        audience maps.example.com
//	        store    sqlite ./data/accounts.db
//	        region   delaware ./data/delaware.region
//	        region   andorra  https://files.example.com/andorra.region {
//	            refresh 15m
//	            header  Authorization "Bearer {env.MAPS_FILES_TOKEN}"
//	        }
//	        scope    ORDERS "orders of the shop"
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
	check := func() error {
		_, err := a.settings()
		return err
	}
	return options.Block(d, "maps", check,
		options.Option{Name: "issuer", Args: "<name>", Read: options.Text(&a.Issuer)},
		options.Option{Name: "audience", Args: "<name>", Read: options.Text(&a.Audience)},
		options.Option{Name: "store", Args: "<module> [<arguments...>]", Read: a.unmarshalStore},
		options.Option{Name: "signing_algorithm", Args: "EdDSA|ES256", Read: options.Text(&a.SigningAlgorithm)},
		options.Option{Name: "key_encryption_key", Args: "<placeholder>", Read: options.Text(&a.KeyEncryptionKey)},
		options.Option{Name: "key_rotation", Args: "<duration>", Read: options.Duration(&a.KeyRotation)},
		options.Option{Name: "access_token_ttl", Args: "<duration>", Read: options.Duration(&a.AccessTokenTTL)},
		options.Option{Name: "refresh_token_ttl", Args: "<duration>", Read: options.Duration(&a.RefreshTokenTTL)},
		options.Option{Name: "max_grants", Args: "<number>", Read: options.Number(&a.MaxGrants)},
		options.Option{Name: "max_accounts", Args: "<number>", Read: options.Number(&a.MaxAccounts)},
		options.Option{Name: "max_stale", Args: "<duration>", Read: options.Duration(&a.MaxStale)},
		options.Option{Name: "max_bodies_in_flight", Args: "<size>", Read: options.Size(&a.MaxBodiesInFlight)},
		options.Option{Name: "max_wait", Args: "<duration>", Read: options.Duration(&a.MaxWait)},
		options.Option{Name: "region", Args: "<name> <file>|<url>", Read: a.unmarshalRegion, Repeats: true},
		options.Option{Name: "scope", Args: "<NAME> <purpose>", Read: a.unmarshalScope, Repeats: true},
		options.Option{Name: "usage", Args: "{ … }", Read: func(d *caddyfile.Dispenser) error {
			a.Usage = new(Usage)
			return a.Usage.unmarshal(d)
		}},
		options.Option{Name: "user_tokens", Args: "{ … }", Read: func(d *caddyfile.Dispenser) error {
			a.UserTokens = new(UserTokens)
			return a.UserTokens.unmarshal(d)
		}},
	)
}

func (a *App) unmarshalStore(d *caddyfile.Dispenser) (err error) {
	_, a.StoreRaw, err = options.Module(d, "maps.stores", "module")
	return err
}

func (u *UserTokens) unmarshal(d *caddyfile.Dispenser) error {
	return options.Block(d, "user_tokens", u.checkWritten,
		options.Option{Name: "issuer", Args: "<url>", Read: options.Text(&u.Issuer)},
		options.Option{Name: "audience", Args: "<name>", Read: options.Text(&u.Audience)},
		options.Option{Name: "jwks_url", Args: "<url>", Read: options.Text(&u.JWKSURL)},
		options.Option{Name: "algorithms", Args: "<name>...", Read: options.Words(&u.Algorithms)},
		options.Option{Name: "organization_claim", Args: "<name>", Read: options.Text(&u.OrganizationClaim)},
		options.Option{Name: "require_claim", Args: "<name> <value>", Read: func(d *caddyfile.Dispenser) error {
			u.RequireClaim = new(Claim)
			if !d.AllArgs(&u.RequireClaim.Name, &u.RequireClaim.Value) {
				return options.ErrCount
			}
			return nil
		}},
		options.Option{Name: "any_user", Read: options.Flag(&u.AnyUser)},
		options.Option{Name: "local", Args: "on|off", Read: options.OnOff(&u.Local)},
		options.Option{Name: "login", Args: "{ … }", Read: func(d *caddyfile.Dispenser) error {
			u.Login = new(Login)
			return u.Login.unmarshal(d)
		}},
	)
}

// UnmarshalPrefix reads a directive whose only option is `prefix`.
func UnmarshalPrefix(d *caddyfile.Dispenser, value *string) error {
	d.Next() // the directive's name
	return options.Block(d, d.Val(), nil, options.Option{Name: "prefix", Args: "<path>", Read: options.Path(value)})
}

// Interface guard
var _ caddyfile.Unmarshaler = (*App)(nil)
