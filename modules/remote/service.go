// Package remote has what the modules share that let other servers answer (upstream engines): OSRM, Valhalla, Nominatim
// and Photon, each in a package below this one.
//
//   - Service sends requests through Caddy's own reverse_proxy handler, so that its load balancing, health checks,
//     retries, TLS and timeouts apply. It limits time, memory and the number of requests, and turns failures into
//     errors of the API that do not tell where the engine runs.
//   - Search and Matchings make a drive of responses in the format of OSRM's match service.
//   - Geometry reads GeoJSON.
//
// The package knows no engine's requests. Start with Service.Send, then remote/nominatim for a geocoder and remote/osrm
// for a matcher.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"go.opentelemetry.io/otel/propagation"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// Defaults of a Service.
const (
	DefaultTimeout     = 10 * time.Second
	DefaultMaxResponse = 16 << 20
	DefaultMaxInFlight = 64
	DefaultMaxCalls    = 4
)

// Service is an HTTP service on any number of upstreams. Modules embed it, so that its fields are theirs.
type Service struct {
	// The upstreams and options of Caddy's `reverse_proxy`, such as `load_balancing`, `health_checks` and `transport`;
	// not `handle_response` and `replace_status`. Required.
	ProxyRaw json.RawMessage `json:"reverse_proxy,omitempty"`

	// The timeout of an exchange, retries included. For a retry after a hanging upstream, set a shorter
	// `response_header_timeout` in the transport. Default: 10s.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// The largest response, in bytes. Default: 16 MiB.
	MaxResponse int64 `json:"max_response,omitempty"`

	// The most concurrent exchanges. An account gets at most as many as it leaves free, an organization twice that;
	// give at least 3 for two accounts. Others wait up to `max_wait`. Default: 64.
	MaxInFlight int `json:"max_in_flight,omitempty"`

	// The most calls to upstreams for one request, retries included. Failed connections do not count. Default: 4.
	MaxCalls int `json:"max_calls,omitempty"`

	proxy         caddyhttp.MiddlewareHandler
	cutOffRetries int // how often an exchange is repeated whose response is cut off
	inFlight      *admission.Pool
	app           *app.App
	logger        *zap.Logger
}

// server is the HTTP server that reverse_proxy expects in its context. It logs no credentials and trusts no proxies.
var server = new(caddyhttp.Server)

// Logger returns the module's logger.
func (s *Service) Logger() *zap.Logger { return s.logger }

// Open loads the proxy.
func (s *Service) Open(ctx caddy.Context, p Protocol) error {
	s.logger = ctx.Logger()
	if s.Timeout == 0 {
		s.Timeout = caddy.Duration(DefaultTimeout)
	}
	if s.MaxResponse == 0 {
		s.MaxResponse = DefaultMaxResponse
	}
	if s.MaxInFlight == 0 {
		s.MaxInFlight = DefaultMaxInFlight
	}
	if s.MaxCalls == 0 {
		s.MaxCalls = DefaultMaxCalls
	}
	if s.Timeout < 0 || s.MaxResponse < 0 || s.MaxInFlight < 0 || s.MaxCalls < 0 {
		return errors.New("timeout, max_response, max_in_flight and max_calls must be positive")
	}
	var err error
	if s.app, err = app.Get(ctx); err != nil {
		return err
	}
	s.inFlight = admission.NewBudget(int64(s.MaxInFlight), 0, s.app.Metrics().Overloaded.Inc)
	var h reverseproxy.Handler
	if len(s.ProxyRaw) > 0 {
		if err := options.Decode(s.ProxyRaw, &h); err != nil {
			return fmt.Errorf("reverse_proxy: %w", err)
		}
	}
	if err := check(&h); err != nil {
		return err
	}
	if retries(&h) {
		s.cutOffRetries = cutOffRetries
	}
	if p.RetryPosts {
		allowRetries(&h)
	}
	if p.FreshConnections {
		if h.TransportRaw, err = freshConnections(h.TransportRaw); err != nil {
			return fmt.Errorf("transport: %w", err)
		}
	}
	raw, err := json.Marshal(&h)
	if err != nil {
		return err
	}
	module, err := ctx.LoadModuleByID("http.handlers.reverse_proxy", raw)
	if err != nil {
		return err
	}
	s.proxy = module.(caddyhttp.MiddlewareHandler)
	return nil
}

// Request is a request to a service.
type Request struct {
	Path, Query string
	Body        []byte   // nil for a GET, else the JSON of a POST
	Languages   []string // BCP 47 tags for the response, the preferred one first
}

