package app_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	_ "github.com/mapsedge/caddy-maps"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// mistake is a Caddyfile with something wrong in it, and what Caddy says of that.
type mistake struct {
	text string
	line int // that the error names; 0 where want is the whole error
	want string
}

// mistakesInMaps are written in the global option maps, from line 3 on.
var mistakesInMaps = []mistake{
	{"access_token_ttl 30d", 3, "access_token_ttl: 720h is not between 1s and 24h"},
	{"access_token_ttl", 3, "access_token_ttl: wrong argument count; write access_token_ttl DURATION"},
	{"access_token_tll 15m", 3, "unknown option of maps: access_token_tll; did you mean access_token_ttl? It is one of issuer, audience, store, signing_algorithm, key_encryption_key, key_rotation, access_token_ttl, refresh_token_ttl, max_grants, max_accounts, max_stale, max_bodies_in_flight, max_wait, region, scope, usage, user_tokens"},
	{"refresh_token_ttl 5m", 3, "refresh_token_ttl: 5m is shorter than access_token_ttl, 15m"},
	{"key_rotation 1m", 3, "key_rotation: 1m is less than 1h"},
	{"signing_algorithm RS256", 3, `signing_algorithm: "RS256" is not known; did you mean ES256? It is one of EdDSA, ES256`},
	{"signing_algorithm ed25519", 3, `signing_algorithm: "ed25519" is not known; it is one of EdDSA, ES256`},
	{"key_encryption_key MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", 3, "key_encryption_key: a key written into the configuration is refused, because Caddy shows and saves its configuration; use {file./path/to/key} or {env.NAME}"},
	{"max_bodies_in_flight 1KiB", 3, "max_bodies_in_flight: 1.0 KiB is less than 1.0 MiB"},
	{"max_wait 2s\nmax_wait 3s", 4, "max_wait may appear only once in maps; it is already in line 3"},
	{"issuer {", 3, "issuer: wrong argument count; write issuer NAME"},
	{"store sqlit accounts.db", 3, `store: "sqlit" is not known; did you mean sqlite? It is one of postgres, sqlite`},
	{`store sqlite ""`, 3, "the path is empty"},
	{"store sqlite a.db b.db", 3, `store sqlite: unexpected argument "b.db"`},
	{"store sqlite a.db {\nmode 0600\n}", 4, "unknown option of store sqlite: mode; it has none"},
	{"store postgres", 3, "store postgres needs a connection string, such as {env.MAPS_DATABASE_URL}"},
	{"store postgres mysql://maps@db/maps", 3, "store postgres: the connection string begins with mysql://, not with postgres://"},
	{"store postgres host=db user=maps", 3, "store postgres takes one connection string; put one with spaces in quotes"},
	{"store postgres postgres://maps:hunter2@db/maps", 3, "store postgres: a password written into the configuration is refused, because Caddy shows and saves its configuration; use {env.NAME} for the whole connection string, or the option password with {file./path/to/password}"},
	{"store postgres postgres://maps@db/maps {\npassword hunter2\n}", 4, "password: a password written into the configuration is refused, because Caddy shows and saves its configuration; use {env.NAME} for the whole connection string, or the option password with {file./path/to/password}"},
	{"region delaware", 3, "region: wrong argument count; write region NAME FILE|URL"},
	{"region delaware delaware.osm.pbf", 3, "region delaware: delaware.osm.pbf is an OpenStreetMap extract; compile it with `caddy maps build`, and use the region file"},
	{"region delaware a.region\nregion delaware b.region", 4, "region: delaware already exists"},
	{"region delaware a.region {\nrefresh 1h\n}", 4, "refresh: only for regions that are fetched from a URL, and a.region is a file of this machine"},
	{"region delaware ftp://files.example.com/a.region", 3, "region delaware: a region is fetched by http or https, not by ftp; serve it through a gateway, or copy the file to this machine"},
	{"region delaware https://files.example.com/a.region {\nrefresh 1s\n}", 4, "refresh: 1s is less than 10s"},
	{"region delaware https://files.example.com/a.region {\nheader Authorization secret\n}", 4, "header: Authorization: a password written into the configuration is refused, because Caddy shows and saves its configuration; use {env.NAME} or {file./path/to/file}"},
	{"region delaware https://ann:hunter2@files.example.com/a.region", 3, "region delaware: a password written into the configuration is refused, because Caddy shows and saves its configuration; use {env.NAME} or {file./path/to/file}"},
	{"scope ORDERS", 3, "scope: wrong argument count; write scope NAME PURPOSE"},
	{"scope ORDERS orders\nscope orders orders", 4, `scope: "orders" is not a name for a scope: it must have 2 to 32 capital letters, digits and _, and begin with a letter`},
	{"scope TILE tiles", 3, "scope: TILE is a scope of the service, which needs no declaration"},
	{"scope ORDERS orders\nscope ORDERS again", 4, "scope: ORDERS is declared twice"},
	{`scope ORDERS ""`, 3, "scope: ORDERS needs a purpose, a line of at most 200 characters"},
	{"usage {\nhours 12h\n}", 4, "hours: 12h is less than 25h"},
	{"usage {\nmonths 12\n}", 4, "unknown option of usage: months; it is one of flush, hours, days"},
	{"user_tokens {\naudience m\njwks_url https://id.example.com/jwks\nany_user\n}", 3, "issuer: missing"},
	{"user_tokens {\nissuer https://id.example.com\naudience m\njwks_url http://id.example.com/jwks\nany_user\n}", 6, "jwks_url: must be https, except on loopback: over http, an attacker could replace the keys"},
	{"user_tokens {\nissuer https://id.example.com\naudience m\njwks_url https://id.example.com/jwks\n}", 3, "require_claim: missing; without it every user of the issuer could manage accounts (use any_user to allow that)"},
	{"user_tokens {\nissuer https://id.example.com\naudience m\njwks_url https://id.example.com/jwks\nany_user\nalgorithms RS265\n}", 8, `algorithms: "RS265" is not known; did you mean RS256? It is one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA`},
	{"user_tokens {\nissuer https://id.example.com\naudience m\njwks_url https://id.example.com/jwks\nany_user\nalgorithms HS256\n}", 8, "algorithms: HS256 is refused, because its key would be shared with the issuer"},
	{"user_tokens {\nlogin {\nclient_id a\nauthorize_url https://id.example.com/a\ntoken_url https://id.example.com/t\n}\n}", 4, "login: requires issuer, audience and jwks_url"},
	{"user_tokens {\nissuer https://id.example.com\naudience m\njwks_url https://id.example.com/jwks\nany_user\nlogin {\nclient_id a\ntoken_url https://id.example.com/t\n}\n}", 8, "authorize_url: missing"},
	{"user_tokens {\nissuer https://id.example.com\naudience m\njwks_url https://id.example.com/jwks\nany_user\nlogin {\nclient_id a\nauthorize_url http://id.example.com/a\ntoken_url https://id.example.com/t\n}\n}", 10, "authorize_url: must be https, except on loopback: anyone who intercepts the traffic could sign in"},
	{"user_tokens {\nlocal maybe\n}", 4, "local: it is on or off, not maybe"},
}

