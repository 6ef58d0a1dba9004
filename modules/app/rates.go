package app

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// RateLimit is a limit on the rate of requests: a burst of `events`, refilled evenly within `window`. Limits with the
// same name, events and window share their counts, also across reloads.
type RateLimit struct {
	// The name in the headers RateLimit and RateLimit-Policy: letters, digits, `_` and `-`. Required.
	Name string `json:"name,omitempty"`

	// The events in each window, at least 1. Required.
	Events int `json:"events,omitempty"`

	// The window, 1 second to 1 hour. Required.
	Window caddy.Duration `json:"window,omitempty"`

	rates  *admission.Rates
	policy string
}

var (
	rateName  = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
	ratesPool = caddy.NewUsagePool() // the policy of a RateLimit → *sharedRates
)

type sharedRates struct{ *admission.Rates }

// Destruct implements caddy.Destructor.
func (*sharedRates) Destruct() error { return nil }

// Check validates a limit.
func (l *RateLimit) Check() error {
	switch window := time.Duration(l.Window); {
	case !rateName.MatchString(l.Name):
		return options.Errorf("name", "%q is not a name of letters, digits, _ and -", l.Name)
	case l.Events < 1:
		return options.Errorf("events", "%d is not a positive whole number", l.Events)
	case window < time.Second || window > time.Hour || window%time.Second != 0:
		return options.Errorf("window", "%v is not between 1s and 1h, in whole seconds", window)
	}
	return nil
}

// Unmarshal reads `<events> <window> [<name>]` of a Caddyfile.
func (l *RateLimit) Unmarshal(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) != 2 && len(args) != 3 {
		return options.ErrCount
	}
	var err error
	if l.Events, err = strconv.Atoi(args[0]); err != nil {
		return fmt.Errorf("%q is not a positive whole number of events", args[0])
	}
	window, err := caddy.ParseDuration(args[1])
	if err != nil {
		return fmt.Errorf("%q is not a duration, such as 1s or 10s", args[1])
	}
	if l.Window = caddy.Duration(window); len(args) == 3 {
		l.Name = args[2]
	}
	return l.Check()
}

// Provision checks the limit and acquires its counts. The caller must Cleanup.
func (l *RateLimit) Provision() error {
	if err := l.Check(); err != nil {
		return err
	}
	policy := fmt.Sprintf("%q;q=%d;w=%d", l.Name, l.Events, time.Duration(l.Window)/time.Second)
	rates, _, err := ratesPool.LoadOrNew(policy, func() (caddy.Destructor, error) {
		return &sharedRates{admission.NewRates(l.Events, time.Duration(l.Window))}, nil
	})
	if err != nil {
		return err // impossible: the constructor has no error
	}
	l.rates, l.policy = rates.(*sharedRates).Rates, policy
	return nil
}

// Cleanup releases the counts. Requests of the configuration that ends may still use them.
func (l *RateLimit) Cleanup() {
	if l != nil && l.rates != nil {
		_, _ = ratesPool.Delete(l.policy) // Destruct has no error
	}
}

// Take counts one request of a client or account, and adds the headers of draft-ietf-httpapi-ratelimit-headers-10 to
// the response. It returns how long to wait if the request must be refused. A nil limit allows everything.
func (l *RateLimit) Take(h http.Header, key string) (retry time.Duration, refused bool) {
	if l == nil {
		return 0, false
	}
	state := l.rates.Take(key, 1)
	l.addHeaders(h, state)
	return state.Retry, !state.Allowed
}

// takeMore counts further events for a request that Take has counted. More than the limit has count as all of them.
func (l *RateLimit) takeMore(key string, events int) error {
	if events = min(events, l.Events-1); events < 1 {
		return nil
	}
	state := l.rates.Take(key, events)
	if state.Allowed {
		return nil
	}
	return TooManyRequests(state.Retry + time.Duration(l.Window)/time.Duration(l.Events)) // a new request takes one, too
}

func (l *RateLimit) addHeaders(h http.Header, state admission.Rate) {
	var room [96]byte
	b := append(append(append(room[:0], '"'), l.Name...), `";r=`...)
	b = strconv.AppendInt(b, int64(state.Remaining), 10)
	b = strconv.AppendInt(append(b, ";t="...), int64((state.Full+time.Second-1)/time.Second), 10)
	addItem(h, "Ratelimit", string(b))
	addItem(h, "Ratelimit-Policy", l.policy)
}

// limitVar is the request variable that holds the RateLimit of the client.
const limitVar = "http.handlers.maps_limit"

// SetClientLimit records the limit that has counted the request of this context for its client network.
func SetClientLimit(ctx context.Context, l *RateLimit) { caddyhttp.SetVar(ctx, limitVar, l) }

// TakeMore counts further events for a request that is more work than others, in the limits of its account and its
// client network. It returns the apierror.Error to send if one of them refuses the request.
func TakeMore(ctx context.Context, events int) error {
	if l, ok := caddyhttp.GetVar(ctx, limitVar).(*RateLimit); ok {
		if err := l.takeMore(ClientNetwork(ctx), events); err != nil {
			return err
		}
	}
	if pass := PassOf(ctx); pass != nil {
		if l, account := pass.Limit(); l != nil {
			return l.takeMore(account, events)
		}
	}
	return nil
}

// addItem adds an item to a list in a header.
func addItem(h http.Header, name, item string) {
	if before := h[name]; len(before) == 1 {
		before[0] += ", " + item
		return
	}
	h[name] = []string{item}
}

// TooManyRequests is the error for a request that a RateLimit refuses.
func TooManyRequests(retry time.Duration) apierror.Error {
	return apierror.TooManyRequests("too many requests", retry)
}