// Send sends a request and calls read with the response, whose body is valid until read returns. It returns
//
//   - the error of read or of ctx;
//   - an *admission.OverloadError if there are too many concurrent exchanges;
//   - an apierror.Error: 503 if no upstream can be reached, 504 if the response takes too long, 502 if it is
//     incomplete, too large or invalid, or if max_calls allows no more.
//
// Neither headers nor the IP of the client are sent, except for the trace context of Caddy's `tracing`.
func (s *Service) Send(ctx context.Context, req *Request, read func(status int, body []byte) error) error {
	calls := s.callsOf(ctx)
	if calls.exhausted() {
		return s.tooManyCalls()
	}
	caller := app.Caller(ctx)
	if err := s.inFlight.Acquire(ctx, caller, 1, s.app.WaitTimeout()); err != nil {
		return err
	}
	began := time.Now()
	defer func() {
		s.inFlight.Release(caller, 1, 0)
		s.inFlight.Observe(time.Since(began))
	}()
	// The timeout cancels the exchange, so that reverse_proxy gives up. With a deadline it would go on to the other
	// upstreams, fail at once, and count that as their failures.
	exchange, cancel := context.WithCancel(ctx)
	defer cancel()
	var late atomic.Bool
	timer := time.AfterFunc(time.Duration(s.Timeout), func() {
		late.Store(true)
		cancel()
	})
	defer timer.Stop()
	exchange = calls.watch(exchange, cancel)

	rec := newRecorder(s.MaxResponse, s.app.BodyOf(caller))
	defer rec.free()
	err := s.exchange(rec, req.http(exchange))
	for retry := 0; retry < s.cutOffRetries && rec.cutOff(err) && exchange.Err() == nil; retry++ {
		rec.reset()
		err = s.exchange(rec, req.http(exchange))
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case late.Load():
		s.logger.Warn("no response in time", zap.Duration("timeout", time.Duration(s.Timeout)))
		return apierror.Timeout()
	case rec.refused:
		s.app.Metrics().Overloaded.Inc()
		return apierror.Busy(s.app.WaitTimeout())
	case calls.exceeded.Load():
		return s.tooManyCalls()
	case rec.overflow:
		err = InvalidResponse("a response of more than %d bytes", s.MaxResponse)
	case err != nil:
		s.logger.Warn("a request to the upstreams failed", zap.Error(err))
		return failure(err)
	case rec.status == 0:
		err = InvalidResponse("no response")
	default:
		err = s.readResponse(ctx, caller, rec, read)
	}
	if bad := (*invalidResponse)(nil); errors.As(err, &bad) {
		s.logger.Warn("an upstream sent an invalid response", zap.Error(err))
		return apierror.BadGateway()
	}
	return err
}

func (s *Service) tooManyCalls() error {
	s.logger.Warn("one request needs more calls to upstreams than max_calls", zap.Int("max_calls", s.MaxCalls))
	return apierror.BadGateway()
}

// readResponse calls read while it holds a processor.
func (s *Service) readResponse(ctx context.Context, caller admission.Caller, rec *recorder,
	read func(int, []byte) error) error {
	var work admission.Work
	if err := work.Begin(ctx, s.app.Processors(), caller); err != nil {
		return err
	}
	defer work.End()
	if err := work.Spend(trace.ParseWork(rec.body.Len())); err != nil {
		return err
	}
	return read(rec.status, rec.body.Bytes())
}

// Remote implements matching.Remote: another server does the work.
func (s *Service) Remote() {}

// exchange runs reverse_proxy, which panics with http.ErrAbortHandler when a response is cut off.
func (s *Service) exchange(rec *recorder, req *http.Request) (err error) {
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			err = errCutOff
		default:
			panic(p)
		}
	}()
	repl := caddy.NewReplacer()
	if client, ok := req.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(func(key string) (any, bool) {
			if !strings.HasPrefix(key, accountPlaceholders) {
				return nil, false
			}
			return client.Get(key)
		})
	}
	return s.proxy.ServeHTTP(rec, caddyhttp.PrepareRequest(req, repl, rec, server), caddyhttp.HandlerFunc(nil))
}

// accountPlaceholders are the placeholders of the client's request that header_up may use: those of the account.
const accountPlaceholders = "http.auth.user."

// http makes the request, without anything of the client's request.
func (q *Request) http(ctx context.Context) *http.Request {
	req := &http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: q.Path, RawQuery: q.Query},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Accept": {"application/json"}, "User-Agent": {"caddy-maps"}},
		Body:   http.NoBody,
	}
	if len(q.Languages) > 0 {
		req.Header["Accept-Language"] = []string{acceptLanguage(q.Languages)}
	}
	if q.Body != nil {
		req.Method = http.MethodPost
		req.Header["Content-Type"] = []string{"application/json"}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(q.Body)), int64(len(q.Body))
	}
	req.RequestURI = req.URL.RequestURI()
	// This injects nothing unless the request is traced.
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	return req.WithContext(ctx)
}

// acceptLanguage returns the value of the header for at most 20 languages.
func acceptLanguage(languages []string) string {
	const step = 5 // hundredths
	var b strings.Builder
	for i, language := range languages {
		if i == 0 {
			b.WriteString(language)
			continue
		}
		fmt.Fprintf(&b, ", %s;q=0.%02d", language, max(100-step*i, step))
	}
	return b.String()
}
