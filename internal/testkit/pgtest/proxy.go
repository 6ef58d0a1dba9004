package pgtest

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Proxy stands between a store and its database, as a network that a test can break.
type Proxy struct {
	// DSN is the connection string through the proxy.
	DSN string

	t        testing.TB
	upstream string
	address  string

	mu       sync.Mutex
	listener net.Listener // nil: connections are refused
	pairs    map[*pair]struct{}
	frozen   chan struct{} // closed when nothing is held up
	delay    time.Duration // of each direction
	swallow  []byte
	copiers  sync.WaitGroup
}

type pair struct {
	client, server net.Conn
	frozen         chan struct{} // of this connection alone
}

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

// Accept lets connections in again after Refuse.
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

// Freeze lets nothing through any more, as a network that drops all packets. Connections are still accepted, and told
// nothing.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = make(chan struct{})
}

// FreezeOpen does so to the connections that are open. New ones work.
func (p *Proxy) FreezeOpen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for one := range p.pairs {
		one.frozen = make(chan struct{}) // for good
	}
}

// Thaw ends Freeze. What was held up arrives late.
func (p *Proxy) Thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.frozen:
	default:
		close(p.frozen)
	}
}

// Delay lets everything take so long on its way in each direction, from now on. Connecting to the proxy takes no
// time, being let through by the database does.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Swallow lets nothing through any more, from the client to the database, of a connection on which a text is sent,
// that text included. The connection stays open. An empty text ends that.
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
	one := &pair{client: client, server: server, frozen: open()}
	p.mu.Lock()
	p.pairs[one] = struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pass(one, server, client, true) })
	both.Go(func() { p.pass(one, client, server, false) })
	p.copiers.Go(func() {
		both.Wait()
		p.mu.Lock()
		delete(p.pairs, one)
		p.mu.Unlock()
	})
}

// late is something that is on its way.
type late struct {
	data []byte
	at   time.Time // when it arrives
}

// pass copies until either side ends.
func (p *Proxy) pass(one *pair, to, from net.Conn, asks bool) {
	way := make(chan late, 1024)
	var arriving sync.WaitGroup
	arriving.Go(func() {
		defer to.Close()
		for l := range way {
			time.Sleep(time.Until(l.at))
			if _, err := to.Write(l.data); err != nil {
				_ = from.Close() // nothing more is read
			}
		}
	})
	defer arriving.Wait()
	defer close(way)
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		all, this, delay := p.frozen, one.frozen, p.delay
		swallowed := asks && len(p.swallow) > 0 && bytes.Contains(buffer[:n], p.swallow)
		p.mu.Unlock()
		<-all
		if !swallowed {
			select {
			case <-this:
			default:
				swallowed = true // nobody thaws it
			}
		}
		if swallowed { // and whatever comes until the connection ends
			_, _ = io.Copy(io.Discard, from)
			return
		}
		if n > 0 {
			way <- late{bytes.Clone(buffer[:n]), time.Now().Add(delay)}
		}
		if err != nil {
			return
		}
	}
}
