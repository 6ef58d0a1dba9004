package geocoding

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// endpoint is a path that a handler serves. given is configured, and empty for the default.
type endpoint struct{ option, given, preset string }

// parseEndpoints returns the paths of endpoints, no two of which are the same.
func parseEndpoints(endpoints ...endpoint) (paths []request.Prefix, err error) {
	for _, e := range endpoints {
		path, err := request.ParsePrefix(cmp.Or(e.given, e.preset))
		if i := slices.Index(paths, path); err == nil && i == 0 {
			err = fmt.Errorf("%q is the path of the endpoint itself", path)
		} else if err == nil && i > 0 {
			err = fmt.Errorf("%q is the path of %s", path, endpoints[i].option)
		}
		if err != nil {
			return nil, options.Wrap(e.option, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// reachable checks that no directive around a handler removes a part of its paths, but for the presets of the older
// paths, which few requests are for.
func reachable(ctx caddy.Context, paths []request.Prefix, names ...string) error {
	for i, path := range paths {
		if path == defaultSimple || path == defaultSimpleSearch {
			continue
		}
		if _, err := app.Prefix(ctx, names[i], path.Path()); err != nil {
			return err
		}
	}
	return nil
}

// route returns the index of the path that a request is for. If it is for none or has another method than GET or HEAD,
// it answers that, and returns -1.
func route(w http.ResponseWriter, r *http.Request, paths []request.Prefix) int {
	i := slices.IndexFunc(paths, func(path request.Prefix) bool {
		rest, ok := path.Below(r.URL)
		return ok && rest == ""
	})
	switch {
	case i < 0:
		apierror.Platform.Write(w, apierror.NotFound("not found"))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
		return -1
	}
	return i
}

// load loads the geocoders of a handler. The error is about the first that cannot do what the handler needs.
func load[T any](ctx caddy.Context, handler any, raw int, cannot string) (geocoders []T, err error) {
	if raw == 0 {
		return nil, nil // an error of Validate
	}
	modules, err := ctx.LoadModule(handler, "GeocodersRaw")
	if err != nil {
		return nil, fmt.Errorf("loading the geocoders: %w", err)
	}
	for _, module := range modules.([]any) {
		geocoder, ok := module.(T)
		if !ok {
			return nil, fmt.Errorf("module %T %s", module, cannot)
		}
		geocoders = append(geocoders, geocoder)
	}
	return geocoders, nil
}

func noGeocoder(directive string) error {
	return errors.New(directive + " needs at least one geocoder")
}
