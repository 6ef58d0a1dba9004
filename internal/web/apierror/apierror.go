// Package apierror writes the service's error answers. There are two families of bodies, one of the platform
// (tokens, accounts, reverse geocoding) and one of routing (map matching); every error can be written in both.
package apierror

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Style is a family of error bodies.
type Style uint8

const (
	// Platform writes {"error": text} with a "code" where the error has one.
	Platform Style = iota
	// Routing writes {"error": {"code", "message", "status"}}.
	Routing
)

// ParseStyle reads a style's name in a configuration: "platform" (also ""), or "routing".
func ParseStyle(name string) (Style, error) {
	switch name {
	case "", "platform":
		return Platform, nil
	case "routing":
		return Routing, nil
	}
	return Platform, fmt.Errorf("%q is not known; it is platform or routing", name)
}

// String returns the style's name.
func (s Style) String() string {
	if s == Routing {
		return "routing"
	}
	return "platform"
}

// Error is a response that tells a client what went wrong. Its texts are shown to the client, so they never hold an
// internal detail. The constructors of this package fill it in.
type Error struct {
	// Status is the HTTP status.
	Status int
	// RoutingStatus replaces Status in the routing style where it is not 0.
	RoutingStatus int
	// Code is the platform style's code; most errors have none.
	Code string
	// RoutingCode is the routing style's code.
	RoutingCode string
	// Message says what is wrong.
	Message string
	// RoutingMessage replaces Message in the routing style where it is not empty.
	RoutingMessage string
	// Allow lists the methods of a resource that was asked with another one.
	Allow []string
	// RetryAfter becomes a Retry-After header in whole seconds, rounded up, where it is positive.
	RetryAfter time.Duration
	// Challenge is the value of WWW-Authenticate.
	Challenge string
	// RateLimit and RateLimitPolicy are the values of the headers of these names; most errors have none.
	RateLimit, RateLimitPolicy string

	bodies *[Routing + 1][]byte // what Body returns, where that was written before
}

// Error returns the message, so that an Error can travel as an error.
func (e Error) Error() string { return e.Message }

type platformBody struct {
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
}

type routingBody struct {
	Error routingDetail `json:"error"`
}

type routingDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Status  int    `json:"status"`
}

// StatusOf returns the status that an error has in this style.
func (s Style) StatusOf(e Error) int {
	if s == Routing && e.RoutingStatus != 0 {
		return e.RoutingStatus
	}
	return e.Status
}

// Body returns the JSON of an error in this style, with a final newline. It must not be changed.
func (s Style) Body(e Error) []byte {
	if e.bodies != nil {
		return e.bodies[s]
	}
	var body any
	if s == Routing {
		message := e.Message
		if e.RoutingMessage != "" {
			message = e.RoutingMessage
		}
		body = routingBody{Error: routingDetail{Code: e.RoutingCode, Message: message, Status: s.StatusOf(e)}}
	} else {
		body = platformBody{Error: e.Message, Code: e.Code}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // strings and numbers alone: this cannot fail
	return buf.Bytes()
}

// Write answers with an error. Answers that may depend on who asks (401, 403) or that must not outlive the moment (429,
// 503) are marked no-store; for others the caller's Cache-Control stands.
func (s Style) Write(w http.ResponseWriter, e Error) {
	h := w.Header()
	// what was meant for another body
	delete(h, "Content-Encoding")
	delete(h, "Etag")
	delete(h, "Last-Modified")
	values := make([]string, 0, 8) // one allocation for all
	set := func(name, value string) {
		values = append(values, value)
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	set("Content-Type", "application/json")
	status := s.StatusOf(e)
	switch status {
	case http.StatusRequestTimeout:
		set("Connection", "close") // what is still to come of the body would be taken for the next request
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		set("Cache-Control", "no-store")
	}
	if e.Challenge != "" {
		set("Www-Authenticate", e.Challenge)
	}
	if e.RateLimitPolicy != "" {
		set("Ratelimit-Policy", e.RateLimitPolicy)
		set("Ratelimit", e.RateLimit)
	}
	if len(e.Allow) > 0 {
		set("Allow", strings.Join(e.Allow, ", "))
	}
	if e.RetryAfter > 0 {
		set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	body := s.Body(e)
	set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone is nobody to tell
}
