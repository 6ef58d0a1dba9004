package osrm

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// errRadius: OSRM looks for roads no farther than it was started with (`--max-matching-radius`).
var errRadius = errors.New("the radius is more than OSRM takes")

// parse reads a response to a request for the points in use. The error is matching.ErrNoRoute, errRadius, a
// *trace.InputError, or one of package upstream.
func parse(status int, body []byte, req *matching.Request, used []int) (*remote.Matchings, error) {
	switch status {
	case http.StatusOK, http.StatusBadRequest:
	case http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		return nil, remote.TooManyPoints
	default:
		return nil, remote.Unexpected(status)
	}
	d, err := remote.Read(body, len(used))
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
		// The two limits have the same code (src/engine/plugins/match.cpp).
		if strings.Contains(strings.ToLower(d.Message), "radius") {
			return nil, errRadius
		}
		return nil, remote.TooManyPoints
	}
	return nil, remote.InvalidResponse("code %.40q", d.Code)
}
