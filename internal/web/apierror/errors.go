package apierror

import (
	"net/http"
	"strings"
	"time"
)

// OfStatus is the error for a status of 400 or more of which nothing else is known, such as one of another handler.
func OfStatus(status int) Error {
	switch status {
	case http.StatusBadRequest: // of Caddy itself: a request without a Host
		return FailedValidation("host: missing or malformed")
	case http.StatusUnauthorized:
		return Unauthorized(true)
	case http.StatusForbidden:
		return Forbidden("forbidden")
	case http.StatusNotFound:
		return NotFound("not found")
	case http.StatusMethodNotAllowed: // of Caddy itself: a method that no handler knows
		return MethodNotAllowed(http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete)
	case http.StatusRequestTimeout:
		return RequestTimeout()
	case http.StatusRequestEntityTooLarge:
		return TooLarge()
	case http.StatusUnsupportedMediaType:
		return UnsupportedMediaType("unsupported media type")
	case http.StatusTooManyRequests:
		return TooManyRequests("too many requests", 0)
	case http.StatusInternalServerError:
		return Internal()
	case http.StatusBadGateway:
		return BadGateway()
	case http.StatusServiceUnavailable:
		return Unavailable()
	case http.StatusGatewayTimeout:
		return Timeout()
	}
	text := http.StatusText(status)
	return Error{Status: status, Message: strings.ToLower(text), RoutingCode: strings.ReplaceAll(text, " ", "")}
}

// FailedValidation is for an invalid body or parameter, which message names. It is 400 FAILED_VALIDATION in the
// platform style, and 422 InvalidInput in the routing style.
func FailedValidation(message string) Error {
	return Error{
		Status: http.StatusBadRequest, Code: "FAILED_VALIDATION",
		RoutingStatus: http.StatusUnprocessableEntity, RoutingCode: "InvalidInput",
		Message: message,
	}
}

// InvalidInput is FailedValidation by its name in the routing style.
func InvalidInput(message string) Error { return FailedValidation(message) }

// Unauthorized is for a missing or invalid token. It does not say why the token is invalid. sent is whether the request
// had a token.
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

// WithDescription adds an error_description to the challenge of Unauthorized(true), unless it is empty. It must not
// contain quotes, backslashes or a part of the token.
func (e Error) WithDescription(description string) Error {
	if description != "" {
		e.Challenge += `, error_description="` + description + `"`
	}
	return e
}

// OAuthError is an error of OAuth 2 (RFC 6749, section 5.2): 401 for the code invalid_client, else 400. The description
// is ASCII without quotes and backslashes.
func OAuthError(code, description string) Error {
	e := Error{Status: http.StatusBadRequest, OAuthCode: code, Message: description}
	if code == "invalid_client" {
		e.Status, e.Challenge = http.StatusUnauthorized, `Basic realm="caddy-maps"`
	}
	return e
}

// InsufficientScope is for a valid token without the required rights. scope lists the required scopes, separated by
// spaces; it is empty if no scope would help.
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

// Forbidden is for requests that are not allowed with any token.
func Forbidden(message string) Error {
	return Error{Status: http.StatusForbidden, RoutingCode: "Forbidden", Message: message}
}

// Restricted is for requests that violate the restrictions of the token's account. It does not disclose them.
func Restricted() Error {
	return Error{Status: http.StatusForbidden, Code: "RESTRICTED", RoutingCode: "RESTRICTED",
		Message: "the token may not be used from here"}
}

// NotFound is for a path or an object that does not exist.
func NotFound(message string) Error {
	return Error{Status: http.StatusNotFound, RoutingCode: "NotFound", Message: message}
}

// NoRoute is for a trace that matches no route.
func NoRoute(message string) Error {
	return Error{Status: http.StatusNotFound, RoutingCode: "NoRoute", Message: message}
}

// NoSegment is for a place without a road near it.
func NoSegment(message string) Error {
	return Error{Status: http.StatusNotFound, RoutingCode: "NoSegment", Message: message}
}

// TooMuch is for a request that asks for more than is allowed: 422 in both styles.
func TooMuch(message string) Error {
	e := FailedValidation(message)
	e.Status = http.StatusUnprocessableEntity
	return e
}

// MethodNotAllowed is for a method that the path does not support; allow lists those that it does.
func MethodNotAllowed(allow ...string) Error {
	return Error{Status: http.StatusMethodNotAllowed, RoutingCode: "MethodNotAllowed", Message: "method not allowed",
		Allow: allow}
}

// InvalidTransition is for a change that the status of an account does not allow.
func InvalidTransition(message string) Error {
	return Error{Status: http.StatusConflict, Code: "INVALID_TRANSITION", RoutingCode: "InvalidTransition",
		Message: message}
}

// AccountLimit is for an organization that has the maximum number of service accounts.
func AccountLimit(message string) Error {
	return Error{Status: http.StatusConflict, Code: "ACCOUNT_LIMIT", RoutingCode: "AccountLimit", Message: message}
}

// KeyLimit is for a service account that has the maximum number of publishable keys.
func KeyLimit(message string) Error {
	return Error{Status: http.StatusConflict, Code: "KEY_LIMIT", RoutingCode: "KeyLimit", Message: message}
}

// RequestTimeout is for a body that did not arrive in time.
func RequestTimeout() Error {
	return Error{
		Status: http.StatusRequestTimeout, RoutingCode: "RequestTimeout",
		Message: "the request body did not arrive in time",
	}
}

// TooLarge is for a body that is larger than the endpoint accepts.
func TooLarge() Error {
	return Error{Status: http.StatusRequestEntityTooLarge, RoutingCode: "TooLarge", Message: "request body too large"}
}

// UnsupportedMediaType is for a body in a form that the endpoint does not accept. message names it; accepted are the
// media types that the endpoint accepts.
func UnsupportedMediaType(message string, accepted ...string) Error {
	return Error{Status: http.StatusUnsupportedMediaType, RoutingCode: "UnsupportedMediaType", Message: message,
		Accept: accepted}
}

// TooManyRequests is for a client that exceeds a rate limit.
func TooManyRequests(message string, retryAfter time.Duration) Error {
	return Error{Status: http.StatusTooManyRequests, RoutingCode: "TooManyRequests", Message: message,
		RetryAfter: retryAfter}
}

// Internal is for an unexpected error of the service.
func Internal() Error {
	return Error{Status: http.StatusInternalServerError, RoutingCode: "InternalError", Message: "internal server error"}
}

// BadGateway is for an invalid response of an upstream service.
func BadGateway() Error {
	return Error{Status: http.StatusBadGateway, RoutingCode: "BadGateway", Message: "bad gateway"}
}

// Unavailable is for a request that needs something that is temporarily unavailable.
func Unavailable() Error {
	return Error{Status: http.StatusServiceUnavailable, RoutingCode: "Unavailable", Message: "service unavailable"}
}

// TooSlow is for a query that takes the store too long.
func TooSlow() Error {
	return Error{Status: http.StatusServiceUnavailable, RoutingCode: "Unavailable", Message: "the query takes too long"}
}

// Busy is for a request that would have to wait too long for others.
func Busy(retryAfter time.Duration) Error {
	return Error{
		Status: http.StatusServiceUnavailable, RoutingCode: "Unavailable", Message: "too many requests are under way",
		RetryAfter: retryAfter,
	}
}

// Timeout is for a response that took too long.
func Timeout() Error {
	return Error{Status: http.StatusGatewayTimeout, RoutingCode: "Timeout", Message: "timeout"}
}
