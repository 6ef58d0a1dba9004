package mapmatch_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// An account that has all the memory it may have waits for more without a processor: others go on.
func TestWaitForMemoryTakesNoProcessor(t *testing.T) {
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + region + "\nmax_bodies_in_flight 1MiB",
		Site: `
	handle /api/v1/external/* {
		maps_tokens
	}
	handle /api/v1/service-accounts* {
		maps_accounts
	}
	handle {
		maps_auth DIRECTION
		maps_match {
			matcher local village
		}
	}
`,
	})
	_, hostile := s.Token("hostile", "DIRECTION")
	_, other := s.Token("other", "DIRECTION")
	s.Hang(endpoint, hostile, 1<<20)
	long := "[" + strings.Repeat("{39,-76},", 1100) + "{39,-76}]" // the trace takes more than is had without a wait
	stop := make(chan struct{})
	var clients sync.WaitGroup
	defer clients.Wait()
	defer close(stop)
	for range 2 * runtime.GOMAXPROCS(0) {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					a, err := s.Try(endpoint+"?path="+long, hostile)
					if err != nil || a.Status != http.StatusServiceUnavailable {
						t.Errorf("without memory: %d %s %v", a.Status, a.Body, err)
						return
					}
				}
			}
		})
	}
	time.Sleep(200 * time.Millisecond) // they wait by now
	for range 20 {
		began := time.Now()
		a := s.Do(http.MethodGet, endpoint+"?path="+url.QueryEscape(pairs), other, "")
		if took := time.Since(began); a.Status != http.StatusOK || took > time.Second {
			t.Fatalf("%d %s after %v", a.Status, a.Body, took)
		}
	}
}
