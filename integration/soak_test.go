package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A server under mixed traffic at 70% of what it can take, for MAPS_TEST_SOAK (a duration; some seconds in an ordinary
// run): no request fails, and neither memory nor goroutines grow. The test writes a table of what it measured.
func TestSoak(t *testing.T) {
	leaveOut(t, "measures for a while")
	duration, long := 4*time.Second, false
	if text := os.Getenv("MAPS_TEST_SOAK"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil || duration <= 0 {
			t.Fatalf("MAPS_TEST_SOAK: %q is no duration", text)
		}
		long = duration >= time.Minute
	}
	// Of a log of every request there would be gigabytes. And what is kept for as long as a token lives has its full size
	// early: the cache of tokens, and what is known of ended grants.
	s := newServer(t, "access_token_ttl 15m", "access_token_ttl 1m",
		"\tlog {\n\t\timport without_keys\n\t}", "\tlog {\n\t\toutput discard\n\t}")
	s.logLevel, s.raced = "WARN", true
	s.run(t)
	k := newSoak(t, s)
	capacity := k.run(t, max(duration/20, 3*time.Second), 0)
	rate := 0.7 * capacity
	k.forget()
	began := time.Now()
	stop := make(chan struct{})
	var watching sync.WaitGroup
	var samples []footprint
	var at []float64 // minutes
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(duration / 30):
				samples, at = append(samples, s.footprint(t)), append(at, time.Since(began).Minutes())
			}
		}
	})
	took := k.run(t, duration, rate)
	close(stop)
	watching.Wait()
	warm := len(samples) / 4 // by then caches are full
	heap := slope(at[warm:], samples[warm:], func(f footprint) int { return f.heap })
	resident := slope(at[warm:], samples[warm:], func(f footprint) int { return f.resident })
	first, last := samples[warm], samples[len(samples)-1]
	t.Logf("%v at %.0f requests/s, asked for %.0f, 70%% of %.0f\n%s\nafter a quarter: %v\nat the end:      %v\n"+
		"slope: heap %+.3f MB/min, resident %+.3f MB/min",
		duration, took, rate, capacity, k.table(), first, last, heap/1e6, resident/1e6)
	if n := k.failed.Load(); n > 0 {
		t.Errorf("%d requests failed", n)
	}
	// Where other work takes the machine meanwhile, it is not 70% any more, and some are one too many.
	if n := k.refused.Load(); n > 0 && (long || took > 0.9*rate) {
		t.Errorf("%d requests were refused as too many", n)
	}
	if last.goroutines > first.goroutines+100 {
		t.Errorf("goroutines: %d, then %d", first.goroutines, last.goroutines)
	}
	if grown := heap * (at[len(at)-1] - at[warm]); long && grown > 8<<20 {
		t.Errorf("the heap has grown by %.1f MB", grown/1e6)
	}
}

// slope fits a line: bytes a minute.
func slope(at []float64, samples []footprint, of func(footprint) int) float64 {
	var meanX, meanY, xy, xx float64
	n := float64(len(samples))
	for i := range samples {
		meanX, meanY = meanX+at[i]/n, meanY+float64(of(samples[i]))/n
	}
	for i := range samples {
		xy += (at[i] - meanX) * (float64(of(samples[i])) - meanY)
		xx += (at[i] - meanX) * (at[i] - meanX)
	}
	if xx == 0 {
		return 0
	}
	return xy / xx
}

// soak is mixed traffic.
type soak struct {
	s         *server
	user      string
	exchanged serviceAccount
	access    atomic.Pointer[string]
	refresh   []string
	kinds     []soakKind
	failed    atomic.Int64
	refused   atomic.Int64 // answered that too many are under way
	mu        sync.Mutex
	times     map[string]*soakTimes
}

// soakKind is one kind of request, and how many of a hundred are of it.
type soakKind struct {
	name  string
	share int
	do    func() error
}

// soakTimes are in seconds: from when a request was sent, and from when it was due.
type soakTimes struct{ sent, due []float32 }

// errOverloaded is that of a request that the server says it cannot take beside others.
var errOverloaded = errors.New("refused as one too many")

