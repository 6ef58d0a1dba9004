package request

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rs/cors"
)

// exposed are response headers that pages may read, beside those that browsers always expose.
const exposed = "Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate"

// CORS is a policy of which web pages may read responses. A nil policy adds nothing to responses.
type CORS struct {
	rules *cors.Cors
	sole  string // the only possible value of Access-Control-Allow-Origin, if there is only one
}

// NewCORS returns a policy for a list of origins, such as https://app.example.com and https://*.example.com, or * for
// all, and for methods. It returns nil for no origins.
func NewCORS(origins []string, methods ...string) (*CORS, error) {
	if len(origins) == 0 {
		return nil, nil
	}
	p := &CORS{rules: cors.New(cors.Options{
		AllowedOrigins: origins, AllowedMethods: methods, AllowedHeaders: []string{"*"}, MaxAge: 7200,
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

// Preflight answers a preflight request, and reports whether the request was one. Preflight requests have no token.
func (p *CORS) Preflight(w http.ResponseWriter, r *http.Request) bool {
	if p == nil || r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	p.rules.HandlerFunc(w, r)
	return true
}

// Allow sets the headers of a response, and replaces those of an upstream service.
func (p *CORS) Allow(h http.Header, r *http.Request) {
	if p == nil {
		return
	}
	h.Del("Access-Control-Allow-Origin")
	h.Del("Access-Control-Allow-Credentials")
	p.rules.HandlerFunc(headerOnly{h}, r)
	if p.sole != "" && r.Header.Get("Origin") == "" {
		h.Set("Access-Control-Allow-Origin", p.sole) // not from a page, and there is only one possible value
	}
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Add("Access-Control-Expose-Headers", exposed)
	}
}

// headerOnly is a response writer for headers only.
type headerOnly struct{ header http.Header }

func (w headerOnly) Header() http.Header         { return w.header }
func (w headerOnly) Write(p []byte) (int, error) { return len(p), nil }
func (w headerOnly) WriteHeader(int)             {}
