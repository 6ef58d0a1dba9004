// Package crossorigin lets the scripts of web pages read responses (CORS).
package request

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rs/cors"
)

// exposed are the response headers that pages may read besides those that browsers show to all.
const exposed = "Retry-After, RateLimit, RateLimit-Policy"

// CORS says which pages may read responses. A nil Policy adds nothing to any response.
type CORS struct {
	rules *cors.Cors
	sole  string // the only value that Access-Control-Allow-Origin can have, where there is one
}

// NewCORS returns the policy of a list of origins such as https://app.example.com and https://*.example.com, or * for all,
// and of methods. It is nil for no origins.
func NewCORS(origins []string, methods ...string) (*CORS, error) {
	if len(origins) == 0 {
		return nil, nil
	}
	p := &CORS{rules: cors.New(cors.Options{
		AllowedOrigins: origins, AllowedMethods: methods, AllowedHeaders: []string{"*"}, MaxAge: 600,
	})}
	if len(origins) == 1 && !strings.Contains(origins[0], "://*.") {
		p.sole = origins[0]
	}
	for _, origin := range origins {
		if origin == "*" {
			p.sole = "*"
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil ||
			strings.Contains(strings.TrimPrefix(u.Host, "*."), "*") {
			return nil, fmt.Errorf("%q is not an origin like https://app.example.com, or *", origin)
		}
		if whole := u.Scheme + "://" + u.Host; origin != whole {
			return nil, fmt.Errorf("%q is not an origin, which has neither a path nor a slash at its end; write %s",
				origin, whole)
		}
	}
	return p, nil
}

// Preflight answers a browser's question before it sends a request, and reports whether the request was one. Such a
// request has no token.
func (p *CORS) Preflight(w http.ResponseWriter, r *http.Request) bool {
	if p == nil || r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	p.rules.HandlerFunc(w, r)
	return true
}

// Allow sets the headers of a response, in place of those that an upstream has set.
func (p *CORS) Allow(h http.Header, r *http.Request) {
	if p == nil {
		return
	}
	h.Del("Access-Control-Allow-Origin")
	h.Del("Access-Control-Allow-Credentials")
	p.rules.HandlerFunc(headerOnly{h}, r)
	if p.sole != "" && r.Header.Get("Origin") == "" {
		h.Set("Access-Control-Allow-Origin", p.sole) // no page asks, and only one answer is possible
	}
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Add("Access-Control-Expose-Headers", exposed)
	}
}

// headerOnly is a response of which only headers are set.
type headerOnly struct{ header http.Header }

func (w headerOnly) Header() http.Header         { return w.header }
func (w headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (w headerOnly) WriteHeader(int)             {}
