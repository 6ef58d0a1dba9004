package integration

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

// checkProxies checks every proxy of a configuration, and returns how many it has: handlers, and the options of those
// that guest modules have inside.
func checkProxies(t *testing.T, config []byte) (found int) {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, each := range v {
				walk(each)
			}
		case map[string]any:
			if v["handler"] == "reverse_proxy" {
				found++
				checkProxy(t, v, true)
			}
			if options, is := v["reverse_proxy"].(map[string]any); is {
				found++
				checkProxy(t, options, false)
			}
			for _, each := range v {
				walk(each)
			}
		}
	}
	var all any
	if err := json.Unmarshal(config, &all); err != nil {
		t.Fatalf("%v: %s", err, config)
	}
	walk(all)
	return found
}

// checkProxy checks what docs/run/fronting.md asks of a proxy, a handler or a guest's.
func checkProxy(t *testing.T, options map[string]any, handler bool) {
	t.Helper()
	delete(options, "handler")
	text, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	var h reverseproxy.Handler
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	engine := func(name string) bool {
		return slices.ContainsFunc(h.Upstreams, func(u *reverseproxy.Upstream) bool { return strings.Contains(u.Dial, name) })
	}
	want := func(ok bool, problem string) {
		if !ok {
			t.Errorf("%s: %s", problem, text)
		}
	}
	var health reverseproxy.HealthChecks
	if h.HealthChecks != nil {
		health = *h.HealthChecks
	}
	active := health.Active != nil && health.Active.URI != ""
	var retries int
	var patience caddy.Duration
	if h.LoadBalancing != nil {
		retries, patience = h.LoadBalancing.Retries, h.LoadBalancing.TryDuration
	}
	if len(h.Upstreams) > 1 || h.DynamicUpstreamsRaw != nil {
		want(retries > 0 || patience > 0, "several upstreams without lb_retries or lb_try_duration")
		// Whoever tries until the active checks have found out does not need to remember who failed.
		want(health.Passive != nil && health.Passive.FailDuration > 0 || active && patience > 0,
			"several upstreams without fail_duration")
	}
	if (engine("osrm") || engine("valhalla")) && (handler || len(h.Upstreams) > 1) {
		want(active, "an engine without health_uri")
	}
	if engine("osrm") && handler {
		var transport struct {
			KeepAlive reverseproxy.KeepAlive `json:"keep_alive"`
		}
		_ = json.Unmarshal(h.TransportRaw, &transport) // nothing where there is none
		enabled := transport.KeepAlive.Enabled
		want(enabled != nil && !*enabled, "OSRM without keepalive off")
	}
}
