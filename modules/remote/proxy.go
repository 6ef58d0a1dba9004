package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

// Protocol is what a module knows of its engine.
type Protocol struct {
	// RetryPosts allows configured retries to repeat a POST, because a POST changes nothing.
	RetryPosts bool
	// FreshConnections uses a new connection for each exchange, because keep-alive makes the service slower. The options
	// of the transport take precedence.
	FreshConnections bool
}

// check refuses options that are meaningless here, where the responses are read.
func check(h *reverseproxy.Handler) error {
	if len(h.Upstreams) == 0 && h.DynamicUpstreamsRaw == nil {
		return errors.New("at least one upstream is needed, such as http://10.0.0.5:5000")
	}
	if len(h.HandleResponse) > 0 {
		return errors.New("handle_response cannot be used here")
	}
	return nil
}

// maxRequestBuffer is the largest request body that can be retried, in bytes.
const maxRequestBuffer = 64 << 20

// cutOffRetries is how often an exchange is repeated after its response was cut off, if retries are configured.
// reverse_proxy cannot do that, because it forwards responses while they arrive.
const cutOffRetries = 2

func retries(h *reverseproxy.Handler) bool {
	lb := h.LoadBalancing
	return lb != nil && (lb.Retries > 0 || lb.TryDuration > 0)
}

// allowRetries lets configured retries repeat POSTs, and buffers request bodies for that.
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

// freshConnections turns keep-alive off in an HTTP transport that has no option about it. probe_interval does not
// count: it is about TCP keep-alive.
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
