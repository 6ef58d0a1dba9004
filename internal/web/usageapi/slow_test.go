package usageapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
)

// slowStore answers after some time, or when it has to end.
type slowStore struct {
	usage.Store
	takes time.Duration
}

func (s slowStore) Usage(ctx context.Context, _ usage.Query) ([]usage.Row, error) {
	select {
	case <-time.After(s.takes):
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestSlowStore: a search ends after a while, or when its client has gone.
func TestSlowStore(t *testing.T) {
	for _, tc := range []struct {
		name            string
		takes, patience time.Duration
		want            error
		after           time.Duration
	}{
		{"in time", 9 * time.Second, time.Hour, nil, 9 * time.Second},
		{"too slow", time.Hour, time.Hour, apierror.TooSlow(), 10 * time.Second},
		{"the client has gone", time.Hour, time.Second, context.DeadlineExceeded, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := usageapi.Parse("", "acme", now)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
				defer cancel()
				began := time.Now()
				req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/usage", nil)
				err = r.Serve(httptest.NewRecorder(), req, meter{}, slowStore{takes: tc.takes})
				if got, want := fmt.Sprint(err), fmt.Sprint(tc.want); got != want || time.Since(began) != tc.after {
					t.Errorf("got %s after %v, want %s", got, time.Since(began), want)
				}
			})
		})
	}
}
