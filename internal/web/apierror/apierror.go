// Package apierror defines the errors of the API and writes them as responses. There are three styles of bodies:
// platform (tokens, accounts, reverse geocoding, tiles), routing (map matching) and OAuth 2. Each error can be written
// in all of them.
//
// It does not convert errors of engines: package answer does. Start with Error, and with errors.go for all errors.
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

// Style is a style of error bodies.
type Style uint8

const (
	// Platform writes {"error": text}, with a "code" if the error has one.
	Platform Style = iota
	// Routing writes {"error": {"code", "message", "status"}}.
	Routing
	// OAuth writes {"error": code, "error_description": text} (RFC 6749, section 5.2).
	OAuth

	styles = iota
)

// ParseStyle parses the name of a style: "platform" or "", or "routing".
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
	return [styles]string{"platform", "routing", "oauth"}[s]
}

// Error is an error response. Clients see its texts, so they contain no internal details. Use the constructors of this
// package.
type Error struct {
	// Status is the HTTP status.
	Status int
	// RoutingStatus replaces Status in the routing style if it is not 0.
	RoutingStatus int
	// Code is the platform style's code; most errors have none.
	Code string
	// RoutingCode is the routing style's code.
	RoutingCode string
	// OAuthCode is the code of OAuth; if it is empty, the status has one.
	OAuthCode string
	// Message describes the error.
	Message string
	// RoutingMessage replaces Message in the routing style if it is not empty.
	RoutingMessage string
	// Allow lists the allowed methods, for the Allow header.
	Allow []string
	// RetryAfter is the value of the Retry-After header, rounded up to whole seconds; 0 for none.
	RetryAfter time.Duration
	// Accept lists the media types of bodies that the path accepts.
	Accept []string
	// Challenge is the value of WWW-Authenticate.
	Challenge string
	// RateLimit and RateLimitPolicy are the values of these headers; most errors have none.
	RateLimit, RateLimitPolicy string

	// TopMessage repeats the message at the top level of the routing style, for clients that read it there.
	TopMessage bool

	bodies *[styles][]byte // cached results of Body
}

// Error implements error.
func (e Error) Error() string { return e.Message }

type platformBody struct {
	Error string `json:"error"`
	Code  string `json:"code,omitempty"`
}

type oauthBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

func (e Error) oauthCode() string {
	switch {
	case e.OAuthCode != "":
		return e.OAuthCode
	case e.Status == http.StatusTooManyRequests, e.Status == http.StatusServiceUnavailable:
		return "temporarily_unavailable"
	case e.Status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "invalid_request"
}

type routingBody struct {
	Error   routingDetail `json:"error"`
	Message string        `json:"message,omitempty"`
}

type routingDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Status  int    `json:"status"`
}

// StatusOf returns the status of an error in this style.
func (s Style) StatusOf(e Error) int {
	if s == Routing && e.RoutingStatus != 0 {
		return e.RoutingStatus
	}
	return e.Status
}

// Body returns the JSON of an error in this style, with a final newline. The caller must not change it.
func (s Style) Body(e Error) []byte {
	if e.bodies != nil && !e.TopMessage {
		return e.bodies[s]
	}
	var body any
	switch s {
	case Routing:
		message := e.Message
		if e.RoutingMessage != "" {
			message = e.RoutingMessage
		}
		routing := routingBody{Error: routingDetail{Code: e.RoutingCode, Message: message, Status: s.StatusOf(e)}}
		if e.TopMessage {
			routing.Message = message
		}
		body = routing
	case OAuth:
		body = oauthBody{Error: e.oauthCode(), Description: e.Message}
	default:
		body = platformBody{Error: e.Message, Code: e.Code}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // never fails for strings and numbers
	return buf.Bytes()
}

// Write writes an error response. Responses that depend on the client (401, 403) or are temporary (429, 503) get
// no-store; others keep the Cache-Control header that the caller has set.
func (s Style) Write(w http.ResponseWriter, e Error) {
	h := w.Header()
	// headers of another body
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
		set("Connection", "close") // the rest of the body would be read as the next request
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
	if len(e.Accept) > 0 {
		set("Accept", strings.Join(e.Accept, ", ")) // RFC 9110, section 15.5.16
	}
	if e.RetryAfter > 0 {
		set("Retry-After", strconv.FormatInt(int64((e.RetryAfter+time.Second-1)/time.Second), 10))
	}
	body := s.Body(e)
	set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has gone
}
