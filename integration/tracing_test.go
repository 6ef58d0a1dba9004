package integration

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Caddy's `tracing` around the endpoints: spans reach a collector, without credentials. The trace continues at a proxied API
// and at an engine behind the matching endpoint.
func TestTracing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var spans bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&spans, r.Body)
	}))
	defer collector.Close()
	parents := make(chan http.Header, 16) // a matcher may ask more than once
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parents <- r.Header
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"code":"NoMatch"}`)
	}))
	defer engine.Close()
	s := newServer(t,
		"# handlers", "tracing {\n\t\tspan maps\n\t\tspan_attributes {\n\t\t\tmaps.account {http.auth.user.id}\n\t\t}\n\t}",
		"# options", "matcher osrm "+engine.URL, "{$MAPS_ROUTER:127.0.0.1:5000}", engine.URL)
	s.env = append(s.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
		"OTEL_BSP_SCHEDULE_DELAY=50")
	s.run(t)
	user := s.userToken(t, "traced")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)

	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	header := map[string][]string{"Traceparent": {"00-" + trace + "-" + parent + "-01"}, "Cookie": {"a=b"}}
	for _, c := range []call{
		{path: matchPath(dover, "&apiKey="+access), header: header},
		{path: route + "?origin=39.1,-75.5&destination=39.2,-75.5", bearer: access, header: header},
	} {
		for len(parents) > 0 {
			<-parents
		}
		s.send(t, c)
		select {
		case got := <-parents:
			at := got.Get("Traceparent")
			if !strings.HasPrefix(at, "00-"+trace+"-") || strings.Contains(at, parent) {
				t.Errorf("%.40s: the engine was sent the trace %q", c.path, at)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%.40s: the engine was not asked", c.path)
		}
	}
	id, err := hex.DecodeString(trace)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		mu.Lock()
		text := spans.String()
		mu.Unlock()
		if strings.Count(text, string(id)) >= 2 && strings.Contains(text, acc.ID) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes of spans came, without the two of this trace", len(text))
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, secret := range []string{access, acc.ClientToken, acc.ServerToken, user} {
		if bytes.Contains(spans.Bytes(), []byte(secret)) {
			t.Errorf("the collector was sent a token: %.12s…", secret)
		}
	}
}
