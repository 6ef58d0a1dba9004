package apierror

import (
	"net/http"
	"strconv"
	"time"
)

// Quota is a kind of quotas, with the cached body of its error, since a client may send many requests that exceed it.
type Quota struct {
	name     string
	exceeded Error
}

// NewQuota returns a kind of quotas. Its name has only letters, digits and hyphens.
func NewQuota(name string) *Quota {
	e := Error{
		Status: http.StatusTooManyRequests, Code: "QUOTA_EXCEEDED", RoutingCode: "QUOTA_EXCEEDED",
		Message: "the quota " + name + " is exceeded",
	}
	e.bodies = &[styles][]byte{Platform.Body(e), Routing.Body(e), OAuth.Body(e)}
	return &Quota{name, e}
}

// QuotaUse is the state of a quota.
type QuotaUse struct {
	Limit     int64         // for each window
	Remaining int64         // of this window
	Window    time.Duration // the length of this window, in whole seconds
	Reset     time.Duration // until the next window, in whole seconds
}

// Exceeded is for a request that exceeds the quota in this window. It has the headers of
// draft-ietf-httpapi-ratelimit-headers-10.
func (q *Quota) Exceeded(use QuotaUse) Error {
	var room [160]byte
	b := q.appendItem(room[:0], ";q=", use.Limit, ";w=", use.Window)
	policy := len(b)
	b = q.appendItem(b, ";r=", use.Remaining, ";t=", use.Reset)
	both := string(b) // one allocation
	e := q.exceeded
	e.RateLimitPolicy, e.RateLimit, e.RetryAfter = both[:policy], both[policy:], use.Reset
	return e
}

// appendItem appends an item of a structured field: the quota's name with two parameters.
func (q *Quota) appendItem(b []byte, quantity string, n int64, seconds string, d time.Duration) []byte {
	const largest = 999_999_999_999_999 // the largest integer of a structured field (RFC 9651)
	b = append(append(append(b, '"'), q.name...), '"')
	b = strconv.AppendInt(append(b, quantity...), min(n, largest), 10)
	return strconv.AppendInt(append(b, seconds...), int64(d/time.Second), 10)
}