// mistakesInSites are written in a site, from line 9 on, beside a region "delaware".
var mistakesInSites = []mistake{
	{"maps_auth", 9, "maps_auth needs at least one scope"},
	{"maps_auth REVERSE_GEOCODING", 9, `unknown scope "REVERSE_GEOCODING": did you mean REVERSEGEOCODING? It is one of TILE, MATRIX, ONM, DIRECTION, TSS, GEOCODING, REVERSEGEOCODING; scopes of your own are declared with ` + "`scope` in the option `maps`"},
	{"maps_auth TILE *", 9, "maps_auth *: any scope is enough, so there can be no other"},
	{"maps_auth TILE {\napi_key_query\n}", 10, "api_key_query: wrong argument count; write api_key_query NAME..."},
	{"maps_auth TILE {\napi_key_query \"\"\n}", 10, `api_key_query: "" cannot be the name of a parameter`},
	{"maps_auth TILE {\napi_key_query a b a\n}", 10, `api_key_query: "a" is named twice`},
	{"maps_tokens {\ncors app.example.com\n}", 10, `cors: "app.example.com" is not an origin like https://app.example.com, or *`},
	{"maps_auth TILE {\napi_key_qeury apiKey\n}", 10, "unknown option of maps_auth: api_key_qeury; did you mean api_key_query? It is one of api_key_query, error_style, forward_token, cors, units, limit"},
	{"maps_auth TILE {\nerror_style route\n}", 10, `error_style: "route" is not known; it is platform or routing`},
	{"maps_auth TILE {\ncors https://app.example.com/\n}", 10, `cors: "https://app.example.com/" is not an origin, which has neither a path nor a slash at its end; write https://app.example.com`},
	{"maps_auth TILE {\ncors app.example.com\n}", 10, `cors: "app.example.com" is not an origin like https://app.example.com, or *`},
	{"maps_auth TILE {\nunits X-Elements\n}", 10, `units: "X-Elements" is not a placeholder, such as {http.response.header.X-Matrix-Elements}`},
	{"maps_auth TILE {\nforward_token {\non\n}\n}", 10, "forward_token takes no block"},
	{"maps_auth TILE {\nerror_style routing\nerror_style routing\n}", 11, "error_style may appear only once in maps_auth; it is already in line 10"},
	{"maps_tokens TILE", 9, `maps_tokens: unexpected argument "TILE"`},
	{"maps_tokens {\nprefix api/v1\n}", 10, `prefix: "api/v1" does not begin with a slash`},
	{"maps_tokens {\nprefix /api/v1/*\n}", 10, `prefix: "/api/v1/*" is not a plain path; wildcards, placeholders and percent-encoding belong in matchers`},
	{"maps_tokens {\nrefresh_rotation on\n}", 10, "refresh_rotation: wrong argument count; write refresh_rotation"},
	{"maps_acounts", 0, "Caddyfile:9: unrecognized directive: maps_acounts"},
	{"maps_accounts {\nadmin_access_tokens no\n}", 10, "admin_access_tokens: it is on or off, not no"},
	{"maps_geocode", 9, "maps_geocode needs at least one geocoder"},
	{"maps_geocode {\ngeocoder lokal delaware\n}", 10, `geocoder: "lokal" is not known; did you mean local? It is one of local, nominatim, photon`},
	{"maps_geocode {\ngeocoder local delawre\n}", 10, `geocoder: there is no region "delawre": did you mean delaware?`},
	{"maps_geocode {\ngeocoder local delaware\nsimple /v2/search/geocode\n}", 11, `simple: "/v2/search/geocode" is the path of the endpoint itself`},
	{"maps_geocode {\ngeocoder local delaware\nlimit 5\n}", 11, "unknown option of maps_geocode: limit; it is one of prefix, simple, geocoder, public"},
	{"maps_reverse_geocode", 9, "maps_reverse_geocode needs at least one geocoder"},
	{"maps_photon", 9, "maps_photon needs at least one geocoder"},
	{"maps_nominatim {\ngeocoder local delawre\n}", 10, `geocoder: there is no region "delawre": did you mean delaware?`},
	{"maps_photon {\nprefix photon*\ngeocoder local delaware\n}", 10, `prefix: "photon*" does not begin with a slash`},
	{"maps_nominatim {\ngeocoder local delaware\nradius 5\n}", 11, "unknown option of maps_nominatim: radius; it is one of prefix, geocoder, public"},
	{"maps_reverse_geocode {\ngeocoder lokal delaware\n}", 10, `geocoder: "lokal" is not known; did you mean local? It is one of local, nominatim, photon`},
	{"maps_reverse_geocode {\ngeocoder local\n}", 10, "geocoder local needs the name of at least one region"},
	{"maps_reverse_geocode {\ngeocoder local delawre\n}", 10, `geocoder: there is no region "delawre": did you mean delaware?`},
	{"maps_reverse_geocode {\ngeocoder local delaware\nmax_distance 1000km\n}", 11, `max_distance: "1000km" is not a positive number of metres`},
	{"maps_reverse_geocode {\ngeocoder local delaware\nmax_distance 200000\n}", 11, "max_distance: 200000 is not more than 0 and at most 100000 metres"},
	{"maps_reverse_geocode {\ngeocoder local delaware\ncoverage /v2/search/reverse-geocoding\n}", 11, `coverage: "/v2/search/reverse-geocoding" is the path of the endpoint itself`},
	{"maps_reverse_geocode {\ngeocoder photon http://127.0.0.1:2322 {\ngeometry yes\n}\n}", 11, "geometry: it is on or off, not yes"},
	{"maps_match {\nmax_points 100\n}", 9, "maps_match needs at least one matcher"},
	{"maps_match {\nmatcher osmr http://127.0.0.1:5000\n}", 10, `matcher: "osmr" is not known; did you mean osrm? It is one of local, osrm, valhalla`},
	{"maps_match {\nmatcher osrm\n}", 10, "matcher osrm: at least one upstream is needed, such as http://10.0.0.5:5000"},
	{"maps_match {\nmatcher osrm http://127.0.0.1:5000 {\nprofile lorry\n}\n}", 11, `profile: "lorry" does not tell whom it is for: write lorry car, bicycle or foot`},
	{"maps_match {\nmatcher osrm http://127.0.0.1:5000 {\ntiemout 5s\n}\n}", 11, "unknown option of matcher osrm: tiemout; did you mean timeout?"},
	{"maps_match {\nmatcher osrm http://127.0.0.1:5000 {\nhandle_response {\nrespond x\n}\n}\n}", 11, "handle_response cannot be used with matcher osrm: its responses are read here"},
	{"maps_match {\nmatcher local delaware\nmax_radius 10000\n}", 11, "max_radius: 10000 is not more than 0 and at most 5000 metres"},
	{"maps_match {\nmatcher local delaware\nprofile plane\n}", 11, `profile: "plane" is not known; there are car, bicycle, foot`},
	{"maps_match {\nmatcher local delaware\nprofile car car\n}", 11, "profile: car is listed twice"},
	{"maps_match {\nmatcher osrm http://127.0.0.1:5000\nprofile car foot\n}", 11, "profile: none of the matchers answers for foot"},
	{"maps_tiles", 9, "maps_tiles needs the name of at least one region"},
	{"maps_tiles delaware texas", 9, `there is no region "texas": it can only be delaware`},
	{"maps_tiles delaware {\ncache 10KiB\n}", 10, "cache: 10 KiB is less than 1.0 MiB"},
	{"maps_playground", 9, "maps_playground needs the name of a region"},
	{"maps_playground texas", 9, `there is no region "texas": it can only be delaware`},
	{"maps_playground delaware {\npublic\n}", 10, "public: there is no guest account that could be used from other machines"},
	{"maps_playground delaware {\nguest 42\n}", 10, `guest: "42" is not the id of an account, which begins with sa_ and has 25 characters`},
	{"maps_console delaware", 9, `maps_console: unexpected argument "delaware"`},
	{"maps_docs {\ntitle x\n}", 10, "unknown option of maps_docs: title; it can only be prefix"},
	{"maps_health {\nprefix /healthz\n}", 10, "unknown option of maps_health: prefix; it has none"},
	{"@a maps_region\nrespond @a x", 0, "maps_region needs the name of a region, or bounds, at Caddyfile:9"},
	{"maps_playground delaware {\nprofile lorry\n}", 10, `profile: "lorry" is not known; there are car, bicycle, foot`},
	{"maps_playground delaware {\ntiles tiles\n}", 10, `tiles: "tiles" does not begin with a slash`},
	{"maps_match {\nmatcher local delaware {\nprofile car\n}\n}", 11, "unknown option of matcher local: profile; it has none"},
	{"maps_match {\nmatcher valhalla http://127.0.0.1:8002 {\nways maybe\n}\n}", 11, "ways: it is on or off, not maybe"},
	{"maps_match {\nmatcher local delaware\nmax_points 1\n}", 11, "max_points: 1 is not between 2 and 1000000"},
	{"maps_match {\nmatcher local delaware\nmax_body 8 MiB\n}", 11, "max_body: wrong argument count; write max_body SIZE"},
	{"maps_reverse_geocode {\ngeocoder nominatim 127.0.0.1:8080 {\nzoom 18\n}\n}", 11, "unrecognized subdirective zoom"},
	{"maps_reverse_geocode {\ngeocoder nominatim\n}", 10, "geocoder nominatim: at least one upstream is needed, such as http://10.0.0.5:5000"},
	{"maps_tiles delaware {\nmax_zoom 20\n}", 10, "max_zoom: 20 is not a whole number from 0 to 16"},
	{"maps_tiles delaware {\npublic true\n}", 10, "public: wrong argument count; write public"},
	{"@a maps_region 1,2,3\nrespond @a x", 0, "maps_region 1,2,3: bounds are four numbers: south,west,north,east, at Caddyfile:9"},
}

