package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

// Protocol is what a module knows of the services that it asks.
type Protocol struct {
	// RetryPosts says that a POST changes nothing, so that retries, where they are configured, may repeat it.
	RetryPosts bool
	// FreshConnections says that connections that are kept alive make the service slower. Each exchange gets one of its
	// own then, unless the transport says how it keeps connections alive.
	FreshConnections bool
}

// check refuses what makes no sense for a service whose answers are read here.
func check(h *reverseproxy.Handler) error {
	if len(h.Upstreams) == 0 && h.DynamicUpstreamsRaw == nil {
		return errors.New("at least one upstream is needed, such as http://10.0.0.5:5000")
	}
	if len(h.HandleResponse) > 0 {
		return errors.New("handle_response cannot be used here")
	}
	return nil
}

// maxRequestBuffer is the size of the largest body that can be sent again.
const maxRequestBuffer = 64 << 20

// brokenOffAgain is how often an exchange is repeated whose response breaks off, where retries are configured.
// reverse_proxy does not do that: it passes a response on as it comes. Here nobody has seen any of it, and a question
// can always be asked again.
const brokenOffAgain = 2

func retries(h *reverseproxy.Handler) bool {
	lb := h.LoadBalancing
	return lb != nil && (lb.Retries > 0 || lb.TryDuration > 0)
}

// allowRetries lets POSTs be repeated where retries are configured, and keeps their bodies for that.
func allowRetries(h *reverseproxy.Handler) {
	lb := h.LoadBalancing
	if !retries(h) {
		return
	}
	if len(lb.RetryMatchRaw) == 0 {
		lb.RetryMatchRaw = caddyhttp.RawMatcherSets{{"method": json.RawMessage(`["GET","POST"]`)}}
	}
	if h.RequestBuffers == 0 {
		h.RequestBuffers = maxRequestBuffer
	}
}

// freshConnections turns off the keep-alive of an HTTP transport that does not say anything about it. The interval of
// TCP's probes stands with it, but is about another keep-alive.
func freshConnections(transport json.RawMessage) (json.RawMessage, error) {
	options := map[string]json.RawMessage{"protocol": json.RawMessage(`"http"`)}
	if len(transport) > 0 {
		if err := json.Unmarshal(transport, &options); err != nil {
			return nil, err
		}
	}
	if string(options["protocol"]) != `"http"` {
		return transport, nil
	}
	keepAlive := map[string]json.RawMessage{}
	if said := options["keep_alive"]; len(said) > 0 {
		if err := json.Unmarshal(said, &keepAlive); err != nil {
			return nil, fmt.Errorf("keep_alive: %w", err)
		}
	}
	for option := range keepAlive {
		if option != "probe_interval" {
			return transport, nil
		}
	}
	off := map[string]json.RawMessage{"enabled": json.RawMessage("false")}
	maps.Copy(off, keepAlive)
	var err error
	if options["keep_alive"], err = json.Marshal(off); err != nil {
		return nil, err
	}
	return json.Marshal(options)
}
