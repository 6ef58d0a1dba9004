package osrm

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// exchange is the requests to OSRM for one request of a client.
type exchange struct {
	*Matcher
	req   *matching.Request
	first remote.SearchOptions

	last   remote.Request // the last request, with its result
	answer *remote.Matchings
	err    error
}

// matchPoints sends a request for the points in use. If OSRM refuses a radius that the client did not ask for,
// matchPoints tries again with the client's radius, or with OSRM's own if the client has none. For later requests that
// would be no improvement, and the error is errRadius.
func (i *exchange) matchPoints(ctx context.Context, used []int, opts remote.SearchOptions) (*remote.Matchings, error) {
	query, largest := i.request(i.req, used, opts)
	if !i.limit.refuses(largest) {
		a, err := i.send(ctx, query, largest, used)
		if !errors.Is(err, errRadius) {
			return a, err
		}
		i.limit.lower(largest)
		i.Logger().Warn("OSRM refuses the radius that the points of a request need; it gets a smaller one from now on. "+
			"Start it with a larger --max-matching-radius", zap.Float64("radius", largest))
	}
	if opts != i.first {
		return nil, errRadius
	}
	query, named := i.request(i.req, used, asRequested)
	if named >= largest {
		return nil, i.refused()
	}
	a, err := i.send(ctx, query, named, used)
	if errors.Is(err, errRadius) {
		return nil, i.refused()
	}
	return a, err
}

// refused is the error if OSRM refuses the largest radius or accuracy of the client's request.
func (i *exchange) refused() error {
	parameter := "radius"
	for k := range i.req.Points {
		if i.req.Points[k].Accuracy > i.req.Radius {
			parameter = "accuracy"
		}
	}
	return &trace.InputError{Parameter: parameter, Point: -1, Problem: "is more than the matching service takes"}
}

// send sends a request with a largest radius, in metres. If it equals the last request, send returns that result.
func (i *exchange) send(ctx context.Context, query *remote.Request, largest float64, used []int) (
	*remote.Matchings, error) {
	if query.Path == i.last.Path && query.Query == i.last.Query {
		return i.answer, i.err
	}
	i.last, i.answer = *query, nil
	i.err = i.Send(ctx, query, func(status int, body []byte) (err error) {
		i.answer, err = parse(status, body, i.req, used)
		if largest == 0 && errors.Is(err, errRadius) {
			return remote.InvalidResponse("OSRM refuses radiuses, and was sent none")
		}
		return err
	})
	return i.answer, i.err
}
