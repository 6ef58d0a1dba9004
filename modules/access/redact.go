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

// RedactFilter is a filter of the log encoder `filter`. It replaces values of query parameters by REDACTED and cuts
// long text, since clients decide how much of a log a request fills.
//
// On `request` it filters URL, method, host and all headers, on `resp_headers` all headers; any other field must be
// text or a list of texts. Parameters are found in URLs and headers such as Referer, also percent-encoded, in another
// case, or in a malformed URL.
//
// It needs `request` as a whole. Put filters of fields in it, such as `request>remote_ip`, into another `filter` that
// this one wraps.
type RedactFilter struct {
	// The query parameters to replace, as in `api_key_query` of `maps_auth`. Default: none.
	Parameters []string `json:"parameters,omitempty"`

	// The longest text, in bytes, 64 to 65536; cut text ends in "…". All headers together may have twice that, a host
	// 256 bytes. Default: 2048.
	MaxLength int `json:"max_length,omitempty"`
}

const (
	defaultMaxLength = 2048
	minMaxLength     = 64
	maxMaxLength     = 64 << 10

	maxHost   = 256
	maxMethod = 32 // longer than any real method
)

// CaddyModule returns the Caddy module information.
func (*RedactFilter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "caddy.logging.encoders.filter.maps_redact",
		New: func() caddy.Module { return new(RedactFilter) },
	}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (f *RedactFilter) UnmarshalJSON(data []byte) error { return options.Decode(data, f) }

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
		return options.Errorf("max_length", "%d is not between %d and %d bytes", f.MaxLength, minMaxLength, maxMaxLength)
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

// Request returns a copy of a request that may be logged.
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

// text truncates a text and hides the parameters in the rest. A name precedes its value, so truncating never leaves a
// value without its name.
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
	return strings.ToValidUTF8(text, "?") // JSON needs six bytes for each invalid byte
}

// texts does the same with several texts, until there is no room left.
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
