package app

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
)

// Body returns an empty reservation of memory for a request's body. The caller must release it.
func (a *App) Body(r *http.Request) admission.Reservation { return a.BodyOf(Caller(r.Context())) }

// BodyOf is Body for a caller that is already known.
func (a *App) BodyOf(caller admission.Caller) admission.Reservation {
	return a.shared.bodies.For(caller)
}

// Processors shares the processors between the requests of all configurations.
func (a *App) Processors() *admission.Processors { return a.shared.processors }

// Admission is what the requests of all configurations share.
type Admission struct {
	Bodies     *admission.Bodies
	Processors *admission.Processors
}

// AcquireAdmission is for modules that also work without the app. They must call release in their Cleanup.
func AcquireAdmission() (a Admission, release func()) {
	s := acquireShared()
	return Admission{s.bodies, s.processors}, releaseShared
}

// WaitTimeout is how long a request waits at most for what requests share.
func (a *App) WaitTimeout() time.Duration { return a.effective.maxWait }

// Caller returns whom a request's share of limited resources is counted for: the organization and the account of its
// token. An identity without an organization, such as one of basic_auth, counts as an organization of its own. So does
// the client's network if no handler has authenticated the request.
func Caller(ctx context.Context) admission.Caller {
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		if id, _ := repl.GetString("http.auth.user.id"); id != "" {
			organization, _ := repl.GetString("http.auth.user.organization")
			return admission.Caller{Organization: cmp.Or(organization, id), Account: id}
		}
	}
	return admission.Caller{Organization: ClientNetwork(ctx)}
}

// NetworkPlaceholder is the placeholder of ClientNetwork, behind maps_auth and maps_limit.
const NetworkPlaceholder = "http.maps.client_network"

// ClientNetwork is the IP address of a request's client. Of an IPv6 address it is the /64 prefix, since a client can
// choose any address within it.
func ClientNetwork(ctx context.Context) string {
	ip, _ := caddyhttp.GetVar(ctx, caddyhttp.ClientIPVarKey).(string)
	addr, err := netip.ParseAddr(ip)
	switch {
	case err != nil || addr.Is4():
		return ip
	case addr.Is4In6():
		return addr.Unmap().String()
	}
	network, _ := addr.WithZone("").Prefix(64) // an error only for more bits than an address has
	return network.String()
}
