// Package access is the wing that decides who may do what:
//
//   - [github.com/mapsedge/caddy-maps/internal/access/account]: service accounts, their scopes, status and restrictions
//   - [github.com/mapsedge/caddy-maps/internal/access/credential]: tokens, and the keys that sign them
//   - [github.com/mapsedge/caddy-maps/internal/access/usage]: what accounts use, and their quotas
//   - [github.com/mapsedge/caddy-maps/internal/access/store]: all of that in SQLite or PostgreSQL
//
// Start with account, whose types the others use. The wing imports base, and knows neither HTTP nor maps: the
// handlers are in modules/access.
package access
