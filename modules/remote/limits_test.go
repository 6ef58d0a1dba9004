package remote_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// counted counts the requests that an upstream gets.
func counted(u *modulestest.Upstream, answer http.HandlerFunc) *atomic.Int64 {
	n := new(atomic.Int64)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		answer(w, r)
	})
	return n
}

func respond(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// However the upstream answers, a request sends it no more requests than max_calls, retries included.
func TestMaxCalls(t *testing.T) {
	nothing := recorded(t, "photon/reverse_nothing")
	answers := map[string]map[string]http.HandlerFunc{
		"osrm": {"splits": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, matchings("abcdefgh"[:strings.Count(r.URL.Path, ";")+1]))
		}, "finds nothing": respond(400, `{"code":"NoSegment"}`)},
		"valhalla":  {"finds nothing": respond(400, `{"code":"NoSegment"}`)},
		"nominatim": {"has no names": respond(200, string(recorded(t, "nominatim/reverse_bench").Body))},
		"photon":    {"finds nothing": respond(200, string(nothing.Body))},
	}
	all := engines(t)
	all[0].query = "?path=" + path(row(8, 0))
	all[3].query = positionOf(t, recorded(t, "photon/reverse_settlements"))
	options := map[string]int64{
		"": 4, "lb_retries 9": 4, "lb_try_duration 500ms": 4, "max_calls 1": 1, "max_calls 7\nlb_retries 20": 7,
		"max_calls 2\nlb_try_duration 500ms": 2, "max_calls 3\ntransport http {\n}\n": 3,
	}
	u, sites := modulestest.NewUpstream(t), ""
	for _, e := range all {
		for o, most := range options {
			sites += e.site(fmt.Sprintf("/%s/%d/%d", e.name, most, len(o)), u.URL, o)
		}
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for _, e := range all {
		e.kinds(answers[e.name], func(name string, answer http.HandlerFunc) {
			for o, most := range options {
				asked := counted(u, answer)
				a := s.Do(http.MethodGet, fmt.Sprintf("/%s/%d/%d%s", e.name, most, len(o), e.query), "", "")
				if n := asked.Load(); n < 1 || n > most || a.Status != 200 && a.Status != 404 && a.Status != 502 {
					t.Errorf("%s %s with %q: asked %d times, at most %d are allowed; answered %d %s",
						e.name, name, o, n, most, a.Status, a.Body)
				}
			}
		})
	}
}

// kinds calls f for answers of an engine, and for connections that end too early.
func (e *engine) kinds(answers map[string]http.HandlerFunc, f func(string, http.HandlerFunc)) {
	for name, answer := range answers {
		f(name, answer)
	}
	f("hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f("is cut off", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "{")
	})
}

// What a response can do without is not asked for beyond max_calls, without a warning. What is needed is 502.
func TestCallsSpared(t *testing.T) {
	all, u, sites := engines(t), modulestest.NewUpstream(t), ""
	bench, settlements := recorded(t, "nominatim/reverse_bench"), recorded(t, "photon/reverse_settlements")
	all[2].query, all[3].query = positionOf(t, bench), positionOf(t, settlements)
	for _, e := range all {
		sites += e.site("/"+e.name, u.URL, "max_calls 1") + e.site("/two/"+e.name, u.URL, "max_calls 2")
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for i, e := range all[:2] {
		u.Send(400, `{"code":"NoSegment"}`)
		all[i].check(t, s.Do(http.MethodGet, "/"+e.name+e.query, "", ""), 404)
	}
	if strings.Contains(s.Log(), "than max_calls") {
		t.Error("it warns of too many requests")
	}
	for i, answers := range map[int][2]string{
		2: {string(bench.Body), string(recorded(t, "nominatim/reverse_square").Body)},
		3: {string(recorded(t, "photon/reverse_nothing").Body), string(settlements.Body)},
	} {
		e := all[i]
		for at, want := range map[string]int{"/": 502, "/two/": 200} {
			n := 0
			u.Answer(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, answers[min(n, 1)])
				n++
			})
			if a := s.Do(http.MethodGet, at+e.name+e.query, "", ""); a.Status != want {
				t.Errorf("%s%s: %d %s", at, e.name, a.Status, a.Body)
			}
		}
	}
}

