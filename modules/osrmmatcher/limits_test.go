package osrmmatcher_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A response for which there is no memory is not asked for again.
func TestNoMemoryForAnswer(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Maps: "max_bodies_in_flight 1MiB", Site: fmt.Sprintf(`
		handle {
			maps_match {
				public
				matcher osrm %s {
					lb_retries 3
				}
			}
		}`, u.URL)})
	var asked atomic.Int64
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, `{"code":"Ok","padding":"`+strings.Repeat("x", 2<<20)+`"}`)
	})
	s.Hang(matchPath, "", 1<<20)
	a := s.Do(http.MethodGet, matchPath+"?path=[{41,-8},{41,-8.001}]", "", "")
	if a.Status != http.StatusServiceUnavailable || asked.Load() != 1 {
		t.Errorf("%d %s, asked %d times", a.Status, a.Body, asked.Load())
	}
}

// However OSRM answers, a request asks no more of it than max_calls, retries included.
func TestCalls(t *testing.T) {
	split := func(w http.ResponseWriter, r *http.Request) {
		n := strings.Count(strings.TrimPrefix(r.URL.Path, "/match/v1/driving/"), ";") + 1
		parts := make([]int, n)
		for i := range parts {
			parts[i] = min(i, 3)
		}
		fmt.Fprint(w, made(parts))
	}
	hangUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	broken := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "{")
	}
	noSegment := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"code":"NoSegment"}`)
	}
	var path []string
	for i := range 12 {
		path = append(path, fmt.Sprintf("{41,%v}", -8-float64(i)/1000))
	}
	target := matchPath + "?path=[" + strings.Join(path, ",") + "]"
	for options, most := range map[string]int64{
		"":                                   4,
		"lb_retries 9":                       4,
		"lb_try_duration 1s":                 4,
		"max_calls 1":                        1,
		"max_calls 7\nlb_retries 20":         7,
		"max_calls 2\nlb_try_duration 1s":    2,
		"max_calls 3\ntransport http {\n}\n": 3,
	} {
		u := modulestest.NewUpstream(t)
		s := start(t, u.URL, options)
		for name, answer := range map[string]http.HandlerFunc{
			"splits": split, "hangs up": hangUp, "breaks off": broken, "finds nothing": noSegment,
		} {
			t.Run(strings.ReplaceAll(options, "\n", ", ")+": "+name, func(t *testing.T) {
				var asked atomic.Int64
				u.Answer(func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					answer(w, r)
				})
				a := s.With(t).Do(http.MethodGet, target, "", "")
				if n := asked.Load(); n < 1 || n > most {
					t.Errorf("asked %d times, at most %d are allowed; answered %d %s", n, most, a.Status, a.Body)
				}
				switch a.Status {
				case http.StatusOK, http.StatusNotFound:
				case http.StatusBadGateway:
					modulestest.CheckSilent(t, u, a)
				default:
					t.Errorf("%d %s", a.Status, a.Body)
				}
			})
		}
	}
}

// http.Transport asks again by itself where a connection that it kept ends without a response. Those calls count, too.
func TestCallsOnKeptConnections(t *testing.T) {
	const kept, most = 8, 3
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, fmt.Sprintf("max_calls %d\ntransport http {\nkeepalive 1m\n}", most))
	target := matchPath + "?path=[{41,-8},{41,-8.001}]"
	for range 10 {
		var arrived atomic.Int64
		all := make(chan struct{})
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			if arrived.Add(1) == kept {
				close(all)
			}
			<-all
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"code":"NoMatch"}`)
		})
		var clients sync.WaitGroup
		for range kept {
			clients.Go(func() { s.Do(http.MethodGet, target, "", "") })
		}
		clients.Wait()

		var asked atomic.Int64
		u.Answer(func(http.ResponseWriter, *http.Request) {
			asked.Add(1)
			panic(http.ErrAbortHandler)
		})
		a := s.Do(http.MethodGet, target, "", "")
		if n := asked.Load(); a.Status != http.StatusBadGateway || n != most {
			t.Fatalf("asked %d times, want %d; answered %d %s", n, most, a.Status, a.Body)
		}
	}
}

// What a response can do without is not asked for beyond max_calls, and that is nothing to warn of.
func TestCallsSpared(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "max_calls 1")
	u.Send(400, `{"code":"NoSegment"}`)
	check(t, u, s.Do(http.MethodGet, matchPath+"?path=[{41,-8},{41,-8.001}]", "", ""), 404, "NoRoute")
	if strings.Contains(s.Log(), "too often") {
		t.Error("it warns that the request asks too often")
	}
}

// Connections that cannot be made are no calls: the other upstream is found, however many times that takes.
func TestDialsAreNoCalls(t *testing.T) {
	u := modulestest.NewUpstream(t)
	r := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_ok_1.json")
	u.Replay(r)
	dead := ""
	for range 8 {
		dead += modulestest.Unreachable(t) + " "
	}
	s := start(t, dead+u.URL, "lb_policy first\nlb_retries 20\nfail_duration 10s\nmax_calls 1")
	target, _ := question(t, r)
	if a := s.Do(http.MethodGet, target, "", ""); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// An account that waits for OSRM with all the requests it can send leaves room for others.
func TestInFlight(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Maps: "max_wait 300ms", Site: fmt.Sprintf(`
		handle /api/route/matching/ {
			maps_auth DIRECTION
			maps_match {
				matcher osrm %s {
					max_in_flight 8
				}
			}
		}
		handle /api/v1/external/* {
			maps_tokens
		}
		handle /api/v1/service-accounts {
			maps_accounts
		}`, u.URL)})
	_, hostile := s.Token("one", "DIRECTION")
	_, other := s.Token("two", "DIRECTION")
	good := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_ok_1.json")
	target, _ := question(t, good)
	var under, most atomic.Int64
	release := make(chan struct{})
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		most.Store(max(most.Load(), under.Add(1)))
		defer under.Add(-1)
		<-release
		fmt.Fprint(w, string(good.Body))
	})
	var refused, served atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			a, err := s.Try(target, hostile)
			switch {
			case err != nil:
				t.Error(err)
			case a.Status == http.StatusOK:
				served.Add(1)
			case a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "" &&
				strings.Contains(a.Body, `"Unavailable"`):
				refused.Add(1)
			default:
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
	for refused.Load() < 16 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	if n := most.Load(); n != 4 {
		t.Errorf("one account has %d of 8 requests under way", n)
	}
	all.Go(func() {
		if a, err := s.Try(target, other); err != nil || a.Status != http.StatusOK {
			t.Errorf("another account: %v %d %s", err, a.Status, a.Body)
		}
	})
	for under.Load() < 5 && !t.Failed() {
		time.Sleep(time.Millisecond)
	}
	close(release)
	all.Wait()
	if served.Load() != 4 {
		t.Errorf("%d requests were served", served.Load())
	}
}
