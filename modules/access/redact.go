// Package redact is the log filter `maps_redact`: what Caddy logs of a request, without the tokens in its URLs,
// and never longer than a few kilobytes.
package access

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap/zapcore"

	"github.com/mapsedge/caddy-maps/modules/options"

	"github.com/mapsedge/caddy-maps/internal/web/request"
)

func init() { caddy.RegisterModule(new(RedactFilter)) }

// RedactFilter is a filter of the log encoder `filter`. It replaces the values of query parameters by REDACTED, and cuts what
// is long, because a client decides how much of a log it fills with one request: Caddy logs the whole of a URL and
// of all headers.
//
// On the field `request` it works on the URL, the method, the host and all headers, and on `resp_headers` on all
// headers; any other field that it stands on has to be text, or a list of texts, and is treated like a URL. A
// parameter is found wherever it stands in a URL or a header, a Referer say, with its name percent-encoded or in
// another case, and also in what is no well-formed URL.
//
// It stands on `request` as a whole, beside which Caddy has no use for filters of fields in it, such as
// `request>remote_ip`: put those into another `filter`, which this one wraps.
type RedactFilter struct {
	// The query parameters whose values are replaced: those that `api_key_query` of `maps_auth` names. Default: none.
	Parameters []string `json:"parameters,omitempty"`

	// The longest text that is kept, in bytes, from 64 to 65536; what is cut ends in "…". All headers together may be
	// twice as long, and a host 256 bytes. Default: 2048.
	MaxLength int `json:"max_length,omitempty"`
}

const (
	defaultMaxLength = 2048
	minMaxLength     = 64
	maxMaxLength     = 64 << 10

	maxHost   = 256
	maxMethod = 32 // Caddy refuses what is longer
)

// NewRedactFilter returns a filter with the default length.
func NewRedactFilter(parameters ...string) *RedactFilter {
	return &RedactFilter{Parameters: parameters, MaxLength: defaultMaxLength}
}

// CaddyModule returns the Caddy module information.
func (*RedactFilter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "caddy.logging.encoders.filter.maps_redact",
		New: func() caddy.Module { return new(RedactFilter) },
	}
}

// Provision sets the default.
func (f *RedactFilter) Provision(caddy.Context) error {
	if f.MaxLength == 0 {
		f.MaxLength = defaultMaxLength
	}
	return nil
}

// Validate checks the configuration.
func (f *RedactFilter) Validate() error {
	if f.MaxLength < minMaxLength || f.MaxLength > maxMaxLength {
		return options.Wrong("max_length", "%d is not between %d and %d bytes", f.MaxLength, minMaxLength, maxMaxLength)
	}
	return nil
}

// Redacts reports whether the filter replaces the values of a query parameter.
func (f *RedactFilter) Redacts(parameter string) bool {
	return slices.Contains(f.Parameters, parameter)
}

// Filter implements logging.LogFieldFilter.
func (f *RedactFilter) Filter(in zapcore.Field) zapcore.Field {
	switch value := in.Interface.(type) {
	case caddyhttp.LoggableHTTPRequest:
		in.Interface = f.Request(value)
	case caddyhttp.LoggableHTTPHeader:
		value.Header = f.headers(value.Header, value.ShouldLogCredentials)
		in.Interface = value
	case caddyhttp.LoggableStringArray:
		room := 2 * f.MaxLength
		in.Interface = caddyhttp.LoggableStringArray(f.texts(value, &room))
	default:
		if in.Type == zapcore.StringType {
			in.String = f.text(in.String, f.MaxLength)
		}
	}
	return in
}

// Request returns what may be logged of a request. The request itself is left alone.
func (f *RedactFilter) Request(r caddyhttp.LoggableHTTPRequest) caddyhttp.LoggableHTTPRequest {
	if r.Request == nil {
		return r
	}
	shown := *r.Request
	shown.RequestURI = f.text(shown.RequestURI, f.MaxLength)
	shown.Method = f.text(shown.Method, maxMethod)
	shown.Host = f.text(shown.Host, maxHost)
	shown.Header = f.headers(shown.Header, r.ShouldLogCredentials)
	if shown.TLS != nil && len(shown.TLS.ServerName) > maxHost {
		state := *shown.TLS
		state.ServerName = f.text(state.ServerName, maxHost)
		shown.TLS = &state
	}
	r.Request = &shown
	return r
}

// text cuts a text and hides the parameters in what is left. A name stands before its value, so no value is cut free of
// it.
func (f *RedactFilter) text(text string, longest int) string {
	cut := len(text) > longest
	if cut {
		for longest > 0 && !utf8.RuneStart(text[longest]) {
			longest--
		}
		text = text[:longest]
	}
	for _, parameter := range f.Parameters {
		text = request.RedactParameter(text, parameter)
	}
	if cut {
		text += "…"
	}
	return strings.ToValidUTF8(text, "?") // JSON takes six bytes for each that is not
}

// texts does that with several texts, until there is no room left.
func (f *RedactFilter) texts(all []string, room *int) []string {
	var shown []string
	for i, text := range all {
		if *room <= 0 {
			return append(shown, more(len(all)-i))
		}
		text = f.text(text, min(f.MaxLength, *room))
		*room -= len(text) + len(`"",`)
		shown = append(shown, text)
	}
	return shown
}

func more(n int) string { return fmt.Sprintf("… %d more", n) }
