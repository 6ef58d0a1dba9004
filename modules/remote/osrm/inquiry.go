package osrm

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// inquiry is what OSRM is asked for the sake of one request.
type inquiry struct {
	*Matcher
	req   *matching.Request
	first remote.Terms

	last   remote.Request // with its response, and error
	answer *remote.Matchings
	err    error
}

// ask asks for the points in use. A radius that is more than OSRM takes is the client's business only if the client
// named it; otherwise what the client said is asked for, and OSRM has its own where that is nothing. That is less than
// before, so a second search that OSRM does not take is left alone. The error is errRadius then.
func (i *inquiry) ask(ctx context.Context, used []int, terms remote.Terms) (*remote.Matchings, error) {
	question, asked := i.question(i.req, used, terms)
	if !i.limit.refuses(asked) {
		a, err := i.send(ctx, question, asked, used)
		if !errors.Is(err, errRadius) {
			return a, err
		}
		i.limit.lower(asked)
		i.Logger().Warn("OSRM does not look for roads as far as the points of a request need; it is asked for less from "+
			"now on. Start it with a larger --max-matching-radius", zap.Float64("radius", asked))
	}
	if terms != i.first {
		return nil, errRadius
	}
	question, named := i.question(i.req, used, asNamed)
	if named >= asked {
		return nil, i.refused()
	}
	a, err := i.send(ctx, question, named, used)
	if errors.Is(err, errRadius) {
		return nil, i.refused()
	}
	return a, err
}

// refused is the error where OSRM does not even take the largest radius that the request names.
func (i *inquiry) refused() error {
	parameter := "radius"
	for k := range i.req.Points {
		if i.req.Points[k].Accuracy > i.req.Radius {
			parameter = "accuracy"
		}
	}
	return &trace.InputError{Parameter: parameter, Point: -1, Problem: "is more than the matching service takes"}
}

// send sends a question in which the largest radius is asked. Where it is the one before, so is its response.
func (i *inquiry) send(ctx context.Context, question *remote.Request, asked float64, used []int) (
	*remote.Matchings, error) {
	if question.Path == i.last.Path && question.Query == i.last.Query {
		return i.answer, i.err
	}
	i.last, i.answer = *question, nil
	i.err = i.Ask(ctx, question, func(status int, body []byte) (err error) {
		i.answer, err = parse(status, body, i.req, used)
		if asked == 0 && errors.Is(err, errRadius) {
			return remote.InvalidResponse("OSRM refuses radiuses, and was sent none")
		}
		return err
	})
	return i.answer, i.err
}
