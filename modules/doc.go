// Package modules is the wing of what operators configure, one package for each thing with a name in a Caddyfile:
//
//   - app: the app `maps`, the admin API, health
//   - access: maps_auth, maps_verify, maps_tokens, maps_accounts, the log filter maps_redact
//   - stores: maps.stores.sqlite and maps.stores.postgres
//   - geocoding, matching, routing, tiles: the map handlers, with the local engines and the matcher maps_region
//   - service: maps_service, everything in one line, with maps_limit and maps_errors
//   - pages: start page, playground, console and API reference
//   - remote: OSRM, Valhalla, Nominatim and Photon as upstream engines
//   - options: reading Caddyfile blocks; command: `caddy maps …`
//
// A module reads its configuration, finds the engine it needs, turns HTTP into a call, and the result into HTTP. What
// can be computed without Caddy is in internal/. Handlers do not import each other; app and options are for all, and
// service puts the handlers together.
package modules
