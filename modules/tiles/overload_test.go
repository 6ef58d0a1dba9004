package tiles_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// Where others are at work on all processors that there are for it, a tile that has to be cut waits, and then is
// refused, and one that is in the cache is answered at once.
func TestOverload(t *testing.T) {
	s, cfg := start(t, "")
	cached, other := "/tiles/village/"+pathOf(14), "/tiles/village/"+pathOf(13)
	if a := s.Do("GET", cached, "", ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	cfg.Maps += "\nmax_wait 100ms"
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	shared, release := app.AcquireAdmission()
	defer release()
	work := make([]admission.Work, max(1, runtime.GOMAXPROCS(0)-1))
	for i := range work {
		if err := work[i].Begin(t.Context(), shared.Processors, admission.Caller{Organization: fmt.Sprint("other ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if a := s.Do("GET", other, "", ""); a.Status != 503 || a.Header.Get("Retry-After") == "" ||
		!strings.Contains(a.Body, `"error"`) || a.Header.Get("Etag") != "" {
		t.Errorf("a tile to cut: %d %v %s", a.Status, a.Header, a.Body)
	}
	began := time.Now()
	if a := s.Do("GET", cached, "", ""); a.Status != 200 || time.Since(began) > time.Second {
		t.Errorf("a tile that was cut: %d after %v", a.Status, time.Since(began))
	}
	for i := range work {
		work[i].End()
	}
	if a := s.Do("GET", other, "", ""); a.Status != 200 {
		t.Errorf("with processors: %d %s", a.Status, a.Body)
	}
}
