package app

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/admission"
)

// Body returns the memory that a request's body may take, which is nothing yet. The caller must release it.
func (a *App) Body(r *http.Request) admission.Hold { return a.BodyOf(Caller(r.Context())) }

// BodyOf is Body for who is known already.
func (a *App) BodyOf(caller admission.Caller) admission.Hold { return a.shared.bodies.For(caller) }

// Processors shares the processors between the requests of all configurations.
func (a *App) Processors() *admission.Processors { return a.shared.processors }

// Admission is what the requests of all configurations share.
type Admission struct {
	Bodies     *admission.Bodies
	Processors *admission.Processors
}

// AcquireAdmission is for modules that may work without the app. release must be called in their Cleanup.
func AcquireAdmission() (a Admission, release func()) {
	s := acquireShared()
	return Admission{s.bodies, s.processors}, releaseShared
}

// Patience is how long a request waits at most for what requests share.
func (a *App) Patience() time.Duration { return a.settled.maxWait }

// Caller is for whom a request's share of what is scarce is counted: the organization and the account behind its token.
// An identity without an organization, such as one of basic_auth, is an organization of its own, and so is, where no
// handler has authenticated the request, the network of its client.
func Caller(ctx context.Context) admission.Caller {
	if repl, ok := ctx.Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		if id, _ := repl.GetString("http.auth.user.id"); id != "" {
			organization, _ := repl.GetString("http.auth.user.organization")
			return admission.Caller{Organization: cmp.Or(organization, id), Account: id}
		}
	}
	return admission.Caller{Organization: ClientNetwork(ctx)}
}

// ClientNetwork is the IP address of a request's client or, of an IPv6 address, its first 64 bits as a prefix, for a
// client has as many addresses as it likes within them.
func ClientNetwork(ctx context.Context) string {
	ip, _ := caddyhttp.GetVar(ctx, caddyhttp.ClientIPVarKey).(string)
	if addr, err := netip.ParseAddr(ip); err == nil && addr.Is6() && !addr.Is4In6() {
		if network, err := addr.WithZone("").Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip
}
