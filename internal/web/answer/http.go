package answer

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// Media types of responses.
const (
	JSON    = "application/json"
	GeoJSON = "application/geo+json"
)

// StatusClientClosedRequest is the status in the access log for a request whose client closed the connection before
// there was a response.
const StatusClientClosedRequest = 499

// Write writes a response with status 200.
func Write(w http.ResponseWriter, mediaType string, body []byte) {
	values := &[...]string{mediaType, strconv.Itoa(len(body))} // one allocation for both slices
	h := w.Header()
	h["Content-Type"] = values[0:1:1]
	h["Content-Length"] = values[1:2:2]
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // an error means that the client has gone
}

// Failure returns the response for an error of an engine. expected is false for a fault of the service, which should be
// logged. A damaged or unavailable region has already been logged.
func Failure(err error) (e apierror.Error, expected bool) {
	var (
		ready  apierror.Error
		input  *trace.InputError
		lost   *matching.NoRouteError
		damage *region.DamageError
		busy   *admission.OverloadError
		off    *routing.SegmentError
		early  *routing.NotReadyError
		// such as regions.ErrUnavailable
		unavailable interface{ Unavailable() bool }
	)
	switch {
	case errors.As(err, &ready):
		return ready, true
	case errors.As(err, &input):
		return apierror.InvalidInput(input.Error()), true
	case errors.As(err, &lost):
		return apierror.NoRoute(lost.Error()), true
	case errors.Is(err, matching.ErrNoRoute):
		return apierror.NoRoute(matching.ErrNoRoute.Error()), true
	case errors.As(err, &off):
		return apierror.NoSegment(off.Error()), true
	case errors.Is(err, routing.ErrNoRoute):
		return apierror.NoRoute(routing.ErrNoRoute.Error()), true
	case errors.Is(err, routing.ErrWork):
		return apierror.TooMuch(routing.ErrWork.Error()), true
	case errors.Is(err, routing.ErrUnsupported):
		return apierror.InvalidInput(routing.ErrUnsupported.Error()), true
	case errors.As(err, &early):
		return apierror.Busy(time.Duration(early.RetryAfter) * time.Second), true
	case errors.As(err, &busy):
		return apierror.Busy(busy.RetryAfter), true
	case errors.Is(err, matching.ErrWork):
		return apierror.InvalidInput("path: " + matching.ErrWork.Error()), true
	case errors.Is(err, geocoding.ErrWork):
		return apierror.FailedValidation("lat, lon: " + geocoding.ErrWork.Error()), true
	case errors.As(err, &damage), errors.As(err, &unavailable) && unavailable.Unavailable():
		return apierror.Unavailable(), true
	case errors.Is(err, context.DeadlineExceeded):
		return apierror.Timeout(), true
	case errors.Is(err, context.Canceled):
		return apierror.Error{Status: StatusClientClosedRequest}, true
	}
	return apierror.Internal(), false
}

// WriteFailure writes the response for an error of an engine, and reports whether the error should be logged.
func WriteFailure(w http.ResponseWriter, style apierror.Style, err error) (unexpected bool) {
	e, expected := Failure(err)
	if e.Status == StatusClientClosedRequest {
		w.WriteHeader(StatusClientClosedRequest)
	} else {
		style.Write(w, e)
	}
	return !expected
}
