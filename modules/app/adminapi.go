// Package adminapi is the Caddy module `admin.api.maps`: what an operator asks a running server through Caddy's admin
// endpoint.
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

	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
)

func init() { caddy.RegisterModule(new(AdminAPI)) }

// AdminAPI adds these addresses to Caddy's admin endpoint. Whoever can reach the endpoint can mint a user token for any
// organization, as they can change the whole configuration.
//
// - `POST /maps/user-tokens` takes `organization`, `subject` and `ttl` and gives a user token.
// - `POST /maps/keys/rotate` makes new signing keys; tokens of the old ones stay good until they expire. With
// `revokeOld` true, the old ones are removed, and all their tokens end at once.
// - `POST /maps/backup` takes `output`, the absolute path of a new file or of a backup, and copies the store to it.
// - `GET /maps/status` tells the version of caddy-maps, and how the store and the regions stand.
// - `GET /maps/regions` lists the regions, with their age, where they come from, and what is wrong with them.
// - `POST /maps/regions/reload` opens region files that have changed, fetches those that have changed at their origins,
// and verifies those that were not verified yet. After a minute the answer is 202, and the work continues.
// - `GET /maps/usage` takes `organization` and the parameters of `GET /api/v1/service-accounts/usage`, and lists what
// the accounts of the organization used.
// - `GET /maps/quotas/{organization}` tells the quotas of all accounts of an organization together, and how much of
// each is used; `PUT` with `quotas` replaces them, and `DELETE` removes them.
//
// A body is JSON (`Content-Type: application/json`). While the configuration is being started, a request waits for
// it, for at most 10 seconds. The module needs no configuration: it is there wherever the app `maps` is. The commands
// `caddy maps user-token`, `caddy maps rotate-keys`, `caddy maps backup` and `caddy maps usage` make these requests.
// Example:
//
//	curl -X POST localhost:2019/maps/user-tokens -H 'Content-Type: application/json' \
//	    -d '{"organization":"acme","subject":"ann@example.com","ttl":"1h"}'
type AdminAPI struct{}

// CaddyModule returns the Caddy module information.
func (*AdminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "admin.api.maps", New: func() caddy.Module { return new(AdminAPI) }}
}

// Routes returns the addresses.
func (a *AdminAPI) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{
		route("/maps/user-tokens", endpoints{http.MethodPost: mintUserToken}),
		route("/maps/keys/rotate", endpoints{http.MethodPost: rotateKeys}),
		route("/maps/backup", endpoints{http.MethodPost: backup}),
		route("/maps/status", endpoints{http.MethodGet: status}),
		route("/maps/regions", endpoints{http.MethodGet: listRegions}),
		route("/maps/regions/reload", endpoints{http.MethodPost: reloadRegions}),
		route("/maps/usage", endpoints{http.MethodGet: showUsage}),
		route("/maps/quotas/{organization}", endpoints{
			http.MethodGet: showQuotas, http.MethodPut: setQuotas, http.MethodDelete: removeQuotas,
		}),
		unknown("/maps"),
		unknown("/maps/"),
	}
}

// unknown answers at and below an address where nothing else is. A trailing slash makes another address.
func unknown(pattern string) caddy.AdminRoute {
	return caddy.AdminRoute{Pattern: pattern, Handler: caddy.AdminHandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) error {
		w.Header().Set("Cache-Control", "no-store")
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return nil
	})}
}

type endpoint func(app *App, w http.ResponseWriter, r *http.Request) error

// endpoints are those of an address by their methods. What GET answers, HEAD does.
type endpoints map[string]endpoint

// route finds the app anew for each call: one that was kept from provisioning would be a dead one after a
// configuration that was refused.
func route(pattern string, methods endpoints) caddy.AdminRoute {
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

func call(methods endpoints, w http.ResponseWriter, r *http.Request) error {
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
		return apierror.Unavailable() // the client has gone
	}
	return serve(app, w, r)
}

// statusBody is what health checks are told, and what is for the operator alone.
type statusBody struct {
	Version string `json:"version"` // of caddy-maps
	Status
}

func status(app *App, w http.ResponseWriter, r *http.Request) error {
	httpjson.Write(w, http.StatusOK, statusBody{Version(), app.Status(r.Context())})
	return nil
}

// regionList is how the regions stand.
type regionList struct {
	Regions []RegionDetail `json:"regions"`
}

func listRegions(app *App, w http.ResponseWriter, _ *http.Request) error {
	httpjson.Write(w, http.StatusOK, regionList{app.RegionDetails()})
	return nil
}

// reloadPatience is how long a reload of the regions waits for files on their way. It is bounded here, since Caddy's
// admin endpoint takes a client for gone that has waited for some seconds.
const reloadPatience = time.Minute

func reloadRegions(app *App, w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), reloadPatience)
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
	httpjson.Write(w, status, regionList{app.RegionDetails()})
	return nil
}

// Interface guard
var _ caddy.AdminRouter = (*AdminAPI)(nil)