// structureMistakes are whole Caddyfiles.
var structureMistakes = []mistake{
	{"{\nmaps {\nissuer a\n}\nmaps {\nissuer b\n}\n}", 0, "parsing caddyfile tokens for 'maps': maps may appear only once; write all of its options in one block, at Caddyfile:5"},
	{"{\nmaps {\nissuer a\n}\n\n:9 {\nmaps_health\n}", 0, "Caddyfile:6: unrecognized global option: :9"},
	{":9 {\nmaps_docs {\nprefix /x\n\nmaps_health\n}", 0, "parsing caddyfile tokens for 'maps_docs': unknown option of maps_docs: maps_health; it can only be prefix; is a closing brace missing above?, at Caddyfile:5"},
	{":9 {\nmaps {\nissuer a\n}\n}", 0, "Caddyfile:2: unrecognized directive: maps"},
	{"{\nmaps_tiles delaware\n}", 0, "Caddyfile:2: unrecognized global option: maps_tiles"},
	{":9 {\nregion delaware x.region\n}", 0, "Caddyfile:2: unrecognized directive: region"},
	{":9\nmaps_tokens\n\n:10\nmaps_health", 0, "Caddyfile:4: unrecognized directive: :10\nDid you mean to define a second site? If so, you must use curly braces around each site to separate their configurations."},
	{":9 {\nmaps_tiles delaware\n}", 0, "parsing caddyfile tokens for 'maps_tiles': there is no region \"delaware\": the maps app has no regions, at Caddyfile:2"},
	{":9 {\nmaps_auth /tiles/*\n}", 0, "parsing caddyfile tokens for 'maps_auth': maps_auth needs at least one scope, at Caddyfile:2"},
	{":9 {\nlog {\nformat filter {\nrequest maps_redact apiKey {\nmax_length 10\n}\n}\n}\n}", 0, "parsing caddyfile tokens for 'log': max_length: 10 is not between 64 and 65536 bytes, at Caddyfile:5"},
	// Caddy adds the end of the enclosing block.
	{":9 {\nhandle {\nmaps_auth TIEL\n}\n}", 0, "parsing caddyfile tokens for 'handle': parsing caddyfile tokens for 'maps_auth': unknown scope \"TIEL\": did you mean TILE? It is one of TILE, MATRIX, ONM, DIRECTION, TSS, GEOCODING, REVERSEGEOCODING; scopes of your own are declared with `scope` in the option `maps`, at Caddyfile:3, at Caddyfile:4"},
}

