package mapsapp

import (
	"net/http"
	"net/netip"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// outsideRepeated is why a request is refused that says twice where it comes from.
const outsideRepeated account.Violation = "repeated Origin or Referer"

// OutOfBounds compares where a request comes from with where an account's tokens may be used; nil is anywhere. out is
// whether the request has to be refused, for a reason that is only for the operator.
func OutOfBounds(bounds *account.CompiledRestrictions, r *http.Request) (reason Reason, out bool) {
	if bounds == nil {
		return Reason{}, false
	}
	origins, referers := r.Header["Origin"], r.Header["Referer"]
	if len(origins) > 1 || len(referers) > 1 {
		return Reason{string(outsideRepeated)}, true
	}
	client, _ := netip.ParseAddr(RemoteIP(r)) // none, as of a Unix socket, is in no network
	why := bounds.Check(first(origins), first(referers), client)
	return Reason{string(why)}, why != ""
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
