package app_test

import (
	"net"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestLimitsOfRefusedReload: the limits of a configuration that could not be started do not hold for the one that goes
// on.
func TestLimitsOfRefusedReload(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site, Maps: "max_bodies_in_flight 64MiB"})
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	refused, err := modulestest.Adapt(s.Caddyfile(modulestest.Config{Site: site, Maps: "max_bodies_in_flight 1MiB"}) +
		"\nhttp://" + taken.Addr().String() + " {\nrespond ok\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	for range 8 { // apps are started in any order, so in half of all cases this one has not been when the other fails
		if err := caddy.Load(refused, true); err == nil {
			t.Fatal("an address that is taken was taken again")
		}
		for _, caller := range []string{"one", "two", "three"} { // each gets half of what there is, or what it asks for
			body := currentApp(t).BodyOf(admission.Caller{Organization: caller})
			defer body.Release()
			if !body.TryGrow(2 << 20) {
				t.Error("the memory for bodies is that of the configuration that was refused")
			}
		}
	}
}
