package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestNext: the time until the next attempt is random, grows with each failure, and is as long as the server wants.
func TestNext(t *testing.T) {
	for name, tc := range map[string]struct {
		err      error
		failures int
		from, to time.Duration
	}{
		"success":                   {nil, 0, 54 * time.Minute, time.Hour},
		"refused":                   {refused(errStalled), 1, time.Second, 2 * time.Second},
		"first failure":             {errStalled, 1, time.Second, 2 * time.Second},
		"fourth failure":            {errStalled, 4, 8 * time.Second, 16 * time.Second},
		"hundredth failure":         {errStalled, 100, maxRetry / 2, maxRetry},
		"failure with Retry-After":  {&retryError{errStalled, 2 * time.Hour}, 1, 2 * time.Hour, 2 * time.Hour},
		"failure, wrapped in words": {errors.Join(&retryError{errStalled, time.Hour}), 3, time.Hour, time.Hour},
	} {
		m := New(Options{URL: new(url.URL), Refresh: time.Hour})
		m.failures = tc.failures
		seen := map[time.Duration]bool{}
		for range 50 {
			got := m.next(tc.err)
			if seen[got] = true; got < tc.from || got > tc.to {
				t.Errorf("%s: %v is not between %v and %v", name, got, tc.from, tc.to)
			}
		}
		if tc.from < tc.to && len(seen) < 10 {
			t.Errorf("%s: the same few times: %v", name, seen)
		}
	}
	for value, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-1": 0, "120": 2 * time.Minute, "999999999": maxRetryAfter, "99999999999999999999": 0,
		"Wed, 21 Oct 2015 07:28:00 GMT":                                          0,
		time.Now().Add(time.Hour + 30*time.Second).UTC().Format(http.TimeFormat): time.Hour,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}); got < want || got > want+time.Minute {
			t.Errorf("Retry-After: %s is %v, want %v", value, got, want)
		}
	}
}

// TestKeeps: a mirror fetches each new file without being asked. A caller of Ask is answered at once, however long the
// mirror was to wait.
func TestKeeps(t *testing.T) {
	t.Parallel()
	s := newServer(t, status(500))
	f := newFixture(t, s)
	f.Refresh = 50 * time.Millisecond
	f.Start()
	defer f.Destruct()
	eventually(t, "the first failure", func() bool { return strings.Contains(f.Status().Problem, "answers 500") })
	for i, letter := range []string{"a", "b"} {
		next := content(t, 1+i, size)
		s.become(etag(next, letter))
		eventually(t, "a new file", func() bool { return f.Status().ETag == `"`+letter+`"` })
		f.has(t, next, ".json .lock")
	}
	_ = f.Destruct()
	if err := f.Poll(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("asked after the end: %v", err)
	}

	// One that is told to wait for an hour asks at once when it is told to.
	s.become(status(503, "Retry-After", "3600"))
	f = sharing(t, s, f.Path)
	f.Start()
	defer f.Destruct()
	err := f.Poll(t.Context())
	if wait := time.Until(f.Status().Next); err == nil || !strings.Contains(err.Error(), "answers 503") || wait < 59*time.Minute {
		t.Errorf("asked with %v, and the next request is due in %v", err, wait)
	}
	third := content(t, 3, size)
	s.become(etag(third, "c"))
	if err := f.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.has(t, third, ".json .lock")
}
