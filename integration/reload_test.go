package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// halfSent is a request whose head and half of its body are with the server, so that its handler runs and waits.
type halfSent struct {
	conn net.Conn
	rest string
}

func (s *server) sendHalf(t *testing.T, c call) *halfSent {
	t.Helper()
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: %s\r\nContent-Length: %d\r\n",
		c.method, c.path, c.contentType, len(c.body))
	if c.bearer != "" {
		fmt.Fprintf(&head, "Authorization: Bearer %s\r\n", c.bearer)
	}
	half := len(c.body) / 2
	if _, err := io.WriteString(conn, head.String()+"\r\n"+c.body[:half]); err != nil {
		t.Fatal(err)
	}
	return &halfSent{conn: conn, rest: c.body[half:]}
}

// finish sends the rest and returns the answer's status and body.
func (h *halfSent) finish(t *testing.T) (int, string) {
	t.Helper()
	if _, err := io.WriteString(h.conn, h.rest); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(h.conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// A reload that changes the region and the store, while requests that need both are under way: those that came before
// are answered from what was there before, those that come after from what is there then.
func TestReloadChangesRegionAndStoreUnderSlowRequests(t *testing.T) {
	t.Parallel()
	var arrived sync.WaitGroup
	arrived.Add(1)
	release := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		<-release
		_, _ = io.WriteString(w, "from the upstream")
	}))
	defer upstream.Close()
	answerUpstream := sync.OnceFunc(func() { close(release) })
	defer answerUpstream() // Close waits for it

	s := startRaced(t, "{$MAPS_ROUTER:127.0.0.1:5000}", strings.TrimPrefix(upstream.URL, "http://"))
	user := s.userToken(t, "reload")
	acc := s.create(t, user, nil)
	access, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)

	matching := s.sendHalf(t, call{method: "POST", path: match, bearer: access, contentType: jsonType, body: doverJSON})
	exchanging := s.sendHalf(t, exchangeCall(acc.ClientToken, acc.ServerToken))
	creating := s.sendHalf(t, call{method: "POST", path: accounts, bearer: user, contentType: jsonType,
		body: `{"platform":"WEB","scopes":["TILE"],"description":"begun before the reload"}`})
	proxied := make(chan *answer, 1)
	go func() {
		a, err := s.trySend(t, call{path: route, bearer: access})
		if err != nil {
			t.Error(err)
		}
		proxied <- a
	}()
	arrived.Wait()

	// The second region is another file, the second store is empty.
	original, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(s.dir, "second.region")
	copyFile(t, region, second)
	text := strings.Replace(string(original), "{$MAPS_REGION:./data/delaware.region}", second, 1)
	text = strings.Replace(text, "{$MAPS_STORE:./data/accounts.db}", filepath.Join(s.dir, "second.db"), 1)
	text = strings.Replace(text, "{$MAPS_ROUTER:127.0.0.1:5000}", strings.TrimPrefix(upstream.URL, "http://"), 1)
	if status, body := s.reload(t, text); status != 200 {
		t.Fatalf("reload: %d %s", status, body)
	}

	// New requests meet the new store, which knows neither the account nor the keys.
	s.send(t, call{path: reverse + "?lat=39.15&lon=-75.52", bearer: access}).want(401)
	s.send(t, exchangeCall(acc.ClientToken, acc.ServerToken)).want(401)
	user2 := s.userToken(t, "reload")
	acc2 := s.create(t, user2, nil)
	access2, _ := s.exchange(t, acc2.ClientToken, acc2.ServerToken)
	for _, c := range callsWith(access2) {
		s.send(t, c).want(200)
	}

	if status, body := matching.finish(t); status != 200 {
		t.Errorf("matching begun before the reload: %d %s", status, body)
	}
	if status, body := exchanging.finish(t); status != 200 {
		t.Errorf("exchange begun before the reload: %d %s", status, body)
	} else {
		secretsOf(t, body)
	}
	if status, body := creating.finish(t); status != 201 {
		t.Errorf("creation begun before the reload: %d %s", status, body)
	} else {
		secretsOf(t, body)
	}
	answerUpstream()
	if a := <-proxied; a != nil {
		a.want(200)
	}

	// Back to the first: all tokens are valid, and what was created during the reload is there.
	if status, body := s.reload(t, string(original)); status != 200 {
		t.Fatalf("reload: %d %s", status, body)
	}
	for _, c := range callsWith(access) {
		s.send(t, c).want(200)
	}
	s.send(t, refreshCall(refresh)).want(200)
	var list struct{ Data []serviceAccount }
	s.send(t, call{path: accounts, bearer: user}).want(200).into(&list)
	if len(list.Data) != 2 || list.Data[0].Description != "begun before the reload" {
		t.Errorf("the first store lists %+v", list.Data)
	}
	s.send(t, call{path: accounts, bearer: user2}).want(401)
}

const village = `<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6">
	<node id="1" version="1" lat="10" lon="20"/>
	<node id="2" version="1" lat="10" lon="20.01"/>
	<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/><tag k="name" v="Only Street"/></way>
</osm>
`

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