// http.Transport asks again by itself where a connection that was kept alive ends without a response. These calls
// count.
func TestCallsOnKeptConnections(t *testing.T) {
	const kept, most = 8, 3
	e, u := engines(t)[0], modulestest.NewUpstream(t)
	options := fmt.Sprintf("max_calls %d\ntransport http {\nkeepalive 1m\n}", most)
	s := modulestest.Start(t, modulestest.Config{Site: e.site("/osrm", u.URL, options)})
	for range 10 {
		var arrived atomic.Int64
		all := make(chan struct{})
		u.Answer(func(w http.ResponseWriter, r *http.Request) {
			if arrived.Add(1) == kept {
				close(all)
			}
			<-all
			respond(400, `{"code":"NoMatch"}`)(w, r)
		})
		var clients sync.WaitGroup
		for range kept {
			clients.Go(func() { s.Do(http.MethodGet, "/osrm"+e.query, "", "") })
		}
		clients.Wait()
		asked := counted(u, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		a := s.Do(http.MethodGet, "/osrm"+e.query, "", "")
		if n := asked.Load(); a.Status != http.StatusBadGateway || n != most {
			t.Fatalf("asked %d times, want %d; answered %d %s", n, most, a.Status, a.Body)
		}
	}
}

// Connections that cannot be made are no calls: the upstream that works is found, however many do not. A POST is sent
// again, whole, where an upstream hangs up.
func TestRetries(t *testing.T) {
	all, sites := engines(t), ""
	dead := strings.Repeat(modulestest.Unreachable(t)+" ", 1)
	for range 7 {
		dead += modulestest.Unreachable(t) + " "
	}
	bad := modulestest.NewUpstream(t)
	bad.Answer(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, e := range all {
		good := modulestest.NewUpstream(t)
		good.Send(200, e.good)
		sites += e.site("/dead/"+e.name, dead+good.URL, "lb_policy first\nlb_retries 20\nfail_duration 10s\nmax_calls 1")
		sites += e.site("/bad/"+e.name, bad.URL+" "+good.URL, "lb_policy first\nlb_retries 3\nfail_duration 10s")
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for _, e := range all {
		for _, upstreams := range []string{"/dead/", "/bad/"} {
			if a := s.Do(http.MethodGet, upstreams+e.name+e.query, "", ""); a.Status != http.StatusOK {
				t.Errorf("%s%s: %d %s", upstreams, e.name, a.Status, a.Body)
			}
		}
	}
}

// OSRM gets a new connection for each request unless the transport has an option about keep-alive:
// its sockets would wait 40 ms for an acknowledgement. The others get requests on connections that are kept alive.
func TestConnections(t *testing.T) {
	const requests = 5
	all := engines(t)
	var made atomic.Int64
	server := httptest.NewUnstartedServer(nil)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			made.Add(1)
		}
	}
	var answer atomic.Pointer[string]
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm() // reads the body, so that the connection can be kept
		fmt.Fprint(w, *answer.Load())
	})
	server.Start()
	defer server.Close()
	type transport struct {
		engine  engine
		options string
		kept    bool
	}
	var transports []transport
	for _, e := range all {
		transports = append(transports, transport{e, "", e.name != "osrm"})
	}
	for options, kept := range map[string]bool{
		"keepalive off": false, "dial_timeout 1s": false, "response_header_timeout 10s": false,
		"keepalive_interval 5s": false, "keepalive 2m": true, "keepalive_idle_conns 5": true,
	} {
		transports = append(transports, transport{all[0], "transport http {\n" + options + "\n}", kept})
	}
	sites := ""
	for i, tr := range transports {
		sites += tr.engine.site(fmt.Sprint("/", i), server.URL, tr.options)
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for i, tr := range transports {
		answer.Store(&tr.engine.good)
		made.Store(0)
		for range requests {
			if a := s.Do(http.MethodGet, fmt.Sprint("/", i, tr.engine.query), "", ""); a.Status != 200 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
		}
		if n := made.Load(); tr.kept != (n == 1) || !tr.kept && n != requests {
			t.Errorf("%s { %s }: %d connections for %d requests", tr.engine.name, tr.options, n, requests)
		}
	}
}

// A response for which there is no memory is refused, and not asked for again.
func TestNoMemoryForResponse(t *testing.T) {
	e, u := engines(t)[0], modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "max_bodies_in_flight 1MiB", Site: e.site("/osrm", u.URL, "lb_retries 3"),
	})
	asked := counted(u, respond(200, `{"code":"Ok","padding":"`+strings.Repeat("x", 2<<20)+`"}`))
	s.Hang("/osrm", "", 1<<20)
	a := s.Do(http.MethodGet, "/osrm"+e.query, "", "")
	if a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" || asked.Load() != 1 {
		t.Errorf("%d %s, asked %d times", a.Status, a.Body, asked.Load())
	}
}

// An account that waits for an upstream with all the requests that it can send leaves room for others.
func TestInFlight(t *testing.T) {
	e, u := engines(t)[0], modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Maps: "max_wait 300ms", Site: "handle /osrm {\nmaps_auth DIRECTION\n" +
		e.handler("/osrm", u.URL, "max_in_flight 8\ntimeout 10m", "") +
		"}\nhandle /api/v1/external/* {\nmaps_tokens\n}\nhandle /api/v1/service-accounts {\nmaps_accounts\n}"})
	_, hostile := s.Token("one", matchScope)
	_, other := s.Token("two", matchScope)
	arrived, release := make(chan struct{}, 32), make(chan struct{})
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		fmt.Fprint(w, e.good)
	})
	const requests, share = 20, 4 // one of two accounts that ask has half of what is left free
	refused := make(chan struct{}, requests)
	var served atomic.Int64
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			switch a, err := s.Try("/osrm"+e.query, hostile); {
			case err == nil && a.Status == 200:
				served.Add(1)
			case err == nil && a.Status == 503 && a.Header.Get("Retry-After") != "":
				refused <- struct{}{}
			default:
				t.Errorf("%v %d %s", err, a.Status, a.Body)
			}
		})
	}
	for range share {
		await(t, "the account's share is under way", arrived)
	}
	for range requests - share {
		await(t, "the rest is refused", refused)
	}
	if len(arrived) > 0 {
		t.Error("one account has more than half")
	}
	all.Go(func() {
		if a, err := s.Try("/osrm"+e.query, other); err != nil || a.Status != 200 {
			t.Errorf("another account: %v %d %s", err, a.Status, a.Body)
		}
	})
	await(t, "another account is served", arrived)
	close(release)
	all.Wait()
	if served.Load() != share {
		t.Errorf("%d requests were served", served.Load())
	}
}
