package caddymaps_test

// mistakes are what people write, and what Caddy says of it: what was written, what may be, the file and the line.
var mistakes = []mistake{
	{maps: "access_token_ttl 30d",
		want: "parsing caddyfile tokens for 'maps': access_token_ttl: 720h is not between 1s and 24h, at " +
			"Caddyfile:3"},
	{maps: "access_token_ttl soon",
		want: `parsing caddyfile tokens for 'maps': access_token_ttl: "soon" is not a duration, such as 90s, ` +
			"15m, 12h or 30d, at Caddyfile:3"},
	{maps: "access_token_ttl 0s",
		want: "parsing caddyfile tokens for 'maps': access_token_ttl: a duration must be positive, not 0s, at " +
			"Caddyfile:3"},
	{maps: "access_token_ttl",
		want: "parsing caddyfile tokens for 'maps': access_token_ttl: wrong argument count; write " +
			"access_token_ttl DURATION, at Caddyfile:3"},
	{maps: "access_token_tll 15m",
		want: "parsing caddyfile tokens for 'maps': unknown option of maps: access_token_tll; did you mean " +
			"access_token_ttl? It is one of issuer, audience, store, signing_algorithm, key_encryption_key, " +
			"key_rotation, access_token_ttl, refresh_token_ttl, max_grants, max_accounts, " +
			"max_stale, max_bodies_in_flight, max_wait, region, usage, user_tokens, at Caddyfile:3"},
	{maps: "refresh_token_ttl 5m",
		want: "parsing caddyfile tokens for 'maps': refresh_token_ttl: 5m is shorter than access_token_ttl, " +
			"15m, at Caddyfile:3"},
	{maps: "key_rotation 1m",
		want: "parsing caddyfile tokens for 'maps': key_rotation: 1m is less than 1h, at Caddyfile:3"},
	{maps: "signing_algorithm RS256",
		want: `parsing caddyfile tokens for 'maps': signing_algorithm: "RS256" is not known; did you mean ` +
			"ES256? It is one of EdDSA, ES256, at Caddyfile:3"},
	{maps: "signing_algorithm ed25519",
		want: `parsing caddyfile tokens for 'maps': signing_algorithm: "ed25519" is not known; it is one of ` +
			"EdDSA, ES256, at Caddyfile:3"},
	{maps: "signing_algorithm es256",
		want: `parsing caddyfile tokens for 'maps': signing_algorithm: "es256" is not known; did you mean ` +
			"ES256? It is one of EdDSA, ES256, at Caddyfile:3"},
	{maps: "key_encryption_key MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
		want: "parsing caddyfile tokens for 'maps': key_encryption_key: a key written into the configuration " +
			"is refused, because Caddy shows and saves its configuration; use {file./path/to/key} or " +
			"{env.NAME}, at Caddyfile:3"},
	{maps: "max_bodies_in_flight 1KiB",
		want: "parsing caddyfile tokens for 'maps': max_bodies_in_flight: 1.0 KiB is less than 1.0 MiB, at " +
			"Caddyfile:3"},
	{maps: "max_bodies_in_flight lots",
		want: `parsing caddyfile tokens for 'maps': max_bodies_in_flight: "lots" is not a positive size, such ` +
			"as 256MiB, at Caddyfile:3"},
	{maps: "max_wait -2s",
		want: "parsing caddyfile tokens for 'maps': max_wait: a duration must be positive, not -2s, at " +
			"Caddyfile:3"},
	{maps: "max_wait 2s\nmax_wait 3s",
		want: "parsing caddyfile tokens for 'maps': max_wait may stand only once in maps, and stands in line " +
			"3 already, at Caddyfile:4"},
	{maps: "issuer a b",
		want: "parsing caddyfile tokens for 'maps': issuer: wrong argument count; write issuer NAME, at " +
			"Caddyfile:3"},
	{maps: "issuer {",
		want: "parsing caddyfile tokens for 'maps': issuer: wrong argument count; write issuer NAME, at " +
			"Caddyfile:3"},
	{maps: `issuer ""`,
		want: "parsing caddyfile tokens for 'maps': issuer: the value is empty, at Caddyfile:3"},
	{maps: "store sqlit accounts.db",
		want: `parsing caddyfile tokens for 'maps': store: "sqlit" is not known; did you mean sqlite? It is one ` +
			"of postgres, sqlite, at Caddyfile:3"},
	{maps: "store sqlite a.db b.db",
		want: `parsing caddyfile tokens for 'maps': store sqlite: unexpected argument "b.db", at Caddyfile:3`},
	{maps: "store sqlite a.db {\nmode 0600\n}",
		want: "parsing caddyfile tokens for 'maps': unknown option of store sqlite: mode; it has none, at " +
			"Caddyfile:4"},
	{maps: "store postgres",
		want: "parsing caddyfile tokens for 'maps': store postgres needs a connection string, such as " +
			"{env.MAPS_DATABASE_URL}, at Caddyfile:3"},
	{maps: "store postgres mysql://maps@db/maps",
		want: "parsing caddyfile tokens for 'maps': store postgres: the connection string begins with " +
			"mysql://, not with postgres://, at Caddyfile:3"},
	{maps: "store postgres host=db user=maps",
		want: "parsing caddyfile tokens for 'maps': store postgres takes one connection string; put one with " +
			"spaces into quotes, at Caddyfile:3"},
	{maps: "store postgres postgres://maps:hunter2@db/maps",
		want: "parsing caddyfile tokens for 'maps': store postgres: a password written into the configuration " +
			"is refused, because Caddy shows and saves its configuration; use {env.NAME} for the whole " +
			"connection string, or the option password with {file./path/to/password}, at Caddyfile:3"},
	{maps: "store postgres postgres://maps@db/maps {\npassword hunter2\n}",
		want: "parsing caddyfile tokens for 'maps': password: a password written into the configuration is " +
			"refused, because Caddy shows and saves its configuration; use {env.NAME} for the whole " +
			"connection string, or the option password with {file./path/to/password}, at Caddyfile:4"},
	{maps: "region delaware",
		want: "parsing caddyfile tokens for 'maps': region: wrong argument count; write region NAME " +
			"FILE|URL, at Caddyfile:3"},
	{maps: "region delaware delaware.osm.pbf",
		want: "parsing caddyfile tokens for 'maps': region delaware: delaware.osm.pbf is an extract; compile " +
			"it with `caddy maps build`, and name the region file that this writes, at Caddyfile:3"},
	{maps: "region delaware a.region\nregion delaware b.region",
		want: "parsing caddyfile tokens for 'maps': region: delaware is there already, at Caddyfile:4"},
	{maps: "region delaware a.region {\nrefresh 1h\n}",
		want: "parsing caddyfile tokens for 'maps': refresh: it is for regions that are fetched from a URL, " +
			"and a.region is a file of this machine, at Caddyfile:4"},
	{maps: "region delaware ftp://files.example.com/a.region",
		want: "parsing caddyfile tokens for 'maps': region delaware: a region is fetched by http or https, " +
			"not by ftp; let a gateway serve it, or copy it here and name the file, at Caddyfile:3"},
	{maps: "region delaware https://files.example.com/a.region {\nrefresh 1s\n}",
		want: "parsing caddyfile tokens for 'maps': refresh: 1s is less than 10s, at Caddyfile:4"},
	{maps: "region delaware https://files.example.com/a.region {\nheader Authorization secret\n}",
		want: "parsing caddyfile tokens for 'maps': header: Authorization: a password written into the " +
			"configuration is refused, because Caddy shows and saves its configuration; use {env.NAME} or " +
			"{file./path/to/file}, at Caddyfile:4"},
	{maps: "region delaware https://ann:hunter2@files.example.com/a.region",
		want: "parsing caddyfile tokens for 'maps': region delaware: a password written into the " +
			"configuration is refused, because Caddy shows and saves its configuration; use {env.NAME} or " +
			"{file./path/to/file}, at Caddyfile:3"},
	{maps: "usage {\nhours 12h\n}",
		want: "parsing caddyfile tokens for 'maps': hours: 12h is less than 25h, at Caddyfile:4"},
	{maps: "usage {\nmonths 12\n}",
		want: "parsing caddyfile tokens for 'maps': unknown option of usage: months; it is one of flush, " +
			"hours, days, at Caddyfile:4"},
	{maps: "user_tokens {\naudience m\njwks_url https://id.example.com/jwks\nany_user\n}",
		want: "parsing caddyfile tokens for 'maps': issuer: missing, at Caddyfile:3"},
	{maps: "user_tokens {\nissuer https://id.example.com\naudience m\n" +
		"jwks_url http://id.example.com/jwks\nany_user\n}",
		want: "parsing caddyfile tokens for 'maps': jwks_url: must be https, except on loopback: without it, " +
			"the keys could be replaced on their way, at Caddyfile:6"},
	{maps: "user_tokens {\nissuer https://id.example.com\naudience m\njwks_url https://id.example.com/jwks\n}",
		want: "parsing caddyfile tokens for 'maps': require_claim: missing; without it every user of the " +
			"issuer could manage accounts (write any_user if that is meant), at Caddyfile:3"},
	{maps: "user_tokens {\nissuer https://id.example.com\naudience m\n" +
		"jwks_url https://id.example.com/jwks\nany_user\nalgorithms RS265\n}",
		want: `parsing caddyfile tokens for 'maps': algorithms: "RS265" is not known; did you mean RS256? It ` +
			"is one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, at Caddyfile:8"},
	{maps: "user_tokens {\nissuer https://id.example.com\naudience m\n" +
		"jwks_url https://id.example.com/jwks\nany_user\nalgorithms HS256\n}",
		want: "parsing caddyfile tokens for 'maps': algorithms: HS256 is refused, because its key would be " +
			"both the issuer's and ours, at Caddyfile:8"},
	{maps: "user_tokens {\nlogin {\nclient_id a\nauthorize_url https://id.example.com/a\n" +
		"token_url https://id.example.com/t\n}\n}",
		want: "parsing caddyfile tokens for 'maps': login: needs the issuer, audience and jwks_url whose " +
			"tokens it gets, at Caddyfile:4"},
	{maps: "user_tokens {\nissuer https://id.example.com\naudience m\n" +
		"jwks_url https://id.example.com/jwks\nany_user\nlogin {\nclient_id a\n" +
		"token_url https://id.example.com/t\n}\n}",
		want: "parsing caddyfile tokens for 'maps': authorize_url: missing, at Caddyfile:8"},
	{maps: "user_tokens {\nissuer https://id.example.com\naudience m\n" +
		"jwks_url https://id.example.com/jwks\nany_user\nlogin {\nclient_id a\n" +
		"authorize_url http://id.example.com/a\ntoken_url https://id.example.com/t\n}\n}",
		want: "parsing caddyfile tokens for 'maps': authorize_url: must be https, except on loopback: whoever " +
			"reads along could sign in, at Caddyfile:10"},
	{maps: "user_tokens {\nlocal maybe\n}",
		want: "parsing caddyfile tokens for 'maps': local: it is on or off, not maybe, at Caddyfile:4"},
	{site: "maps_auth",
		want: "parsing caddyfile tokens for 'maps_auth': maps_auth needs at least one scope, at Caddyfile:9"},
	{site: "maps_auth REVERSE_GEOCODING",
		want: `parsing caddyfile tokens for 'maps_auth': unknown scope "REVERSE_GEOCODING": did you mean ` +
			"REVERSEGEOCODING? It is one of TILE, MATRIX, ONM, DIRECTION, TSS, GEOCODING, REVERSEGEOCODING, " +
			"at Caddyfile:9"},
	{site: "maps_auth tile",
		want: `parsing caddyfile tokens for 'maps_auth': unknown scope "tile": did you mean TILE? It is one ` +
			"of TILE, MATRIX, ONM, DIRECTION, TSS, GEOCODING, REVERSEGEOCODING, at Caddyfile:9"},
	{site: "maps_auth TILE {\napi_key_query\n}",
		want: "parsing caddyfile tokens for 'maps_auth': api_key_query: wrong argument count; write " +
			"api_key_query NAME..., at Caddyfile:10"},
	{site: "maps_auth TILE {\napi_key_query \"\"\n}",
		want: "parsing caddyfile tokens for 'maps_auth': api_key_query: \"\" cannot be the name of a parameter, at " +
			"Caddyfile:10"},
	{site: "maps_auth TILE {\napi_key_query a b a\n}",
		want: "parsing caddyfile tokens for 'maps_auth': api_key_query: \"a\" is named twice, at Caddyfile:10"},
	{site: "maps_tokens {\ncors app.example.com\n}",
		want: `parsing caddyfile tokens for 'maps_tokens': cors: "app.example.com" is not an origin like ` +
			"https://app.example.com, or *, at Caddyfile:10"},
	{site: "maps_auth TILE {\napi_key_qeury apiKey\n}",
		want: "parsing caddyfile tokens for 'maps_auth': unknown option of maps_auth: api_key_qeury; did you " +
			"mean api_key_query? It is one of api_key_query, error_style, forward_token, cors, units, at " +
			"Caddyfile:10"},
	{site: "maps_auth TILE {\napi_key_query apiKey&x\n}",
		want: `parsing caddyfile tokens for 'maps_auth': api_key_query: "apiKey&x" cannot be the name of a ` +
			"parameter, at Caddyfile:10"},
	{site: "maps_auth TILE {\nerror_style route\n}",
		want: `parsing caddyfile tokens for 'maps_auth': error_style: "route" is not known; it is platform or ` +
			"routing, at Caddyfile:10"},
	{site: "maps_auth TILE {\ncors https://app.example.com/\n}",
		want: `parsing caddyfile tokens for 'maps_auth': cors: "https://app.example.com/" is not an origin, ` +
			"which has neither a path nor a slash at its end; write https://app.example.com, at Caddyfile:10"},
	{site: "maps_auth TILE {\ncors app.example.com\n}",
		want: `parsing caddyfile tokens for 'maps_auth': cors: "app.example.com" is not an origin like ` +
			"https://app.example.com, or *, at Caddyfile:10"},
	{site: "maps_auth TILE {\ncors https://app.example.com/maps\n}",
		want: `parsing caddyfile tokens for 'maps_auth': cors: "https://app.example.com/maps" is not an ` +
			"origin, which has neither a path nor a slash at its end; write https://app.example.com, at " +
			"Caddyfile:10"},
	{site: "maps_auth TILE {\nunits X-Elements\n}",
		want: `parsing caddyfile tokens for 'maps_auth': units: "X-Elements" is no placeholder like ` +
			"{http.response.header.X-Matrix-Elements}, at Caddyfile:10"},
	{site: "maps_auth TILE {\nforward_token {\non\n}\n}",
		want: "parsing caddyfile tokens for 'maps_auth': forward_token takes no block, at Caddyfile:10"},
	{site: "maps_auth TILE {\nerror_style routing\nerror_style routing\n}",
		want: "parsing caddyfile tokens for 'maps_auth': error_style may stand only once in maps_auth, and " +
			"stands in line 10 already, at Caddyfile:11"},
	{site: "maps_tokens TILE",
		want: `parsing caddyfile tokens for 'maps_tokens': maps_tokens: unexpected argument "TILE", at ` +
			"Caddyfile:9"},
	{site: "maps_tokens {\nprefix api/v1\n}",
		want: `parsing caddyfile tokens for 'maps_tokens': prefix: "api/v1" does not begin with a slash, at ` +
			"Caddyfile:10"},
	{site: "maps_tokens {\nprefix /api/v1/*\n}",
		want: `parsing caddyfile tokens for 'maps_tokens': prefix: "/api/v1/*" is not a plain path; ` +
			"wildcards, placeholders and percent-encoding belong in matchers, at Caddyfile:10"},
	{site: "maps_tokens {\nrefresh_rotation on\n}",
		want: "parsing caddyfile tokens for 'maps_tokens': refresh_rotation: wrong argument count; write " +
			"refresh_rotation, at Caddyfile:10"},
	{site: "maps_acounts",
		want: "Caddyfile:9: unrecognized directive: maps_acounts"},
	{site: "maps_accounts {\nadmin_access_tokens no\n}",
		want: "parsing caddyfile tokens for 'maps_accounts': admin_access_tokens: it is on or off, not no, at " +
			"Caddyfile:10"},
	{site: "maps_reverse_geocode",
		want: "parsing caddyfile tokens for 'maps_reverse_geocode': maps_reverse_geocode needs at least one " +
			"geocoder, at Caddyfile:9"},
	{site: "maps_reverse_geocode {\ngeocoder lokal delaware\n}",
		want: `parsing caddyfile tokens for 'maps_reverse_geocode': geocoder: "lokal" is not known; did you ` +
			"mean local? It is one of local, nominatim, photon, at Caddyfile:10"},
	{site: "maps_reverse_geocode {\ngeocoder local\n}",
		want: "parsing caddyfile tokens for 'maps_reverse_geocode': geocoder local needs the name of at least " +
			"one region, at Caddyfile:10"},
	{site: "maps_reverse_geocode {\ngeocoder local delawre\n}",
		want: `parsing caddyfile tokens for 'maps_reverse_geocode': geocoder: there is no region "delawre": ` +
			"did you mean delaware?, at Caddyfile:10"},
	{site: "maps_reverse_geocode {\ngeocoder local delaware\nmax_distance 1000km\n}",
		want: `parsing caddyfile tokens for 'maps_reverse_geocode': max_distance: "1000km" is not a positive ` +
			"number of metres, at Caddyfile:11"},
	{site: "maps_reverse_geocode {\ngeocoder local delaware\nmax_distance 200000\n}",
		want: "parsing caddyfile tokens for 'maps_reverse_geocode': max_distance: 200000 is not more than 0 " +
			"and at most 100000 metres, at Caddyfile:11"},
	{site: "maps_reverse_geocode {\ngeocoder local delaware\ncoverage /v2/search/reverse-geocoding\n}",
		want: `parsing caddyfile tokens for 'maps_reverse_geocode': coverage: "/v2/search/reverse-geocoding" ` +
			"is the path of the endpoint itself, at Caddyfile:11"},
	{site: "maps_reverse_geocode {\ngeocoder photon http://127.0.0.1:2322 {\ngeometry yes\n}\n}",
		want: "parsing caddyfile tokens for 'maps_reverse_geocode': geometry: it is on or off, not yes, at Caddyfile:11"},
	{site: "maps_match {\nmax_points 100\n}",
		want: "parsing caddyfile tokens for 'maps_match': maps_match needs at least one matcher, at " +
			"Caddyfile:9"},
	{site: "maps_match {\nmatcher osmr http://127.0.0.1:5000\n}",
		want: `parsing caddyfile tokens for 'maps_match': matcher: "osmr" is not known; did you mean osrm? It ` +
			"is one of local, osrm, valhalla, at Caddyfile:10"},
	{site: "maps_match {\nmatcher osrm\n}",
		want: "parsing caddyfile tokens for 'maps_match': matcher osrm: at least one upstream is needed, such " +
			"as http://10.0.0.5:5000, at Caddyfile:10"},
	{site: "maps_match {\nmatcher osrm http://127.0.0.1:5000 {\nprofile lorry\n}\n}",
		want: `parsing caddyfile tokens for 'maps_match': profile: "lorry" does not tell whom it is for: ` +
			"write lorry car, bicycle or foot, at Caddyfile:11"},
	{site: "maps_match {\nmatcher osrm http://127.0.0.1:5000 {\ntiemout 5s\n}\n}",
		want: "parsing caddyfile tokens for 'maps_match': unknown option of matcher osrm: tiemout; did you " +
			"mean timeout?, at Caddyfile:11"},
	{site: "maps_match {\nmatcher osrm http://127.0.0.1:5000 {\ntimeout -5s\n}\n}",
		want: "parsing caddyfile tokens for 'maps_match': timeout: a duration must be positive, not -5s, at " +
			"Caddyfile:11"},
	{site: "maps_match {\nmatcher osrm http://127.0.0.1:5000 {\nhandle_response {\nrespond x\n}\n}\n}",
		want: "parsing caddyfile tokens for 'maps_match': handle_response cannot be used with matcher osrm: " +
			"its responses are read here, at Caddyfile:11"},
	{site: "maps_match {\nmatcher valhalla http://127.0.0.1:8002 {\nways maybe\n}\n}",
		want: "parsing caddyfile tokens for 'maps_match': ways: it is on or off, not maybe, at Caddyfile:11"},
	{site: "maps_match {\nmatcher local delaware\nmax_radius 10000\n}",
		want: "parsing caddyfile tokens for 'maps_match': max_radius: 10000 is not more than 0 and at most " +
			"5000 metres, at Caddyfile:11"},
	{site: "maps_match {\nmatcher local delaware\nmax_points 1\n}",
		want: "parsing caddyfile tokens for 'maps_match': max_points: 1 is not between 2 and 1000000, at " +
			"Caddyfile:11"},
	{site: "maps_match {\nmatcher local delaware\nmax_body 0\n}",
		want: `parsing caddyfile tokens for 'maps_match': max_body: "0" is not a positive size, such as ` +
			"256MiB, at Caddyfile:11"},
	{site: "maps_match {\nmatcher local delaware\nprofile plane\n}",
		want: `parsing caddyfile tokens for 'maps_match': profile: "plane" is not known; there are car, ` +
			"bicycle, foot, at Caddyfile:11"},
	{site: "maps_match {\nmatcher local delaware\nprofile car car\n}",
		want: "parsing caddyfile tokens for 'maps_match': profile: car stands there twice, at Caddyfile:11"},
	{site: "maps_match {\nmatcher osrm http://127.0.0.1:5000\nprofile car foot\n}",
		want: "parsing caddyfile tokens for 'maps_match': profile: none of the matchers answers for foot, at " +
			"Caddyfile:11"},
	{site: "maps_tiles",
		want: "parsing caddyfile tokens for 'maps_tiles': maps_tiles needs the name of at least one region, " +
			"at Caddyfile:9"},
	{site: "maps_tiles delaware texas",
		want: `parsing caddyfile tokens for 'maps_tiles': there is no region "texas": it can only be ` +
			"delaware, at Caddyfile:9"},
	{site: "maps_tiles delaware {\nmax_zoom 30\n}",
		want: "parsing caddyfile tokens for 'maps_tiles': max_zoom: 30 is not a whole number from 0 to 16, at " +
			"Caddyfile:10"},
	{site: "maps_tiles delaware {\ncache 10KiB\n}",
		want: "parsing caddyfile tokens for 'maps_tiles': cache: 10 KiB is less than 1.0 MiB, at Caddyfile:10"},
	{site: "maps_playground",
		want: "parsing caddyfile tokens for 'maps_playground': maps_playground needs the name of a region, at " +
			"Caddyfile:9"},
	{site: "maps_playground texas",
		want: `parsing caddyfile tokens for 'maps_playground': there is no region "texas": it can only be ` +
			"delaware, at Caddyfile:9"},
	{site: "maps_playground delaware {\npublic\n}",
		want: "parsing caddyfile tokens for 'maps_playground': public: there is no guest account that could " +
			"be used from other machines, at Caddyfile:10"},
	{site: "maps_playground delaware {\nguest a b\n}",
		want: "parsing caddyfile tokens for 'maps_playground': guest: wrong argument count; write guest " +
			"ACCOUNT_ID, at Caddyfile:10"},
	{site: "maps_playground delaware {\nguest 42\n}",
		want: `parsing caddyfile tokens for 'maps_playground': guest: "42" is not the id of an account, which ` +
			"begins with sa_ and has 25 characters, at Caddyfile:10"},
	{site: "maps_console delaware",
		want: `parsing caddyfile tokens for 'maps_console': maps_console: unexpected argument "delaware", at ` +
			"Caddyfile:9"},
	{site: "maps_docs {\ntitle x\n}",
		want: "parsing caddyfile tokens for 'maps_docs': unknown option of maps_docs: title; it can only be " +
			"prefix, at Caddyfile:10"},
	{site: "maps_health {\nprefix /healthz\n}",
		want: "parsing caddyfile tokens for 'maps_health': unknown option of maps_health: prefix; it has " +
			"none, at Caddyfile:10"},
	{site: "@a maps_region\nrespond @a x",
		want: "maps_region needs the name of a region, or bounds, at Caddyfile:9"},
	{site: "@a maps_region 1,2,3\nrespond @a x",
		want: "maps_region 1,2,3: bounds are four numbers: south,west,north,east, at Caddyfile:9"},
}

