package upstream

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/mapsedge/caddy-maps/internal/apierror"
)

// nonsense is an answer that cannot be understood.
type nonsense struct{ reason string }

func (n *nonsense) Error() string { return n.reason }

var errBrokenOff = Nonsense("the answer broke off")

// Nonsense is what a reader of answers returns for one that makes no sense. The reason goes to the log, never to the
// client.
func Nonsense(format string, args ...any) error { return &nonsense{fmt.Sprintf(format, args...)} }

// Unexpected is what a reader of answers returns for a status that has no meaning of its own in the service's protocol.
func Unexpected(status int) error {
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return apierror.Unavailable()
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return apierror.Timeout()
	}
	return Nonsense("status %d", status)
}

// failure is the API's error for an error of the proxy.
func failure(err error) apierror.Error {
	var dial reverseproxy.DialError
	if errors.As(err, &dial) {
		return apierror.Unavailable()
	}
	var handler caddyhttp.HandlerError
	if errors.As(err, &handler) {
		switch handler.StatusCode {
		case http.StatusServiceUnavailable:
			return apierror.Unavailable()
		case http.StatusGatewayTimeout:
			return apierror.Timeout()
		}
	}
	return apierror.BadGateway()
}
