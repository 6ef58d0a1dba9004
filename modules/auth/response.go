package auth

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/credential"
)

// response wraps that of a request behind maps_auth, so that its headers keep it out of shared caches. It also
// holds who made the request; all of it is one allocation.
type response struct {
	caddyhttp.ResponseWriterWrapper
	counting
	auth     *Auth
	origin   string // the value of Access-Control-Allow-Origin; empty for none
	identity credential.Identity
	status   int          // of the response
	reason   fmt.Stringer // why the request was refused
	marked   bool         // the headers are as they shall be
	inner    bool         // another maps_auth, behind this one, says which pages may read the response
	own      http.Header  // what the site itself says about pages; nil for nothing

	// room for the values of the headers that every response has, each of which needs a slice of its own: later handlers
	// may change it in place
	used   uint8
	values [3]string
}

// publish makes the identity visible as placeholders. They are computed when asked for: most requests never do. outer
// is another maps_auth in front of this one, if there is one.
func (o *response) publish(repl *caddy.Replacer, outer *response) {
	if outer != nil {
		// Of two maps_auth in a chain the identity is that of the later one, and the placeholders are there already.
		outer.identity = o.identity
		return
	}
	repl.Map(o.placeholder)
}

// publishCandidate makes the account visible whose valid token did not help.
func (o *response) publishCandidate() {
	if o.identity.Client != "" {
		repl := o.request.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
		repl.Map(o.candidate)
	}
}

func (o *response) candidate(key string) (any, bool) {
	switch key {
	case "http.auth.candidate.id":
		return o.identity.Client, true
	case "http.auth.candidate.organization":
		return o.identity.Organization, true
	}
	return nil, false
}

// enclosing returns the response of another maps_auth that wraps this request.
func enclosing(w http.ResponseWriter) *response {
	for {
		if outer, ours := w.(*response); ours {
			return outer
		}
		wrapper, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			return nil
		}
		w = wrapper.Unwrap()
	}
}

func (o *response) placeholder(key string) (any, bool) {
	name, ours := strings.CutPrefix(key, "http.auth.user.")
	if !ours {
		return nil, false
	}
	switch name {
	case "id":
		return o.identity.Client, true
	case "organization":
		return o.identity.Organization, true
	case "scopes":
		return o.identity.Scopes.String(), true
	case "admin":
		return o.identity.Admin, true
	}
	return nil, false
}

// WriteHeader implements http.ResponseWriter.
func (o *response) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols { // the others announce a response that follows
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

// FlushError flushes the response, as http.ResponseController wants it.
func (o *response) FlushError() error {
	o.mark(http.StatusOK)
	return http.NewResponseController(o.ResponseWriter).Flush()
}

// finish marks a response that no handler has begun: an error, which Caddy's error routes answer, or nothing at all.
func (o *response) finish(err error) {
	switch {
	case o.marked:
	case err == nil:
		o.mark(http.StatusOK)
	default:
		o.mark(statusOf(err))
	}
}

// statusOf is the status with which Caddy answers an error of a handler.
func statusOf(err error) int {
	var failure caddyhttp.HandlerError
	if errors.As(err, &failure) {
		return failure.StatusCode
	}
	return http.StatusInternalServerError
}

// mark sets the headers that every response behind maps_auth has.
func (o *response) mark(status int) {
	if o.marked {
		return
	}
	o.marked, o.status = true, status
	o.tally(status)
	h := o.Header()
	o.withdraw(h)
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
		h["Vary"] = o.value(o.auth.vary)
	} else {
		for _, name := range o.auth.varies {
			o.vary(h, name)
		}
	}
	if o.auth.APIKeyQuery != "" {
		h["Referrer-Policy"] = o.value("no-referrer")
	}
	if o.auth.cors.enabled() {
		if o.origin != "" {
			h["Access-Control-Allow-Origin"] = o.value(o.origin)
			h["Access-Control-Expose-Headers"] = append(h["Access-Control-Expose-Headers"], exposed)
		} else {
			h.Del("Access-Control-Allow-Origin")
		}
	}
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

// vary adds a name to a Vary header that has some.
func (o *response) vary(h http.Header, name string) {
	all := strings.Join(h["Vary"], ", ")
	for listed := range strings.SplitSeq(all, ",") {
		if listed = strings.TrimSpace(listed); listed == "*" || strings.EqualFold(listed, name) {
			return
		}
	}
	h["Vary"] = o.value(all + ", " + name)
}

// privateCacheControl takes from a Cache-Control what would let shared caches keep the response, and adds `private`
// unless the answer may not be kept at all.
func privateCacheControl(given []string) []string {
	if len(given) == 1 && (given[0] == "no-store" || given[0] == "private") {
		return given
	}
	var kept []string
	closed := false
	for _, directive := range splitDirectives(strings.Join(given, ",")) {
		name, _, hasValue := strings.Cut(directive, "=")
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case name == "public" || name == "s-maxage":
			continue
		case name == "no-store" || name == "private" && !hasValue:
			closed = true
		}
		kept = append(kept, directive)
	}
	if !closed {
		kept = slices.Insert(kept, 0, "private")
	}
	return []string{strings.Join(kept, ", ")}
}

// splitDirectives splits a list of directives at its commas, but not at those within quotes.
func splitDirectives(list string) []string {
	var directives []string
	quoted, start := false, 0
	add := func(end int) {
		if directive := strings.TrimSpace(list[start:end]); directive != "" {
			directives = append(directives, directive)
		}
		start = end + 1
	}
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted {
				i++
			}
		case ',':
			if !quoted {
				add(i)
			}
		}
	}
	add(len(list))
	return directives
}

// Interface guards
var (
	_ http.ResponseWriter = (*response)(nil)
	_ io.ReaderFrom       = (*response)(nil)
)