// lateMistakes are found only when a configuration is loaded. Caddy puts in front in which modules.
var lateMistakes = []struct {
	maps, site string
	line       int
	want       string
}{
	{"key_encryption_key {env.MAPS_TEST_MISSING}", "", 3, "key_encryption_key: {env.MAPS_TEST_MISSING} is empty; set the environment variable MAPS_TEST_MISSING"},
	{"key_encryption_key {file./nowhere/kek}", "", 3, "key_encryption_key: {file./nowhere/kek} is empty; the file /nowhere/kek is missing, unreadable or empty"},
	{"max_stale 1m\nkey_encryption_key {env.MAPS_TEST_SHORT}", "", 4, "key_encryption_key: has 5 bytes, but AES-256 needs 32"},
	{"issuer {MAPS_TEST_MISSING}", "", 3, "issuer: {MAPS_TEST_MISSING} has no value here; use {env.NAME} or {file./path/to/file}"},
	{"region delaware {env.MAPS_TEST_MISSING}", "", 3, "region delaware: path: {env.MAPS_TEST_MISSING} is empty; set the environment variable MAPS_TEST_MISSING"},
	{"region delaware https://files.example.com/a.region {\nheader X-Token {env.MAPS_TEST_MISSING}\n}", "", 4, "region delaware: header: X-Token: {env.MAPS_TEST_MISSING} is empty; set the environment variable MAPS_TEST_MISSING"},
	{"region delaware delaware.region\nregion dover missing.region", "", 4, "region dover: stat DIR/missing.region: no such file or directory; make it with `caddy maps build EXTRACT --output DIR/missing.region`, or write `awaited` if it comes later"},
	{"region delaware renamed.region", "", 3, "region delaware: DIR/renamed.region is not a region file of caddy-maps; replace it, or make it with `caddy maps build EXTRACT --output DIR/renamed.region`"},
	{"region delaware later.region", "", 3, "region delaware: DIR/later.region was made by a newer version (region format 9, not 1): update caddy-maps, or compile it again with caddy maps build; replace it, or make it with `caddy maps build EXTRACT --output DIR/later.region`"},
	{"region delaware damaged.region", "", 3, "region delaware: DIR/damaged.region is damaged: its header does not match its checksum; replace it, or make it with `caddy maps build EXTRACT --output DIR/damaged.region`"},
	{"region delaware short.region", "", 3, "region delaware: DIR/short.region is truncated: it ends in its header; replace it, or make it with `caddy maps build EXTRACT --output DIR/short.region`"},
	{"store sqlite .", "", 3, "store sqlite: path . is a directory; name a file in it"},
	{"store postgres {env.MAPS_TEST_MISSING}", "", 3, "store postgres: connection string: {env.MAPS_TEST_MISSING} is empty; set the environment variable MAPS_TEST_MISSING"},
	{"user_tokens {\nissuer {env.MAPS_TEST_MISSING}\naudience m\njwks_url https://id.example.com/jwks\nany_user\n}", "", 4, "user_tokens: issuer: {env.MAPS_TEST_MISSING} is empty; set the environment variable MAPS_TEST_MISSING"},
	{"", "@a maps_region texas\nrespond @a x", 9, `maps_region: there is no region "texas": it can only be delaware`},
	{"", "handle_path /tiles/* {\nmaps_tiles delaware\n}", 10, "prefix: handle_path removes /tiles from the path, so no request would reach /tiles; write `prefix /`, or handle instead of handle_path"},
	{"", "handle_path /api/* {\nmaps_tokens\n}", 10, "prefix: handle_path removes /api from the path, so no request would reach /api/v1/external; write `prefix /v1/external`, or handle instead of handle_path"},
	{"", "handle_path /maps* {\nhandle_path /console* {\nmaps_console\n}\n}", 11, "prefix: handle_path removes /console from the path, so no request would reach /console; write `prefix /`, or handle instead of handle_path"},
	{"", "handle_path /v2/search/* {\nmaps_geocode {\ngeocoder local delaware\n}\n}", 10, "prefix: handle_path removes /v2/search from the path, so no request would reach /v2/search/geocode; write `prefix /geocode`, or handle instead of handle_path"},
	{"", "handle_path /v2/search/* {\nmaps_reverse_geocode {\nprefix /reverse-geocoding\ngeocoder local delaware\n}\n}", 10, "coverage: handle_path removes /v2/search from the path, so no request would reach /v2/search/coverage; write `coverage /coverage`, or handle instead of handle_path"},
	{"", "handle_path /docs/* {\nmaps_docs\n}\nmaps_docs {\nprefix /more\n}", 0, "prefix: handle_path removes /docs from the path, so no request would reach /docs; write `prefix /`, or handle instead of handle_path, at Caddyfile:10 or Caddyfile:12"},
}

