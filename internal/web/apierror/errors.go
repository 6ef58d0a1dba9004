package apierror

import (
	"net/http"
	"time"
)

// FailedValidation: a body or parameter is wrong; message names it. 400 FAILED_VALIDATION in the platform style, 422
// InvalidInput in the routing style.
func FailedValidation(message string) Error {
	return Error{
		Status: http.StatusBadRequest, Code: "FAILED_VALIDATION",
		RoutingStatus: http.StatusUnprocessableEntity, RoutingCode: "InvalidInput",
		Message: message,
	}
}

// InvalidInput is FailedValidation under the name it has in the routing style.
func InvalidInput(message string) Error { return FailedValidation(message) }

// Unauthorized: no token, or one that is not valid; why is never told. sent says whether the request carried a token.
func Unauthorized(sent bool) Error {
	e := Error{
		Status: http.StatusUnauthorized, Message: "invalid or missing api key",
		RoutingCode: "Not Authorized - No Token", RoutingMessage: "no token was sent",
		Challenge: "Bearer",
	}
	if sent {
		e.RoutingCode, e.RoutingMessage = "Not Authorized - Invalid Token", "the token is invalid or has expired"
		e.Challenge = `Bearer error="invalid_token"`
	}
	return e
}

// InsufficientScope: the token is valid but does not allow this. scope lists the scopes that are needed, separated by
// spaces; empty where no scope would help.
func InsufficientScope(scope string) Error {
	e := Error{
		Status: http.StatusForbidden, Code: "INSUFFICIENT_SCOPE", RoutingCode: "InsufficientScope",
		Message: "insufficient scope", Challenge: `Bearer error="insufficient_scope"`,
	}
	if scope != "" {
		e.Challenge += `, scope="` + scope + `"`
	}
	return e
}

// Forbidden: this is not for whoever asks, whatever the token.
func Forbidden(message string) Error {
	return Error{Status: http.StatusForbidden, RoutingCode: "Forbidden", Message: message}
}

// Restricted: the token may not be used from where the request comes from; from where it may is never told.
func Restricted() Error {
	return Error{Status: http.StatusForbidden, Code: "RESTRICTED", RoutingCode: "RESTRICTED",
		Message: "the token may not be used from here"}
}

// NotFound: there is no such thing at this path.
func NotFound(message string) Error {
	return Error{Status: http.StatusNotFound, RoutingCode: "NotFound", Message: message}
}

// NoRoute: no drive on the road network fits the trace.
func NoRoute(message string) Error {
	return Error{Status: http.StatusNotFound, RoutingCode: "NoRoute", Message: message}
}

// MethodNotAllowed: the path exists, and allow lists its methods.
func MethodNotAllowed(allow ...string) Error {
	return Error{Status: http.StatusMethodNotAllowed, RoutingCode: "MethodNotAllowed", Message: "method not allowed",
		Allow: allow}
}

// InvalidTransition: the status of an account does not allow the change.
func InvalidTransition(message string) Error {
	return Error{Status: http.StatusConflict, Code: "INVALID_TRANSITION", RoutingCode: "InvalidTransition",
		Message: message}
}

// AccountLimit: the organization has as many service accounts as it can have.
func AccountLimit(message string) Error {
	return Error{Status: http.StatusConflict, Code: "ACCOUNT_LIMIT", RoutingCode: "AccountLimit", Message: message}
}

// RequestTimeout: the body did not arrive in time.
func RequestTimeout() Error {
	return Error{
		Status: http.StatusRequestTimeout, RoutingCode: "RequestTimeout",
		Message: "the request body did not arrive in time",
	}
}

// TooLarge: the body is larger than the endpoint takes.
func TooLarge() Error {
	return Error{Status: http.StatusRequestEntityTooLarge, RoutingCode: "TooLarge", Message: "request body too large"}
}

// UnsupportedMediaType: the body is of a kind that the endpoint does not read.
func UnsupportedMediaType() Error {
	return Error{Status: http.StatusUnsupportedMediaType, RoutingCode: "UnsupportedMediaType",
		Message: "unsupported media type"}
}

// TooManyRequests: somebody asks more often than is allowed, and may again after a while.
func TooManyRequests(message string, retryAfter time.Duration) Error {
	return Error{Status: http.StatusTooManyRequests, RoutingCode: "TooManyRequests", Message: message,
		RetryAfter: retryAfter}
}

// Internal: an error of the service itself.
func Internal() Error {
	return Error{Status: http.StatusInternalServerError, RoutingCode: "InternalError", Message: "internal server error"}
}

// BadGateway: a service behind this one sent an invalid response.
func BadGateway() Error {
	return Error{Status: http.StatusBadGateway, RoutingCode: "BadGateway", Message: "bad gateway"}
}

// Unavailable: something that the response needs cannot be reached at the moment.
func Unavailable() Error {
	return Error{Status: http.StatusServiceUnavailable, RoutingCode: "Unavailable", Message: "service unavailable"}
}

// TooSlow: the store takes too long over a query.
func TooSlow() Error {
	return Error{Status: http.StatusServiceUnavailable, RoutingCode: "Unavailable", Message: "the query takes too long"}
}

// Busy: other requests use what this one needs, and it is worth to try again after a while.
func Busy(retryAfter time.Duration) Error {
	return Error{
		Status: http.StatusServiceUnavailable, RoutingCode: "Unavailable", Message: "too many requests are under way",
		RetryAfter: retryAfter,
	}
}

// Timeout: the response took too long to make.
func Timeout() Error {
	return Error{Status: http.StatusGatewayTimeout, RoutingCode: "Timeout", Message: "timeout"}
}
