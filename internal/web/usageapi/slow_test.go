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
		takes, clientWaits, after time.Duration
		want                      error
	}{
		{9 * time.Second, time.Hour, 9 * time.Second, nil},
		{time.Hour, time.Hour, 10 * time.Second, apierror.TooSlow()},
		{time.Hour, time.Second, time.Second, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := must(usageapi.Parse("", "acme", now))
			ctx, cancel := context.WithTimeout(t.Context(), tc.clientWaits)
			defer cancel()
			began := time.Now()
			req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/usage", nil)
			err := r.Serve(httptest.NewRecorder(), req, meter{}, slowStore{takes: tc.takes})
			if fmt.Sprint(err) != fmt.Sprint(tc.want) || time.Since(began) != tc.after {
				t.Errorf("got %v after %v, want %v", err, time.Since(began), tc.want)
			}
		})
	}
}
