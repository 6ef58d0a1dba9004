package modulestest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// Upstream is a server whose answers a test can change while it runs.
type Upstream struct {
	*httptest.Server

	mu      sync.Mutex
	handler http.HandlerFunc
}

// NewUpstream starts a server.
func NewUpstream(t testing.TB) *Upstream {
	u := new(Upstream)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		handler := u.handler
		u.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

// Answer sets how the server answers from now on.
func (u *Upstream) Answer(handler http.HandlerFunc) {
	u.mu.Lock()
	u.handler = handler
	u.mu.Unlock()
}

// Replay answers every request with a recorded answer.
func (u *Upstream) Replay(r Recorded) { u.Send(r.Status, string(r.Body)) }

// Send answers every request with a status and a body of JSON.
func (u *Upstream) Send(status int, body string) {
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
}

// Unreachable is the URL of a port without a listener.
func Unreachable(t testing.TB) string {
	t.Helper()
	address, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return "http://" + address
}
