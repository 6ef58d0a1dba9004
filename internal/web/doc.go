// Package web is the wing between HTTP and the engines:
//
//   - [github.com/mapsedge/caddy-maps/internal/web/request]: tokens, bodies, query parameters and headers of requests
//   - [github.com/mapsedge/caddy-maps/internal/web/admission]: fair shares of processors, memory and upstream calls
//   - [github.com/mapsedge/caddy-maps/internal/web/answer]: results of engines as JSON
//   - [github.com/mapsedge/caddy-maps/internal/web/usageapi]: the usage list, which the API and the admin API share
//   - [github.com/mapsedge/caddy-maps/internal/web/apierror]: errors, in the style of each family of paths
//
// It imports the engines, access, region, geo and base. It knows net/http but not Caddy: handlers are in modules.
package web