// What is known only when a configuration is loaded; Caddy says in front where it stands.
var lateMistakes = []mistake{
	{maps: "key_encryption_key {env.MAPS_TEST_MISSING}",
		want: "key_encryption_key: evaluated placeholder {env.MAPS_TEST_MISSING} is empty"},
	{maps: "key_encryption_key {env.MAPS_TEST_SHORT}",
		want: "key_encryption_key: holds 5 bytes, but AES-256 takes 32"},
	{maps: "issuer {env.MAPS_TEST_MISSING}",
		want: "issuer: evaluated placeholder {env.MAPS_TEST_MISSING} is empty"},
	{maps: "region delaware {env.MAPS_TEST_MISSING}",
		want: "region delaware: path: evaluated placeholder {env.MAPS_TEST_MISSING} is empty"},
	{maps: "store sqlite .",
		want: "store sqlite: path . is a directory; name a file in it"},
	{maps: "store postgres {env.MAPS_TEST_MISSING}",
		want: "store postgres: connection string: evaluated placeholder {env.MAPS_TEST_MISSING} is empty"},
	{maps: "user_tokens {\nissuer {env.MAPS_TEST_MISSING}\naudience m\n" +
		"jwks_url https://id.example.com/jwks\nany_user\n}",
		want: "user_tokens: issuer: evaluated placeholder {env.MAPS_TEST_MISSING} is empty"},
	{site: "@a maps_region texas\nrespond @a x",
		want: `maps_region: there is no region "texas": it can only be delaware`},
}