// mistakesInJSON are those that a Caddyfile cannot have: {app, first handler, error}.
var mistakesInJSON = []struct{ maps, handler, want string }{
	{`{"regionz":{}}`, "", "maps: regionz: unknown field; did you mean regions? It is one of issuer, audience, store, signing_algorithm, key_encryption_key, key_rotation, access_token_ttl, refresh_token_ttl, max_grants, max_accounts, max_stale, max_bodies_in_flight, max_wait, regions, scopes, user_tokens, usage"},
	{`{"Issuer":"a"}`, "", "maps: Issuer: unknown field; did you mean issuer? It is one of issuer, audience, store, signing_algorithm, key_encryption_key, key_rotation, access_token_ttl, refresh_token_ttl, max_grants, max_accounts, max_stale, max_bodies_in_flight, max_wait, regions, scopes, user_tokens, usage"},
	{`{"regions":{"delaware":{"path":"a.region","refesh":"1h"}}}`, "", "maps: regions.delaware.refesh: unknown field; did you mean refresh? It is one of path, awaited, refresh, cache_dir, header, timeout, max_size, wait"},
	{`{"user_tokens":{"require_claim":{"nam":"role"}}}`, "", "maps: user_tokens.require_claim.nam: unknown field; did you mean name? It is one of name, value"},
	{`{"regions":["delaware.region"]}`, "", "maps: regions: must be an object, in braces"},
	{`{"regions":{"delaware":"delaware.region"}}`, "", "maps: regions.delaware: must be an object, in braces"},
	{`{"regions":{"delaware":null}}`, "", "region delaware: path: missing"},
	{`{"regions":{"":{"path":"a.region"}}}`, "", `"" is not a name for a region: it must have none of / \ { % ? #, and not end like a file`},
	{`{"access_token_ttl":"soon"}`, "", `maps: access_token_ttl: must be a duration, such as "90s", "15m", "12h" or "30d"`},
	{`{"access_token_ttl":true}`, "", `maps: access_token_ttl: must be a duration, such as "90s", "15m", "12h" or "30d"`},
	{`{"usage":{"days":[]}}`, "", `maps: usage.days: must be a duration, such as "90s", "15m", "12h" or "30d"`},
	{`{"max_grants":"many"}`, "", "maps: max_grants: must be a whole number, without quotes"},
	{`{"max_grants":1.5}`, "", "maps: max_grants: must be a whole number, without quotes"},
	{`{"user_tokens":{"any_user":"yes"}}`, "", "maps: user_tokens.any_user: must be true or false, without quotes"},
	{`{"user_tokens":{"algorithms":"RS256"}}`, "", "maps: user_tokens.algorithms: must be a list, in brackets"},
	{`{"issuer":7}`, "", "maps: issuer: must be a text in quotes"},
	{`{"store":"sqlite"}`, "", "maps: store: must be an object, in braces"},
	{`{"store":{"path":"a.db"}}`, "", "maps: store.module: must name a module; it is one of postgres, sqlite"},
	{`{"store":{"module":"sqlit"}}`, "", `maps: store.module: "sqlit" is not known; did you mean sqlite? It is one of postgres, sqlite`},
	{`{"store":{"module":"sqlite","pth":"a.db"}}`, "", "maps.stores.sqlite: pth: unknown field; did you mean path?"},
	{`[]`, "", "maps: must be an object, in braces"},
	{"", `{"handler":"maps_auth","scope":["TILE"]}`, "http.handlers.maps_auth: scope: unknown field; did you mean scopes? It is one of scopes, api_key_query, error_style, forward_token, cors, units, limit"},
	{"", `{"handler":"maps_auth","scopes":"TILE"}`, "http.handlers.maps_auth: scopes: must be a list, in brackets"},
	{"", `{"handler":"maps_auth","scopes":["TILE",7]}`, "http.handlers.maps_auth: scopes.1: must be a text in quotes"},
	{"", `{"handler":"maps_auth"}`, "maps_auth needs at least one scope"},
	{"", `{"handler":"maps_tiles","region":"delaware"}`, "http.handlers.maps_tiles: region: unknown field; did you mean regions? It is one of regions, prefix, max_zoom, cache, public"},
	{"", `{"handler":"maps_tiles","regions":["delaware"],"max_zoom":300}`, "http.handlers.maps_tiles: max_zoom: must be a whole number, without quotes"},
	{"", `{"handler":"maps_tiles","regions":["texas"]}`, `there is no region "texas": it can only be delaware`},
	{"", `{"handler":"maps_health","prefix":"/healthz"}`, "http.handlers.maps_health: prefix: unknown field; there is none"},
	{"", `{"handler":"maps_match","matchers":{"source":"local"}}`, "http.handlers.maps_match: matchers: must be a list, in brackets"},
	{"", `{"handler":"maps_match","matchers":[{"regions":["delaware"]}]}`, "http.handlers.maps_match: matchers.0.source: must name a module; it is one of local, osrm, valhalla"},
	{"", `{"handler":"maps_match","matchers":[{"source":"local","regions":["delaware"]},{"source":"osmr"}]}`, `http.handlers.maps_match: matchers.1.source: "osmr" is not known; did you mean osrm? It is one of local, osrm, valhalla`},
	{"", `{"handler":"maps_match","matchers":[{"source":"osrm","max_cals":1}]}`, "maps.matchers.osrm: max_cals: unknown field; did you mean max_calls? It is one of reverse_proxy, timeout, max_response, max_in_flight, max_calls, profile, answers_for, gaps"},
	{"", `{"handler":"maps_match","matchers":[{"source":"osrm","reverse_proxy":{"upstream":[]}}]}`, "matcher osrm: reverse_proxy: upstream: unknown field; did you mean upstreams? It is one of transport, circuit_breaker, load_balancing, health_checks, upstreams, dynamic_upstreams, flush_interval, trusted_proxies, headers, request_buffers, response_buffers, proxy_status_name, stream_timeout, stream_buffer_size, stream_close_delay, rewrite, handle_response, verbose_logs"},
	{"", `{"handler":"maps_match","matchers":[{"source":"osrm","reverse_proxy":{"upstreams":[{"dail":"127.0.0.1:5000"}]}}]}`, "matcher osrm: reverse_proxy: upstreams.0.dail: unknown field; did you mean dial? It is one of dial, max_requests"},
	{"", `{"handler":"maps_match","matchers":[{"source":"osrm","reverse_proxy":{"upstreams":[{"dial":"127.0.0.1:5000"}],"transport":{"protocol":"htp"}}}]}`, `matcher osrm: reverse_proxy: transport.protocol: "htp" is not known; did you mean http? It is one of fastcgi, http`},
	{"", `{"handler":"maps_reverse_geocode","geocoders":[{"source":"local","regions":["delaware"]}],"max_distance":"1km"}`, "http.handlers.maps_reverse_geocode: max_distance: must be a number, without quotes"},
	{"", `{"handler":"maps_geocode"}`, "maps_geocode needs at least one geocoder"},
	{"", `{"handler":"maps_reverse_geocode"}`, "maps_reverse_geocode needs at least one geocoder"},
}

