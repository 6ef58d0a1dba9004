package valhalla

import (
	"errors"
	"net/http"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// errOption: the radius or the number of points exceeds a limit of the service. With `format=osrm` both have the same
// code.
var errOption = errors.New("an option exceeds the service's limits")

// parse reads a response of trace_route to a request for the points in use. The error is matching.ErrNoRoute,
// errOption, a *trace.InputError, or one of package remote.
func parse(status int, body []byte, req *matching.Request, used []int) (*remote.Matchings, error) {
	switch status {
	case http.StatusOK, http.StatusBadRequest:
	case http.StatusRequestEntityTooLarge:
		return nil, remote.TooManyPoints
	default:
		return nil, remote.Unexpected(status)
	}
	d, err := remote.ReadMatchResponse(body, len(used))
	if err != nil {
		return nil, err
	}
	if err := refusal(d); err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, remote.Unexpected(status)
	}
	a, err := d.Matchings(req, used)
	if err == nil {
		a.ForgetConfidence() // it is 1 for every drive (src/tyr/route_serializer_osrm.cc)
	}
	return a, err
}

var (
	errTooLong = &trace.InputError{Parameter: "path", Point: -1, Problem: "longer than the matching service takes"}
	errTooFew  = &trace.InputError{Parameter: "path", Point: -1, Problem: "fewer points than the matching service needs"}
)

// refusal returns the meaning of an error of Valhalla; nil if there is none. With `format=osrm` errors have OSRM's
// codes, of which several errors share one. Errors before the format is known have Valhalla's own numbers. See
// src/worker.cc.
func refusal(d *remote.MatchResponse) error {
	switch d.ErrorCode {
	case 0:
	case 170, 171, 172, 441, 442, 443, 444: // not connected, no edges near, all points too far from each other, no path
		return matching.ErrNoRoute
	case 123: // insufficient shape
		return errTooFew
	case 150, 153: // too many locations, too many points
		return remote.TooManyPoints
	case 154:
		return errTooLong
	case 158: // a trace option
		return errOption
	default:
		return remote.InvalidResponse("error code %d", d.ErrorCode)
	}
	switch d.Code {
	case "Ok":
		return nil
	case "NoRoute", "NoSegment", "BreakageDistanceExceeded":
		return matching.ErrNoRoute
	case "DistanceExceeded":
		return errTooLong
	case "InvalidValue":
		return errOption
	}
	return remote.InvalidResponse("code %.40q", d.Code)
}