var mistypedCommands = map[string]string{
	"maps buld x": `Error: unknown command "buld" for "caddy maps"; did you mean build? It is one of backup, ` +
		"build, copy-store, health, info, match, reverse, rotate-keys, tiles, usage, user-token, verify-store, version",
	"maps compile": `Error: unknown command "compile" for "caddy maps"; it is one of backup, build, copy-store, ` +
		"health, info, match, reverse, rotate-keys, tiles, usage, user-token, verify-store, version",
	"maps build":           "Error: at least one extract is needed",
	"maps build x.osm.pbf": `Error: required flag(s) "output" not set`,
	"maps build missing.osm.pbf --output x.region": "Error: stat missing.osm.pbf: no such file or directory",
	"maps build text.osm.pbf --output x.region": "Error: text.osm.pbf: not an OpenStreetMap extract (.osm.pbf, .osm, .osm.gz, .osm.bz2 or " +
		".osm.zst)",
	"maps build text.osm.pbf --output missing/x.region":       "Error: output: stat missing: no such file or directory",
	"maps build text.osm.pbf --output x.region --memory lots": `Error: --memory: "lots" is not a size such as 1GiB, 800MB or a number of bytes`,
	"maps build text.osm.pbf --output x.region --memory 1KiB": "Error: --memory: 1KiB is not at least 256 MiB, which a build needs",
	"maps build text.osm.pbf --outptu x.region":               "Error: unknown flag: --outptu",
	"maps info":                                               "Error: one region file is needed, and there are 0 arguments",
	"maps info missing.region":                                "Error: stat missing.region: no such file or directory",
	"maps info text.region":                                   "Error: text.region is not a region file of caddy-maps",
	"maps reverse text.region 39.1":                           "Error: a region file, a latitude and a longitude are needed",
	"maps reverse text.region 139.1 -75.5":                    `Error: lat: "139.1" is not a number from -90 to 90`,
	"maps reverse text.region 39.1 -75.5 --size 9":            "Error: --size: 9 is not a whole number from 1 to 5",
	"maps reverse text.region 39.1573,-75.5197":               "Error: a region file, a latitude and a longitude are needed",
	"maps match text.region":                                  "Error: a region file and a trace are needed",
	"maps match text.region drive.gpx --profile plane":        `Error: profile: "plane" is not known; there are car, bicycle, foot`,
	"maps match text.region drive.gpx --max-radius -5":        "Error: --max-radius: -5 is not a positive number of metres",
	"maps tiles text.region --output x.pmtiles --max-zoom 30": "Error: --max-zoom: 30 is not a whole number from 0 to 16",
	"maps user-token":                                         `Error: required flag(s) "organization" not set`,
	"maps user-token --organization acme --ttl soon":          `Error: --ttl: "soon" is not a duration, such as 8h`,
	"maps user-token --organization acme --address 127.0.0.1:9": "Error: asking the server at 127.0.0.1:9: performing request: Post " +
		`"http://127.0.0.1:9/maps/user-tokens": dial tcp 127.0.0.1:9: connect: connection refused ` +
		"(--address and --config say where else it may run)",
	"maps rotate-keys --config missing": "Error: finding the admin API: reading config from file: open missing: no such file or directory",
	"maps rotate-keys --config Broken --adapter caddyfile": "Error: finding the admin API: adapting config using caddyfile: parsing caddyfile tokens for " +
		"'maps': access_token_ttl: 720h is not between 1s and 24h, at Broken:3",
	"validate --config Broken --adapter caddyfile": `"adapting config using caddyfile: parsing caddyfile tokens for 'maps': access_token_ttl: 720h ` +
		`is not between 1s and 24h, at Broken:3"}`,
	"run --config Missing --adapter caddyfile": `"loading initial config: loading new config: maps app module: start: ` +
		"region delaware: stat DIR/missing.region: no such file or directory: make it with `caddy maps build EXTRACT " +
		"--output DIR/missing.region`\"}",
	"run --config Directory --adapter caddyfile": `"loading initial config: loading new config: maps app module: start: ` +
		`region delaware: open DIR: is a directory, not a regular file"}`,
	"run --config Renamed --adapter caddyfile": `"loading initial config: loading new config: maps app module: start: ` +
		`region delaware: DIR/renamed.region is not a region file of caddy-maps"}`,
	"adapt --config Broken --adapter caddyfile": `"parsing caddyfile tokens for 'maps': access_token_ttl: 720h is not between 1s and 24h, at ` +
		`Broken:3"}`,
}
