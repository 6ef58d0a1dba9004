package app

import (
	"net/http"
	"net/netip"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// outsideRepeated refuses a request with several Origin or Referer headers.
const outsideRepeated account.Outside = "repeated Origin or Referer"

// CheckRestrictions compares the origin and the address of a request with an account's restrictions; nil allows any.
// violated reports whether the request must be refused. The reason is only for the operator.
func CheckRestrictions(bounds *account.Bounds, r *http.Request) (reason Reason, violated bool) {
	if bounds == nil {
		return Reason{}, false
	}
	origins, referers := r.Header["Origin"], r.Header["Referer"]
	if len(origins) > 1 || len(referers) > 1 {
		return Reason{string(outsideRepeated)}, true
	}
	client, _ := netip.ParseAddr(RemoteIP(r)) // a Unix socket has no address, which is in no network
	why := bounds.Allow(first(origins), first(referers), client)
	return Reason{string(why)}, why != ""
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
