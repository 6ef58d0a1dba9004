package mapmatch_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// discard is a response writer that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkHandler is a request without the web server around it.
func BenchmarkHandler(b *testing.B) {
	region := filepath.Join(b.TempDir(), "village.region")
	modulestest.BuildRegion(b, region, modulestest.Village)
	ctx, err := caddy.ProvisionContext(&caddy.Config{AppsRaw: caddy.ModuleMap{"maps": []byte(`{"regions":{"village":{"path":"` + region + `"}}}`)}})
	if err != nil {
		b.Fatal(err)
	}
	module, err := ctx.LoadModuleByID("http.handlers.maps_match", []byte(`{"public":true,"matchers":[{"source":"local","regions":["village"]}]}`))
	if err != nil {
		b.Fatal(err)
	}
	handler := module.(caddyhttp.MiddlewareHandler)
	r := httptest.NewRequest(http.MethodGet, endpoint+"?path="+pairs, nil)
	w := &discard{header: make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		if err := handler.ServeHTTP(w, r, nil); err != nil {
			b.Fatal(err)
		}
	}
}
