package regionmatcher_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Bodies that the matcher has read count for as long as their requests are under way, and one that finds no room is
// answered 503.
func TestBodiesInFlight(t *testing.T) {
	asked, release := make(chan struct{}, 8), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-release
		fmt.Fprint(w, "answered")
	}))
	defer upstream.Close()
	s := modulestest.Start(t, modulestest.Config{
		Maps: "max_bodies_in_flight 1MiB\nmax_wait 200ms",
		Site: fmt.Sprintf(`
			@here maps_region 39,-76,40,-75
			handle @here {
				reverse_proxy %s
			}
			handle {
				respond "not here"
			}`, upstream.URL),
	})
	large := inside[:len(inside)-1] + `,"padding":"` + strings.Repeat("x", 200<<10) + `"}`
	first := make(chan modulestest.Response, 1)
	go func() { first <- s.Do(http.MethodPost, match, "", large) }()
	wait := func() {
		select {
		case <-asked:
		case <-time.After(10 * time.Second):
			t.Fatal("the upstream was not asked")
		}
	}
	wait()
	began := time.Now()
	if a := s.Do(http.MethodPost, match, "", large); a.Status != http.StatusServiceUnavailable ||
		time.Since(began) < 200*time.Millisecond {
		t.Errorf("a second body: %d %s after %v", a.Status, a.Body, time.Since(began))
	}
	small := make(chan modulestest.Response, 1)
	go func() { small <- s.Do(http.MethodPost, match, "", inside) }()
	wait() // it is let through
	close(release)
	for _, a := range []modulestest.Response{<-first, <-small} {
		if a.Status != http.StatusOK || a.Body != "answered" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if a := s.Do(http.MethodPost, match, "", large); a.Status != http.StatusOK {
		t.Errorf("afterwards: %d %s", a.Status, a.Body)
	}
}