// faulty is a whole Caddyfile with a mistake.
func faulty(maps, site string) string {
	if maps == "" {
		maps = "region delaware delaware.region"
	}
	return "{\n\tmaps {\n" + maps + "\n\t}\n\tadmin off\n}\n\n:9 {\n" + site + "\n}\n"
}

// load reads a Caddyfile and provisions the configuration, as `caddy validate` does. The admin API escapes angle
// brackets, so no error may have any.
func load(t *testing.T, text string) string {
	t.Helper()
	adapted, err := modulestest.Adapt(text)
	if err == nil {
		var config caddy.Config
		if err = caddy.StrictUnmarshalJSON(adapted, &config); err == nil {
			err = caddy.Validate(&config)
		}
	}
	return complaint(t, err)
}

func complaint(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return "no error"
	}
	if strings.ContainsAny(err.Error(), "<>") {
		t.Errorf("the error has an angle bracket: %v", err)
	}
	return err.Error()
}

func TestMistakesInCaddyfile(t *testing.T) {
	t.Chdir(t.TempDir())
	check := func(m mistake, directive, caddyfile string) {
		t.Helper()
		want := m.want
		if m.line > 0 {
			want = fmt.Sprintf("parsing caddyfile tokens for '%s': %s, at Caddyfile:%d", directive, want, m.line)
		}
		if got := load(t, caddyfile); got != want {
			t.Errorf("%s\n got %s\nwant %s", m.text, got, want)
		}
	}
	for _, m := range mistakesInMaps {
		check(m, "maps", faulty(m.text, ""))
	}
	for _, m := range mistakesInSites {
		check(m, strings.Fields(m.text)[0], faulty("", m.text))
	}
	for _, m := range structureMistakes {
		check(m, "", m.text)
	}
}

