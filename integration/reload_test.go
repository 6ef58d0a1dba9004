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

	// Back to the first: everybody is still logged in, and what was created during the reload is there.
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

// A refused configuration leaves the old one whole, the admin API included.
func TestRefusedReload(t *testing.T) {
	s := startRaced(t)
	user := s.userToken(t, "refused")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	original, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(s.dir, "garbage.region")
	if err := os.WriteFile(garbage, []byte("no region"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, change := range map[string][2]string{
		"region that is none":  {"{$MAPS_REGION:./data/delaware.region}", garbage},
		"no such region":       {"{$MAPS_REGION:./data/delaware.region}", filepath.Join(s.dir, "none.region")},
		"unknown scope":        {"maps_auth @reverse REVERSEGEOCODING", "maps_auth @reverse REVERSE"},
		"unknown region name":  {"matcher local delaware", "matcher local maryland"},
		"store cannot be made": {"{$MAPS_STORE:./data/accounts.db}", filepath.Join(garbage, "accounts.db")},
		"port is taken":        {":{$MAPS_PORT:8080} {", ":{$MAPS_PORT:8080}, :" + portOf(taken.Addr().String()) + " {"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(string(original), change[0], change[1], 1)
			if text == string(original) {
				t.Fatalf("nothing replaced: %q", change[0])
			}
			status, body := s.reload(t, text)
			if status == 200 {
				t.Fatalf("the configuration was accepted: %s", body)
			}
			again := s.userToken(t, "refused")
			s.send(t, call{path: accounts + "/" + acc.ID, bearer: again}).want(200)
			for _, c := range callsWith(access) {
				s.send(t, c).want(200)
			}
			s.exchange(t, acc.ClientToken, acc.ServerToken)
		})
	}
}

// A region file that is replaced by renaming a new one over it is noticed without a reload of the configuration.
func TestNewRegionFileIsNoticed(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.raced = true
	s.region = filepath.Join(s.dir, "own.region")
	copyFile(t, region, s.region)
	s.run(t)
	acc := s.create(t, s.userToken(t, "new-region"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	s.send(t, call{path: matchPath(dover, ""), bearer: access}).want(200)

	// A village of one street, somewhere else.
	osm := filepath.Join(s.dir, "village.osm")
	if err := os.WriteFile(osm, []byte(village), 0o600); err != nil {
		t.Fatal(err)
	}
	build := func() {
		t.Helper()
		if out, err := s.command(t.Context(), "maps", "build", osm, "--output", s.region).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	villageCall := call{path: matchPath([][2]float64{{10.0001, 20.001}, {10.0001, 20.009}}, ""), bearer: access}
	s.send(t, villageCall).want(404)
	build()
	deadline := time.Now().Add(15 * time.Second)
	for s.send(t, villageCall).status != 200 {
		if time.Now().After(deadline) {
			t.Fatal("the new file was not noticed within 15 s")
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.send(t, call{path: matchPath(dover, ""), bearer: access}).want(404)

	// At once by the admin API.
	next := filepath.Join(s.dir, "next.region")
	copyFile(t, region, next)
	if err := os.Rename(next, s.region); err != nil {
		t.Fatal(err)
	}
	s.sendAdmin(t, call{method: "POST", path: "/maps/regions/reload"}).want(200)
	s.send(t, call{path: matchPath(dover, ""), bearer: access}).want(200)
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
