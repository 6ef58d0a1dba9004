package access

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// response wraps the ResponseWriter of a request behind maps_auth and keeps the response out of shared caches. It also
// holds the identity, so that all of it is one allocation.
type response struct {
	caddyhttp.ResponseWriterWrapper
	counting
	auth     *Auth
	outer    *response // of the next outer maps_auth, or nil
	identity credential.Identity
	passed   bool
	inQuery  bool // the token was a parameter
	marked   bool // the headers are set

	// values holds the values of the headers that every response has. Each header has a slice of its own, because later
	// handlers may change it in place.
	used   uint8
	values [3]string
}

// outerOf returns the response of the last maps_auth that the request has passed, or nil.
func outerOf(r *http.Request) *response {
	outer, _ := app.PassOf(r.Context()).(*response)
	return outer
}

// publish sets the placeholders. They are computed on demand, because most requests never need them.
func (o *response) publish() {
	if o.passed && o.outer != nil {
		o.outer.identity = o.identity // its placeholders are set already
		return
	}
	o.request.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer).Map(o.placeholder)
}

func (o *response) placeholder(key string) (any, bool) {
	if key == app.NetworkPlaceholder {
		return app.ClientNetwork(o.request.Context()), true
	}
	prefix := "http.auth.candidate."
	if o.passed {
		prefix = "http.auth.user."
	}
	name, ours := strings.CutPrefix(key, prefix)
	switch {
	case !ours:
		return nil, false
	case name == "id":
		return o.identity.Client, true
	case name == "organization":
		return o.identity.Organization, true
	case name == "scopes" && o.passed:
		return o.identity.Scopes.String(), true
	case name == "admin" && o.passed:
		return o.identity.Admin, true
	}
	return nil, false
}

// Allows implements app.Pass.
func (o *response) Allows(scope account.ScopeSet) (bool, error) {
	var lacking *refusal
	for each := o; each != nil; each = each.outer {
		switch {
		case each.auth.scopes.Has(scope), each.auth.scopes == account.AnyScope && each.identity.Scopes.Has(scope):
			return true, nil
		case each.auth.scopes == account.AnyScope:
			lacking = each.auth.lacks(scope, &each.identity)
		}
	}
	if lacking == nil {
		return false, nil
	}
	o.auth.app.Metrics().Refused(app.AuthHandler, lacking.kind)
	o.auth.explain(o, lacking)
	return false, lacking.response
}

// PublishableQuery implements app.Pass.
func (o *response) PublishableQuery() string {
	if !o.inQuery || o.identity.PublishableKey == "" {
		return ""
	}
	return url.QueryEscape(o.auth.APIKeyQuery[0]) + "=" + o.identity.PublishableKey
}

// String is what a placeholder of the variable that holds the Pass yields.
func (o *response) String() string { return o.auth.scopes.String() }

// WriteHeader implements http.ResponseWriter.
func (o *response) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols { // others precede the response
		o.mark(status)
	}
	o.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (o *response) Write(p []byte) (int, error) {
	o.mark(http.StatusOK)
	return o.ResponseWriter.Write(p)
}

// ReadFrom implements io.ReaderFrom, so that files are still sent by the kernel.
func (o *response) ReadFrom(r io.Reader) (int64, error) {
	o.mark(http.StatusOK)
	return o.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError flushes the response. http.ResponseController calls it.
func (o *response) FlushError() error {
	o.mark(http.StatusOK)
	return http.NewResponseController(o.ResponseWriter).Flush()
}

// finish marks a response that no handler has begun: an error, which Caddy's error routes answer, or an empty one.
func (o *response) finish(err error) {
	status := http.StatusOK
	if failure, ok := errors.AsType[caddyhttp.HandlerError](err); ok {
		status = failure.StatusCode
	} else if err != nil {
		status = http.StatusInternalServerError
	}
	o.mark(status)
}

// mark sets the headers that every response behind maps_auth has.
func (o *response) mark(status int) {
	if o.marked {
		return
	}
	o.marked = true
	o.countResponse(status)
	h := o.Header()
	for name := range h {
		// for caches that ignore Cache-Control (RFC 9213, and older headers)
		if strings.HasSuffix(name, "-Cache-Control") || name == "Surrogate-Control" || name == "Edge-Control" ||
			name == "X-Accel-Expires" {
			delete(h, name)
		}
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusServiceUnavailable:
		h["Cache-Control"] = o.value("no-store")
	default:
		if given := h["Cache-Control"]; len(given) == 0 {
			h["Cache-Control"] = o.value("private")
		} else {
			h["Cache-Control"] = privateCacheControl(given)
		}
	}
	if len(h["Vary"]) == 0 {
		h["Vary"] = o.value("Authorization")
	} else if all := strings.Join(h["Vary"], ", "); !lists(all, "Authorization") {
		h["Vary"] = o.value(all + ", Authorization")
	}
	if len(o.auth.APIKeyQuery) > 0 {
		h["Referrer-Policy"] = o.value("no-referrer")
	}
	o.auth.cors.Allow(h, o.request)
}

// value returns a slice with one value.
func (o *response) value(v string) []string {
	if int(o.used) == len(o.values) {
		return []string{v}
	}
	o.values[o.used] = v
	o.used++
	return o.values[o.used-1 : o.used : o.used]
}

// lists reports whether a Vary header contains a name or a star.
func lists(vary, name string) bool {
	for listed := range strings.SplitSeq(vary, ",") {
		if listed = strings.TrimSpace(listed); listed == "*" || strings.EqualFold(listed, name) {
			return true
		}
	}
	return false
}

// privateCacheControl removes from a Cache-Control what allows shared caches to store the response, and adds `private`
// unless it has `no-store` or `private`.
func privateCacheControl(given []string) []string {
	if len(given) == 1 && (given[0] == "no-store" || given[0] == "private") {
		return given
	}
	all := strings.Join(given, ",")
	if strings.Contains(all, `"`) { // quoted lists may have commas; browsers ignore them
		return []string{"private, no-cache"}
	}
	var kept []string
	closed := false
	for directive := range strings.SplitSeq(all, ",") {
		directive = strings.TrimSpace(directive)
		name, _, _ := strings.Cut(strings.ToLower(directive), "=")
		switch strings.TrimSpace(name) {
		case "", "public", "s-maxage":
			continue
		case "no-store", "private":
			closed = true
		}
		kept = append(kept, directive)
	}
	if !closed {
		kept = slices.Insert(kept, 0, "private")
	}
	return []string{strings.Join(kept, ", ")}
}

// Interface guards
var (
	_ http.ResponseWriter = (*response)(nil)
	_ io.ReaderFrom       = (*response)(nil)
	_ app.Pass            = (*response)(nil)
)