// regionFiles makes the region delaware.region, and files that are none or of which something is wrong.
func regionFiles(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	good := filepath.Join(dir, "delaware.region")
	modulestest.BuildRegion(t, good, modulestest.Village)
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	later, damaged := slices.Clone(content), slices.Clone(content)
	later[8], damaged[20] = 9, damaged[20]+1 // the format's version, and the size of the file
	for name, content := range map[string][]byte{"renamed.region": []byte("\x00\x00\x00\x0d\x0a\x09OSMHeader\x18"),
		"later.region": later, "damaged.region": damaged, "short.region": content[:100]} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestMistakesFoundWhenLoading(t *testing.T) {
	dir := regionFiles(t)
	t.Chdir(dir)
	t.Setenv("MAPS_TEST_SHORT", "c2hvcnQ=")
	for _, m := range lateMistakes {
		want := m.want
		if m.line > 0 {
			want += fmt.Sprintf(", at Caddyfile:%d", m.line)
		}
		got := strings.ReplaceAll(load(t, faulty(m.maps, m.site)), dir, "DIR")
		if !strings.HasSuffix(got, ": "+want) || strings.Count(got, " at Caddyfile") != 1 {
			t.Errorf("%s%s\n got %s\nwant %s", m.maps, m.site, got, want)
		}
	}
	// These start, so they are no mistakes.
	for _, maps := range []string{
		"region delaware delaware.region", "region delaware missing.region {\nawaited\n}",
		"region delaware http://127.0.0.1:1/delaware.region {\nwait 1h\n}",
	} {
		if got := load(t, faulty(maps, "handle_path /maps/* {\nmaps_tiles delaware\n}")); got != "no error" {
			t.Errorf("%s: %s", maps, got)
		}
	}
	// JSON has no lines, and the Caddyfiles that this process has adapted are of other tests.
	if err := validate(`{"issuer":"{env.MAPS_TEST_MISSING}"}`); strings.Contains(complaint(t, err), " at ") {
		t.Error(err)
	}
}

func TestMistakesInJSON(t *testing.T) {
	options.Forget() // the Caddyfiles of other tests
	t.Chdir(regionFiles(t))
	for _, m := range mistakesInJSON {
		maps, handler := cmp.Or(m.maps, `{"regions":{"delaware":{"path":"delaware.region"}}}`), cmp.Or(m.handler, `{"handler":"maps_health"}`)
		var config caddy.Config
		err := caddy.StrictUnmarshalJSON([]byte(`{"admin":{"disabled":true},"apps":{"maps":`+maps+`,"http":{"servers":{"a":{"listen":[":9"],`+
			`"routes":[{"handle":[`+handler+`]}]}}}}}`), &config)
		if err == nil {
			err = caddy.Validate(&config)
		}
		if got := complaint(t, err); !strings.HasSuffix(": "+got, ": "+m.want) {
			t.Errorf("%s%s\n got %s\nwant %s", m.maps, m.handler, got, m.want)
		}
	}
}

// Every module says where in its JSON a mistake is.
func TestModulesNameUnknownFields(t *testing.T) {
	checked := 0
	for _, id := range caddy.Modules() {
		info, err := caddy.GetModule(id)
		if err != nil {
			t.Fatal(err)
		}
		module := info.New()
		path := reflect.Indirect(reflect.ValueOf(module)).Type().PkgPath()
		if !strings.HasPrefix(path, "github.com/mapsedge/caddy-maps/") || strings.HasSuffix(path, "_test") ||
			info.ID.Namespace() == "admin.api" { // it is loaded without JSON
			continue
		}
		checked++
		const want = "no_such_field: unknown field; "
		if err := caddy.StrictUnmarshalJSON([]byte(`{"no_such_field":1}`), &module); !strings.HasPrefix(complaint(t, err), want) {
			t.Errorf("%s lacks UnmarshalJSON with options.Decode: %v", id, err)
		}
	}
	if checked < 20 {
		t.Errorf("only %d modules", checked)
	}
}