func newSoak(t *testing.T, s *server) *soak {
	k := &soak{s: s, user: s.userToken(t, "soak"), times: make(map[string]*soakTimes)}
	k.exchanged = s.create(t, k.user, nil)
	refreshed, suspended := s.create(t, k.user, nil), s.create(t, k.user, nil)
	s.setStatus(t, k.user, suspended.ID, "SUSPENDED")
	for range 32 {
		access, refresh := s.exchange(t, refreshed.ClientToken, refreshed.ServerToken)
		k.access.Store(&access)
		k.refresh = append(k.refresh, refresh)
	}
	long := make([]map[string]float64, 0, 200)
	for i := range 200 { // along a road and back
		p := dover[(i/4)%len(dover)]
		long = append(long, map[string]float64{"lat": p[0] + float64(i%4)*1e-5, "lng": p[1]})
	}
	longTrace := asJSON(t, map[string]any{"path": long})
	token := func() string { return *k.access.Load() }
	forged := func() string {
		b := []byte(token())
		b[len(b)-1-rand.IntN(40)] ^= 1
		return string(b)
	}
	where := func() string {
		return fmt.Sprintf("%s?lat=%.5f&lon=%.5f&size=%d", reverse, 38.5+rand.Float64()*1.3, -75.75+rand.Float64()*0.4, 1+rand.IntN(5))
	}
	ask := func(status int, c func() call) func() error {
		return func() error {
			_, err := k.ask(t, c(), status)
			return err
		}
	}
	k.kinds = []soakKind{
		{"reverse geocoding", 50, ask(200, func() call { return call{path: where(), bearer: token()} })},
		{"matching, 5 points, GET", 18, ask(200, func() call { return call{path: matchPath(dover, "&apiKey="+token())} })},
		{"matching, 200 points, POST", 5, ask(200, func() call {
			return call{method: "POST", path: match, bearer: token(), contentType: jsonType, body: longTrace}
		})},
		{"exchange", 7, ask(200, func() call { return exchangeCall(k.exchanged.ClientToken, k.exchanged.ServerToken) })},
		{"refresh", 7, func() error {
			a, err := k.ask(t, refreshCall(k.refresh[rand.IntN(len(k.refresh))]), 200)
			if err == nil {
				var tokens tokensBody
				if err = json.Unmarshal(a.body, &tokens); err == nil {
					k.access.Store(&tokens.Data.AccessToken)
				}
			}
			return err
		}},
		{"accounts, list", 3, ask(200, func() call { return call{path: accounts, bearer: k.user} })},
		{"accounts, change", 2, ask(200, func() call {
			return call{method: "PATCH", path: accounts + "/" + k.exchanged.ID, bearer: k.user, contentType: jsonType,
				body: fmt.Sprintf(`{"description":"%d"}`, rand.Uint64())}
		})},
		{"accounts, create and delete", 1, func() error {
			a, err := k.ask(t, call{method: "POST", path: accounts, bearer: k.user, contentType: jsonType, body: `{"platform":"WEB","scopes":["TILE"]}`}, 201)
			if err != nil {
				return err
			}
			var made accountBody
			if err := json.Unmarshal(a.body, &made); err != nil {
				return err
			}
			_, err = k.ask(t, call{method: "DELETE", path: accounts + "/" + made.Data.ID, bearer: k.user}, 204)
			return err
		}},
		{"401, forged token", 4, ask(401, func() call { return call{path: where(), bearer: forged()} })},
		{"401, exchange", 3, ask(401, func() call { return exchangeCall(suspended.ClientToken, k.exchanged.ServerToken) })},
	}
	return k
}

func (k *soak) ask(t *testing.T, c call, status int) (*answer, error) {
	a, err := k.s.trySend(t, c)
	if err == nil && a.status == 503 && strings.Contains(string(a.body), `"message":"too many requests are under way"`) {
		return a, errOverloaded
	}
	if err == nil && a.status != status {
		err = fmt.Errorf("%s %.60s: status %d, want %d: %.200s", c.method, c.path, a.status, status, a.body)
	}
	return a, err
}

// run sends requests at a rate, or as fast as they are answered where that is 0, and returns how many there were in a second.
func (k *soak) run(t *testing.T, duration time.Duration, rate float64) float64 {
	const clients = 24
	var sent atomic.Int64
	var all sync.WaitGroup
	var schedule sync.Mutex
	began := time.Now()
	end, next := began.Add(duration), began
	// One that is more than a second late is left out: a machine that has other things to do as well need not catch up.
	takeTurn := func() time.Time {
		schedule.Lock()
		defer schedule.Unlock()
		next = next.Add(time.Duration(float64(time.Second) / rate))
		if late := time.Now().Add(-time.Second); next.Before(late) {
			next = late
		}
		return next
	}
	for range clients {
		all.Go(func() {
			mine := make(map[string]*soakTimes)
			for {
				due := time.Now()
				if rate > 0 {
					due = takeTurn()
					time.Sleep(time.Until(due))
				}
				if time.Now().After(end) {
					break
				}
				sent.Add(1)
				kind := k.pick(rand.IntN(100))
				at := time.Now()
				switch err := kind.do(); {
				case errors.Is(err, errOverloaded):
					k.refused.Add(1)
				case err != nil:
					if k.failed.Add(1) <= 10 {
						t.Errorf("%s: %v", kind.name, err)
					}
				}
				times := mine[kind.name]
				if times == nil {
					times = new(soakTimes)
					mine[kind.name] = times
				}
				times.sent, times.due = append(times.sent, float32(time.Since(at).Seconds())), append(times.due, float32(time.Since(due).Seconds()))
			}
			k.mu.Lock()
			defer k.mu.Unlock()
			for name, times := range mine {
				to := k.times[name]
				if to == nil {
					to = new(soakTimes)
					k.times[name] = to
				}
				to.sent, to.due = append(to.sent, times.sent...), append(to.due, times.due...)
			}
		})
	}
	all.Wait()
	return float64(sent.Load()) / time.Since(began).Seconds()
}

func (k *soak) pick(n int) *soakKind {
	for i := range k.kinds {
		if n -= k.kinds[i].share; n < 0 {
			return &k.kinds[i]
		}
	}
	panic("the shares are less than 100")
}

func (k *soak) forget() {
	clear(k.times)
	k.refused.Store(0)
}

// table shows what was measured, as the documentation does.
func (k *soak) table() string {
	var b strings.Builder
	b.WriteString("| Kind | Requests | p50 | p99 | p99 from when it was due |\n|---|---|---|---|---|\n")
	for _, kind := range k.kinds {
		times := k.times[kind.name]
		if times == nil {
			continue
		}
		slices.Sort(times.sent)
		slices.Sort(times.due)
		at := func(list []float32, share float64) string {
			return fmt.Sprintf("%.1f ms", list[min(int(share*float64(len(list))), len(list)-1)]*1000)
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", kind.name, len(times.sent), at(times.sent, 0.5), at(times.sent, 0.99), at(times.due, 0.99))
	}
	return b.String()
}
