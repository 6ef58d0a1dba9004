package remote

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// invalidResponse is a response that cannot be understood.
type invalidResponse struct{ reason string }

func (i *invalidResponse) Error() string { return i.reason }

var errBrokenOff = InvalidResponse("the response broke off")

// InvalidResponse is what a reader of responses returns for one that breaks the protocol of its service. The reason
// goes to the log, never to the client.
func InvalidResponse(format string, args ...any) error {
	return &invalidResponse{fmt.Sprintf(format, args...)}
}

// Unexpected is what a reader of responses returns for a status that has no meaning of its own in the service's
// protocol.
func Unexpected(status int) error {
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return apierror.Unavailable()
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return apierror.Timeout()
	}
	return InvalidResponse("status %d", status)
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
