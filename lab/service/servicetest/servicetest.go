// Package servicetest is the map matching endpoint of a server, for tests of what asks one.
package servicetest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// Start returns the URL of an endpoint at which a matcher answers, until the end of the test.
func Start(t testing.TB, m matching.Matcher) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result, details, err := match(m, r)
		if err != nil {
			answer.WriteFailure(w, apierror.Routing, err)
			return
		}
		answer.Write(w, answer.JSON, answer.AppendMatch(nil, result, details))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func match(m matching.Matcher, r *http.Request) (result *matching.Result, details bool, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, false, err
	}
	doc, err := trace.ParseJSON(nil, body, matching.DefaultMaxPoints)
	if err != nil {
		return nil, false, err
	}
	req := &matching.Request{Points: doc.Points, Details: doc.Details != nil && *doc.Details}
	if doc.Radius != nil {
		req.Radius = *doc.Radius
	}
	if doc.Profile != nil {
		if req.Profile, err = matching.ParseProfile(*doc.Profile); err != nil {
			return nil, false, err
		}
	}
	result, err = m.Match(r.Context(), req)
	return result, req.Details, err
}
