package osrm

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// errRadius: a radius is larger than OSRM's `--max-matching-radius`.
var errRadius = errors.New("the radius is larger than OSRM allows")

// parse reads a response to a request for the points in use. The error is matching.ErrNoRoute, errRadius, a
// *trace.InputError, or one of package remote.
func parse(status int, body []byte, req *matching.Request, used []int) (*remote.Matchings, error) {
	switch status {
	case http.StatusOK, http.StatusBadRequest:
	case http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		return nil, remote.TooManyPoints
	default:
		return nil, remote.Unexpected(status)
	}
	d, err := remote.ReadMatchResponse(body, len(used))
	if err != nil {
		return nil, err
	}
	switch d.Code {
	case "Ok":
		if status != http.StatusOK {
			return nil, remote.Unexpected(status)
		}
		return d.Matchings(req, used)
	case "NoMatch", "NoSegment":
		return nil, matching.ErrNoRoute
	case "TooBig":
		// Both limits have this code (src/engine/plugins/match.cpp).
		if strings.Contains(strings.ToLower(d.Message), "radius") {
			return nil, errRadius
		}
		return nil, remote.TooManyPoints
	}
	return nil, remote.InvalidResponse("code %.40q", d.Code)
}
