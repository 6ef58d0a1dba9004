package remote

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync/atomic"
)

// calls counts the requests to upstreams for one request of a client: those of a module that needs several responses,
// and the retries of reverse_proxy and http.Transport. Only requests that reach an upstream count.
type calls struct {
	max      int32
	made     atomic.Int32
	exceeded atomic.Bool // one more was needed
}

type callsKey struct{}

// WithCalls returns a context in which all requests of a module for one request of a client count together. Otherwise
// each has its own count.
func (s *Service) WithCalls(ctx context.Context) context.Context {
	return context.WithValue(ctx, callsKey{}, s.newCalls())
}

func (s *Service) newCalls() *calls { return &calls{max: int32(s.MaxCalls)} }

// callsOf returns the count of a context, or a new one.
func (s *Service) callsOf(ctx context.Context) *calls {
	if c, ok := ctx.Value(callsKey{}).(*calls); ok {
		return c
	}
	return s.newCalls()
}

// MaySend reports whether max_calls allows one more request, for optional parts of a response.
func (s *Service) MaySend(ctx context.Context) bool {
	c, ok := ctx.Value(callsKey{}).(*calls)
	return !ok || c.made.Load() < c.max
}

// exhausted reports whether no more calls are allowed, and records that one was needed.
func (c *calls) exhausted() bool {
	if c.made.Load() < c.max {
		return false
	}
	c.exceeded.Store(true)
	return true
}

// watch counts the calls in a context, and ends the context when one too many is about to be made.
func (c *calls) watch(ctx context.Context, end context.CancelFunc) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			if c.exhausted() {
				end()
			}
		},
		// If a connection is ready when the context ends, http.Transport may still use it. Connections of HTTP/2 are
		// shared and must not be closed.
		GotConn: func(info httptrace.GotConnInfo) {
			secure, _ := info.Conn.(*tls.Conn)
			if c.exceeded.Load() && (secure == nil || secure.ConnectionState().NegotiatedProtocol != "h2") {
				info.Conn.Close()
			}
		},
		WroteHeaders: func() { c.made.Add(1) },
	})
}
