package remote

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// invalidResponse is a response that breaks the protocol of its service.
type invalidResponse struct{ reason string }

func (i *invalidResponse) Error() string { return i.reason }

var errCutOff = InvalidResponse("the response was cut off")

// InvalidResponse is the error for a response that breaks the protocol of its service. The reason is logged and never
// sent to the client.
func InvalidResponse(format string, args ...any) error {
	return &invalidResponse{fmt.Sprintf(format, args...)}
}

// Unexpected is the error for a status that the service's protocol gives no meaning.
func Unexpected(status int) error {
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return apierror.Unavailable()
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return apierror.Timeout()
	}
	return InvalidResponse("status %d", status)
}

// failure returns the API's error for an error of reverse_proxy.
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
