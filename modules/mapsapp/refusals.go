package mapsapp

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
)

// Reason is why a handler refuses a request: one of a few fixed texts. Each is counted from 0, before there is any
// such request, since an alert on a rise does not see a series that begins with its first event.
type Reason struct{ text string }

func (r Reason) String() string { return r.text }

// refusalLabels are the labels of one series of refusals.
type refusalLabels struct{ handler, reason string }

// knownRefusals are all that there can be. It is complete when the program has been initialized.
var knownRefusals []refusalLabels

// NewReason makes a reason of some handlers. It is for variables of packages, so that all reasons are known when
// the program starts.
func NewReason(text string, handlers ...string) Reason {
	for _, handler := range handlers {
		knownRefusals = append(knownRefusals, refusalLabels{handler, text})
	}
	return Reason{text}
}

// Reasons beside those of credential.Reason.
var (
	// ReasonUnavailable: the store, or the issuer of a user token, could not be asked.
	ReasonUnavailable = NewReason("store unavailable", AuthHandler, TokensHandler, AccountsHandler, PlaygroundHandler)
	// ReasonNoToken: nothing was presented.
	ReasonNoToken = NewReason("no token", AuthHandler, AccountsHandler)
	// ReasonNoScope: the token is valid, without the scope that is needed.
	ReasonNoScope = NewReason("insufficient scope", AuthHandler)
	// ReasonQuota: a quota is used up.
	ReasonQuota = NewReason("quota exceeded", AuthHandler)
)

func init() {
	for _, reason := range credential.Reasons() {
		NewReason(reason, AuthHandler, TokensHandler, AccountsHandler, PlaygroundHandler)
	}
	for _, outside := range []account.Violation{
		account.ViolationNoOrigin, account.ViolationOrigin, account.ViolationNetwork, outsideRepeated,
	} {
		NewReason(string(outside), AuthHandler, AccountsHandler)
	}
	for _, err := range request.Errors {
		NewReason(err.Error(), AuthHandler, AccountsHandler)
	}
}

// ReasonFor returns the reason of an error of package credential: ReasonUnavailable where it is no refusal.
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
