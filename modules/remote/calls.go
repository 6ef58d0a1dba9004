package remote

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync/atomic"
)

// calls counts how often upstreams are asked for the sake of one request of a client: by a guest module that needs
// several answers, by the retries of reverse_proxy, and by those of http.Transport. Only what reaches an upstream
// counts.
type calls struct {
	max  int32
	made atomic.Int32
	over atomic.Bool // another one was wanted
}

type callsKey struct{}

// WithCalls returns a context in which all of a guest module's questions for one request of a client count together.
// Otherwise each counts by itself.
func (s *Service) WithCalls(ctx context.Context) context.Context {
	return context.WithValue(ctx, callsKey{}, s.newCalls())
}

func (s *Service) newCalls() *calls { return &calls{max: int32(s.MaxCalls)} }

// callsOf returns those of a context, or new ones.
func (s *Service) callsOf(ctx context.Context) *calls {
	if c, ok := ctx.Value(callsKey{}).(*calls); ok {
		return c
	}
	return s.newCalls()
}

// MayAsk reports whether one more question is allowed, for what a response can do without.
func (s *Service) MayAsk(ctx context.Context) bool {
	c, ok := ctx.Value(callsKey{}).(*calls)
	return !ok || c.made.Load() < c.max
}

// used reports whether no more calls are allowed, of which one was wanted.
func (c *calls) used() bool {
	if c.made.Load() < c.max {
		return false
	}
	c.over.Store(true)
	return true
}

// watch counts the calls in a context, and ends it where one too many is about to be made.
func (c *calls) watch(ctx context.Context, end context.CancelFunc) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			if c.used() {
				end()
			}
		},
		// A connection may be there by the time that the context ends, and http.Transport then takes either. HTTP/2
		// shares its connections.
		GotConn: func(info httptrace.GotConnInfo) {
			secure, _ := info.Conn.(*tls.Conn)
			if c.over.Load() && (secure == nil || secure.ConnectionState().NegotiatedProtocol != "h2") {
				info.Conn.Close()
			}
		},
		WroteHeaders: func() { c.made.Add(1) },
	})
}
