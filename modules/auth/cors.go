package auth

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// origins are the web pages whose scripts may read the responses.
type origins struct {
	any  bool
	list []string
}

func parseOrigins(values []string) (origins, error) {
	var o origins
	for _, value := range values {
		if value == "*" {
			o.any = true
			continue
		}
		u, err := url.Parse(value)
		if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil {
			return o, fmt.Errorf("%q is not an origin like https://app.example.com, or *", value)
		}
		if origin := u.Scheme + "://" + u.Host; value != origin {
			return o, fmt.Errorf("%q is not an origin, which has neither a path nor a slash at its end; write %s", value, origin)
		}
		o.list = append(o.list, strings.ToLower(value))
	}
	return o, nil
}

func (o *origins) enabled() bool { return o.any || len(o.list) > 0 }

// allow returns the value of Access-Control-Allow-Origin for a request; empty for none.
func (o *origins) allow(r *http.Request) string {
	if o.any {
		return "*"
	}
	if len(o.list) == 0 {
		return ""
	}
	origin := r.Header.Get("Origin")
	switch {
	case origin == "" && len(o.list) == 1:
		return o.list[0] // not asked by a page; the one response that could be given
	case slices.Contains(o.list, strings.ToLower(origin)):
		return origin
	}
	return ""
}

func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" &&
		r.Header.Get("Access-Control-Request-Method") != ""
}

// preflight answers the question a browser asks before it sends a request with a token. It needs none itself.
func (o *origins) preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	if origin := o.allow(r); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		headers := r.Header.Get("Access-Control-Request-Headers")
		if headers == "" {
			headers = "Authorization, Content-Type"
		}
		h.Set("Access-Control-Allow-Headers", headers)
		h.Set("Access-Control-Max-Age", "600")
	}
	w.WriteHeader(http.StatusNoContent)
}
