package pgtest

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy is a proxy in front of a database, as a network that a test can break.
type Proxy struct {
	// DSN is the connection string through the proxy.
	DSN string

	t        testing.TB
	upstream string
	address  string

	mu       sync.Mutex
	listener net.Listener // nil: connections are refused
	pairs    map[*pair]struct{}
	frozen   chan struct{} // closed while it is not frozen
	swallow  []byte
	copiers  sync.WaitGroup
}

type pair struct{ client, server net.Conn }

// NewProxy starts a proxy to the host of a connection string, until the end of the test.
func NewProxy(t testing.TB, dsn string) *Proxy {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil || u.Hostname() == "" {
		t.Fatalf("%s is no URL with a host", Variable)
	}
	port := u.Port()
	if port == "" {
		port = "5432"
	}
	p := &Proxy{t: t, upstream: net.JoinHostPort(u.Hostname(), port), address: "127.0.0.1:0",
		pairs: make(map[*pair]struct{}), frozen: open()}
	p.Accept()
	u.Host = p.address
	p.DSN = u.String()
	t.Cleanup(func() {
		p.Thaw()
		p.Refuse()
		p.copiers.Wait()
	})
	return p
}

func open() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Accept accepts connections again after Refuse.
func (p *Proxy) Accept() {
	p.t.Helper()
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener, p.address = l, l.Addr().String()
	p.copiers.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.join(client)
		}
	})
}

// Refuse cuts all connections and refuses new ones.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	p.Cut()
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.pairs {
		_ = one.client.Close()
		_ = one.server.Close()
	}
}

// Freeze stops all data, as a network that drops all packets. Connections are still accepted.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = make(chan struct{})
}

// Thaw ends Freeze. The stopped data arrives late.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.frozen:
	default:
		close(p.frozen)
	}
}

// Swallow drops the text, and all later data to the database, of a connection on which a client sends the text. The
// connection stays open. An empty text ends that.
func (p *Proxy) Swallow(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallow = []byte(text)
}

func (p *Proxy) join(client net.Conn) {
	server, err := net.Dial("tcp", p.upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	one := &pair{client, server}
	p.mu.Lock()
	p.pairs[one] = struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pass(server, client, true) })
	both.Go(func() { p.pass(client, server, false) })
	p.copiers.Go(func() {
		both.Wait()
		p.mu.Lock()
		delete(p.pairs, one)
		p.mu.Unlock()
	})
}

// pass copies until one side ends.
func (p *Proxy) pass(to, from net.Conn, asks bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		frozen := p.frozen
		swallowed := asks && len(p.swallow) > 0 && bytes.Contains(buffer[:n], p.swallow)
		p.mu.Unlock()
		<-frozen
		if swallowed { // with all later data
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
