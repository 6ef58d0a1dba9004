package app

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

func init() { caddy.RegisterModule(new(AdminAPI)) }

// AdminAPI adds these endpoints to Caddy's admin API. Anyone who can reach the admin API can mint a user token for any
// organization, just as they can change the whole configuration.
//
// - `POST /maps/user-tokens` takes `organization`, `subject` and `ttl`, and returns a user token. An organization
// without accounts is refused, unless `new` is true.
// - `GET /maps/organizations` lists the organizations that have accounts, with numbers of accounts by status.
// - `GET` and `POST /maps/accounts`, and `GET`, `PATCH` and `DELETE /maps/accounts/{id}`, are for the accounts of all
// organizations what `/api/v1/service-accounts` is for one. The actor is `user:operator`.
// - `POST /maps/keys/rotate` creates new signing keys. With `revokeOld` true, all tokens of the old ones end at once.
// - `POST /maps/backup` takes `output`, the absolute path of a new file or an earlier backup, and copies the store to
// it.
// - `GET /maps/status` returns the version of caddy-maps and the state of the store and the regions.
// - `GET /maps/regions` lists the regions with their age, origin and problems.
// - `POST /maps/regions/reload` opens changed region files, downloads files that have changed at their origins, and
// verifies files that are not verified yet. After a minute it answers 202, and the work continues.
// - `GET /maps/usage` lists the usage of an `organization`.
// - `GET /maps/quotas/{organization}` returns the quotas that all accounts of an organization share, and how much of
// each is used. `PUT` replaces them, and `DELETE` removes them.
//
// Parameters and bodies: docs/openapi-admin.yaml. While a configuration starts, requests wait for it, at most 10
// seconds. The module needs no configuration; it works wherever the app `maps` runs. The server commands send these
// requests. Example:
//
//	curl -X POST localhost:2019/maps/user-tokens -H 'Content-Type: application/json' \
//	    -d '{"organization":"acme","subject":"ann@example.com","ttl":"1h"}'
type AdminAPI struct{}

// CaddyModule returns the Caddy module information.
func (*AdminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.maps", New: func() caddy.Module { return new(AdminAPI) }}
}

// Routes returns the endpoints.
func (a *AdminAPI) Routes() []caddy.AdminRoute {
	return append([]caddy.AdminRoute{
		route("/maps/user-tokens", AdminMethods{http.MethodPost: mintUserToken}),
		route("/maps/keys/rotate", AdminMethods{http.MethodPost: rotateKeys}),
		route("/maps/backup", AdminMethods{http.MethodPost: backup}),
		route("/maps/status", AdminMethods{http.MethodGet: status}),
		route("/maps/regions", AdminMethods{http.MethodGet: listRegions}),
		route("/maps/regions/reload", AdminMethods{http.MethodPost: reloadRegions}),
		route("/maps/usage", AdminMethods{http.MethodGet: showUsage}),
		route("/maps/quotas/{organization}", AdminMethods{
			http.MethodGet: showQuotas, http.MethodPut: setQuotas, http.MethodDelete: removeQuotas,
		}),
		unknown("/maps"),
		unknown("/maps/"),
	}, furtherRoutes...)
}

var furtherRoutes []caddy.AdminRoute

// AddAdminRoute adds an endpoint of a package that imports this one. It is called by the package's init.
func AddAdminRoute(pattern string, methods AdminMethods) {
	furtherRoutes = append(furtherRoutes, route(pattern, methods))
}

// unknown answers 404 where no other endpoint matches. A path with a trailing slash is another path.
func unknown(pattern string) caddy.AdminRoute {
	return caddy.AdminRoute{Pattern: pattern, Handler: caddy.AdminHandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) error {
		w.Header().Set("Cache-Control", "no-store")
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return nil
	})}
}

// AdminMethods serve the methods of a path. GET also answers HEAD.
type AdminMethods map[string]func(app *App, w http.ResponseWriter, r *http.Request) error

// route looks up the app for each request. An app kept from provisioning would be stopped after a refused
// configuration.
func route(pattern string, methods AdminMethods) caddy.AdminRoute {
	return caddy.AdminRoute{Pattern: pattern,
		Handler: caddy.AdminHandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Cache-Control", "no-store")
			if err := call(methods, w, r); err != nil {
				var failure apierror.Error
				if !errors.As(err, &failure) {
					caddy.Log().Named("admin.api.maps").Error("request failed", zap.String("uri", pattern), zap.Error(err))
					failure = apierror.Unavailable()
				}
				apierror.Platform.Write(w, failure)
			}
			return nil
		})}
}

func call(methods AdminMethods, w http.ResponseWriter, r *http.Request) error {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	serve, known := methods[method]
	if !known {
		allow := slices.Collect(maps.Keys(methods))
		if methods[http.MethodGet] != nil {
			allow = append(allow, http.MethodHead)
		}
		slices.Sort(allow)
		return apierror.MethodNotAllowed(allow...)
	}
	app, err := Running(r.Context())
	if errors.Is(err, ErrNoApp) || errors.Is(err, ErrStarting) {
		return apierror.Error{Status: http.StatusServiceUnavailable, Message: err.Error()}
	}
	if err != nil {
		return apierror.Unavailable() // the client has disconnected
	}
	return serve(app, w, r)
}

// statusBody is the public status with what only operators may see.
type statusBody struct {
	Version string `json:"version"` // of caddy-maps
	Status
}

func status(app *App, w http.ResponseWriter, r *http.Request) error {
	request.WriteJSON(w, http.StatusOK, statusBody{Version(), app.Status(r.Context())})
	return nil
}

// regionList is the state of the regions.
type regionList struct {
	Regions []RegionDetail `json:"regions"`
}

func listRegions(app *App, w http.ResponseWriter, _ *http.Request) error {
	request.WriteJSON(w, http.StatusOK, regionList{app.RegionDetails()})
	return nil
}

// reloadTimeout is how long a reload of the regions waits for downloads. The context of the request cannot bound it,
// because Caddy's admin API cancels that after some seconds.
const reloadTimeout = time.Minute

func reloadRegions(app *App, w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), reloadTimeout)
	defer cancel()
	complete, err := app.ReloadRegions(ctx)
	if err != nil {
		app.Logger().Error("reloading regions", zap.Error(err))
		return apierror.Error{
			Status:  http.StatusInternalServerError,
			Message: "not every region could be opened; the others are as new, and the log names the faults",
		}
	}
	status := http.StatusOK
	if !complete {
		status = http.StatusAccepted
	}
	request.WriteJSON(w, status, regionList{app.RegionDetails()})
	return nil
}

// Interface guard
var _ caddy.AdminRouter = (*AdminAPI)(nil)
