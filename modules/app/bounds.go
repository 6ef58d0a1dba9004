package app

import (
	"net/http"
	"net/netip"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// violationRepeated refuses a request with several Origin or Referer headers.
const violationRepeated account.Violation = "repeated Origin or Referer"

// CheckRestrictions compares the origin and the address of a request with an account's restrictions; nil allows any.
// violated reports whether the request must be refused. The reason is only for the operator.
func CheckRestrictions(restrictions *account.CompiledRestrictions, r *http.Request) (reason Reason, violated bool) {
	if restrictions == nil {
		return Reason{}, false
	}
	origins, referers := r.Header["Origin"], r.Header["Referer"]
	if len(origins) > 1 || len(referers) > 1 {
		return Reason{string(violationRepeated)}, true
	}
	client, _ := netip.ParseAddr(RemoteIP(r)) // a Unix socket has no address, which is in no network
	why := restrictions.Check(first(origins), first(referers), client)
	return Reason{string(why)}, why != ""
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
