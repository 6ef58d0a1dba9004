package app

import (
	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// Handlers that refuse requests.
const (
	AuthHandler       = "maps_auth"
	TokensHandler     = "maps_tokens"
	AccountsHandler   = "maps_accounts"
	PlaygroundHandler = "maps_playground"
	LimitHandler      = "maps_limit"
)

// Reason is why a handler refuses a request: one of a few fixed texts. Its counter starts at 0 before the first
// refusal, because alerts on an increase miss a series that starts with its first event.
type Reason struct{ text string }

func (r Reason) String() string { return r.text }

// refusalLabels are the labels of one series of refusals.
type refusalLabels struct{ handler, reason string }

// knownRefusals are all possible labels. The list is complete once all packages are initialized.
var knownRefusals []refusalLabels

// NewReason creates a reason of some handlers. Call it only for package variables, so that all reasons are known when
// the program starts.
func NewReason(text string, handlers ...string) Reason {
	for _, handler := range handlers {
		knownRefusals = append(knownRefusals, refusalLabels{handler, text})
	}
	return Reason{text}
}

// Reasons in addition to those of credential.Reason.
var (
	// ReasonUnavailable: the store, or the issuer of a user token, could not be asked.
	ReasonUnavailable = NewReason("store unavailable", AuthHandler, TokensHandler, AccountsHandler, PlaygroundHandler)
	// ReasonNoToken: the request had no token.
	ReasonNoToken = NewReason("no token", AuthHandler, AccountsHandler)
	// ReasonNoScope: the token is valid, but lacks a required scope.
	ReasonNoScope = NewReason("insufficient scope", AuthHandler)
	// ReasonRate: the client or the account sends requests faster than a rate limit allows.
	ReasonRate = NewReason("rate limit exceeded", AuthHandler, LimitHandler)
	// ReasonQuota: a quota is used up.
	ReasonQuota = NewReason("quota exceeded", AuthHandler)
)

func init() {
	for _, reason := range credential.Reasons() {
		NewReason(reason, AuthHandler, TokensHandler, AccountsHandler, PlaygroundHandler)
	}
	for _, violation := range []account.Violation{
		account.ViolationNoOrigin, account.ViolationOrigin, account.ViolationNetwork, violationRepeated,
	} {
		NewReason(string(violation), AuthHandler, AccountsHandler)
	}
	for _, err := range request.Errors {
		NewReason(err.Error(), AuthHandler, AccountsHandler)
	}
}

// ReasonFor returns the reason of an error of package credential, or ReasonUnavailable if it is not a refusal.
func ReasonFor(err error) Reason {
	if reason := credential.Reason(err); reason != "" {
		return Reason{reason}
	}
	return ReasonUnavailable
}

// BearerReason returns the reason of one of request.Errors.
func BearerReason(err error) Reason { return Reason{err.Error()} }

// Refused counts a request that a handler refused.
func (m *Metrics) Refused(handler string, reason Reason) {
	m.refusals.WithLabelValues(handler, reason.text).Inc()
}
