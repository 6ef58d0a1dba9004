package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// heard notes what a store reports.
type heard struct {
	mu       sync.Mutex
	versions map[string]uint64 // of accounts, the highest
	deleted  map[string]uint64
	quotas   map[string]account.OrganizationQuotas
	ended    map[string]int
	keys     int
	removed  []string // keys
	missed   int
	synced   time.Time
	errs     []error
	changed  chan struct{} // a token whenever anything was noted
}

func newHeard() *heard {
	return &heard{versions: map[string]uint64{}, deleted: map[string]uint64{}, ended: map[string]int{},
		quotas:  map[string]account.OrganizationQuotas{},
		changed: make(chan struct{}, 1)}
}

func (h *heard) note(what func()) {
	h.mu.Lock()
	what()
	h.mu.Unlock()
	select {
	case h.changed <- struct{}{}:
	default:
	}
}

func (h *heard) AccountChanged(a account.Account) {
	h.note(func() { h.versions[a.ID] = max(h.versions[a.ID], a.Version) })
}
func (h *heard) AccountDeleted(id string, version uint64) { h.note(func() { h.deleted[id] = version }) }
func (h *heard) OrganizationChanged(q account.OrganizationQuotas) {
	h.note(func() { h.quotas[q.Organization] = q })
}
func (h *heard) GrantEnded(id string)   { h.note(func() { h.ended[id]++ }) }
func (h *heard) KeysChanged()           { h.note(func() { h.keys++ }) }
func (h *heard) KeyRemoved(id string)   { h.note(func() { h.removed = append(h.removed, id) }) }
func (h *heard) ChangesMissed()         { h.note(func() { h.missed++ }) }
func (h *heard) Synced(asked time.Time) { h.note(func() { h.synced = asked }) }
func (h *heard) NotSynced(err error)    { h.note(func() { h.errs = append(h.errs, err) }) }

// until waits for a condition on what was heard, and returns how long that took.
func (h *heard) until(t testing.TB, what string, limit time.Duration, is func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	timeout := time.After(limit)
	for {
		h.mu.Lock()
		now := is()
		h.mu.Unlock()
		if now {
			return time.Since(began)
		}
		select {
		case <-h.changed:
		case <-timeout:
			t.Fatalf("%s: not within %v", what, limit)
		}
	}
}

// watch lets a store report until the end of the test.
func watch(t testing.TB, s *Store) *heard {
	t.Helper()
	h := newHeard()
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Watch(ctx, h) })
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
	h.until(t, "the first answer", 5*time.Second, func() bool { return !h.synced.IsZero() })
	return h
}

func openQuiet(t testing.TB, dsn string) *Store {
	t.Helper()
	cfg, err := ParseDSN(dsn, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), cfg, Options{Listen: false, Logger: zaptest.NewLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func addAccount(t testing.TB, s account.Store, id string) {
	t.Helper()
	a := account.Account{ID: id, OrganizationID: "org", Status: account.StatusActive, Version: 1,
		Scopes: account.Scopes{account.ScopeTile}}
	copy(a.ClientHash[:], "c"+id)
	copy(a.ServerHash[:], "s"+id)
	if err := s.CreateAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
}

func addGrant(t testing.TB, s account.Store, id string, limit int) {
	t.Helper()
	g := account.Grant{ID: id, ClientAccount: "sa_1", ServerAccount: "sa_1", CreatedAt: time.Now(),
		ExpiresAt: time.Now().Add(time.Hour)}
	copy(g.RefreshHash[:], "r"+id)
	if _, err := s.AddGrant(t.Context(), g, limit); err != nil {
		t.Fatal(err)
	}
}

func toggle(a *account.Account) (bool, error) {
	if a.Status == account.StatusActive {
		a.Status = account.StatusSuspended
	} else {
		a.Status = account.StatusActive
	}
	return true, nil
}

var dailyQuota = account.Quota{Scope: account.EveryScope, Unit: account.UnitRequests, Window: account.WindowDay,
	Limit: 9}

// TestEveryKindIsHeard makes one change of each kind on one server and hears it on another, within the second that is
// promised.
func TestEveryKindIsHeard(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB, string) *Store{
		"notified": func(t testing.TB, dsn string) *Store { return open(t, dsn) },
		"polled":   openQuiet,
	} {
		t.Run(name, func(t *testing.T) {
			dsn := pgtest.DSN(t)
			one, other := open(t, dsn), open(t, dsn)
			h := watch(t, other)
			addAccount(t, one, "sa_1")
			addAccount(t, one, "sa_2")
			addGrant(t, one, "gr_1", 2)
			addGrant(t, one, "gr_2", 2)
			for _, step := range []struct {
				name string
				do   func() error
				is   func() bool
			}{
				{"update", func() error {
					_, _, err := one.UpdateAccount(t.Context(), "sa_1", toggle)
					return err
				}, func() bool { return h.versions["sa_1"] == 2 }},
				{"deletion", func() error {
					_, err := one.DeleteAccount(t.Context(), "sa_2", nil)
					return err
				}, func() bool { return h.deleted["sa_2"] == 2 }},
				{"end of a grant", func() error { return one.EndGrant(t.Context(), "gr_1") },
					func() bool { return h.ended["gr_1"] == 1 }},
				{"end of the oldest grant", func() error {
					addGrant(t, one, "gr_3", 1)
					return nil
				}, func() bool { return h.ended["gr_2"] == 1 }},
				{"quotas of an organization", func() error {
					_, err := one.SetOrganizationQuotas(t.Context(), "org\x00", []account.Quota{dailyQuota}, time.Now())
					return err
				}, func() bool {
					q := h.quotas["org\x00"]
					return q.Version == 1 && slices.Equal(q.Quotas, []account.Quota{dailyQuota})
				}},
				{"key", func() error {
					_, err := one.AddFirstKey(t.Context(), account.Key{ID: "k", Use: account.KeyAccess, Algorithm: "EdDSA"})
					return err
				}, func() bool { return h.keys == 1 }},
				{"removed key", func() error {
					_, err := one.ReplaceKeys(t.Context(), []string{"k"},
						[]account.Key{{ID: "l", Use: account.KeyAccess, Algorithm: "EdDSA"}})
					return err
				}, func() bool { return len(h.removed) == 1 && h.removed[0] == "k" && h.keys >= 2 }},
				{"another removed key", func() error { return one.DeleteKey(t.Context(), "l") },
					func() bool { return len(h.removed) == 2 && h.removed[1] == "l" }},
			} {
				if err := step.do(); err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: heard after %v", step.name, h.until(t, step.name, time.Second, step.is))
			}
			if h.missed != 0 || len(h.errs) != 0 {
				t.Errorf("missed %d times, errors %v", h.missed, h.errs)
			}
		})
	}
}

// TestLateCommit holds one change back while another is made: neither may overtake the other unseen.
func TestLateCommit(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	one, other := open(t, dsn), open(t, dsn)
	h := watch(t, other)
	addAccount(t, one, "sa_1")
	addGrant(t, one, "gr_2", 9)

	// The first change is made by hand, and commits when the test says so.
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	batch := new(pgx.Batch)
	change{kind: grantEnded, subject: "gr_1"}.queue(batch)
	if err := tx.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() { second <- one.EndGrant(context.Background(), "gr_2") }()
	time.Sleep(600 * time.Millisecond) // long enough for a poll to pass
	h.mu.Lock()
	if len(h.ended) != 0 {
		t.Errorf("heard %v before any of it was committed", h.ended)
	}
	h.mu.Unlock()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	h.until(t, "both", time.Second, func() bool { return h.ended["gr_1"] == 1 && h.ended["gr_2"] == 1 })
}

// TestManyWriters lets two servers change accounts from many goroutines while a third hears: each change has to
// arrive within a second after its commit.
func TestManyWriters(t *testing.T) {
	dsn := pgtest.DSN(t)
	writers := []*Store{open(t, dsn), open(t, dsn)}
	h := watch(t, openQuiet(t, dsn))
	const workers, each = 8, 40
	var late sync.WaitGroup
	var done sync.WaitGroup
	for i := range workers {
		id := fmt.Sprintf("sa_%d", i)
		addAccount(t, writers[0], id)
		done.Go(func() {
			for range each {
				_, after, err := writers[i%2].UpdateAccount(context.Background(), id, toggle)
				if err != nil {
					t.Error(err)
					return
				}
				committed := time.Now()
				late.Go(func() {
					for time.Since(committed) < time.Second {
						h.mu.Lock()
						now := h.versions[id]
						h.mu.Unlock()
						if now >= after.Version {
							return
						}
						time.Sleep(5 * time.Millisecond)
					}
					t.Errorf("version %d of %s did not arrive within a second", after.Version, id)
				})
			}
		})
	}
	done.Wait()
	late.Wait()
	if h.missed != 0 {
		t.Errorf("missed %d times", h.missed)
	}
	if n, last := pgtest.Query[int64](t, dsn, "SELECT count(*) FROM maps_changes WHERE id > 0"),
		pgtest.Query[int64](t, dsn, "SELECT value FROM maps_state WHERE name = 'changes'"); n != workers*each || last != n {
		t.Errorf("%d changes, the counter stands at %d, want %d", n, last, workers*each)
	}
}

// TestCutConnections ends all connections again and again while changes are made. Nothing that was confirmed may be
// lost, and everything is heard in time.
func TestCutConnections(t *testing.T) {
	pace := testpace.Watch(t)
	name := fmt.Sprintf("caddy-maps cut %d", time.Now().UnixNano())
	dsn := pgtest.With(t, pgtest.DSN(t), "application_name", name)
	one, other := open(t, dsn), open(t, dsn)
	h := watch(t, other)
	const accounts = 4
	for i := range accounts {
		addAccount(t, one, fmt.Sprintf("sa_%d", i))
	}
	const enough = 20
	var cutting, writing sync.WaitGroup
	var mu sync.Mutex
	var slowest time.Duration
	cuts, confirmed, refused, unsure := 0, 0, 0, 0
	began := time.Now()
	goOn := func() bool {
		mu.Lock()
		defer mu.Unlock()
		took := time.Since(began)
		return took < 4*time.Second || took < 30*time.Second && (cuts < enough || confirmed < enough)
	}
	cutting.Go(func() {
		for goOn() {
			n := pgtest.CutConnections(t, dsn, name)
			mu.Lock()
			cuts += n
			mu.Unlock()
			time.Sleep(pace.Pause(60 * time.Millisecond)) // between two cuts there has to be time to connect
		}
	})
	for i := range accounts {
		id := fmt.Sprintf("sa_%d", i)
		writing.Go(func() {
			// The version that is known to be stored, and how many changes since then got no answer: each of them stands or
			// does not, and may do so later than it is asked for. Nobody else writes.
			last, unanswered := uint64(1), uint64(0)
			check := func(what string, version uint64) {
				if version < last || version > last+unanswered {
					t.Errorf("%s: version %d was there, %d changes since got no answer, and %d is stored after one that %s", id, last,
						unanswered, version, what)
				}
			}
			for goOn() {
				_, after, err := one.UpdateAccount(context.Background(), id, toggle)
				mu.Lock()
				switch {
				case errors.Is(err, account.ErrUnchanged):
					refused++
				case err != nil:
					unsure++
				default:
					confirmed++
				}
				mu.Unlock()
				if err != nil {
					if !errors.Is(err, account.ErrUnchanged) {
						unanswered++
					}
					if stored, readErr := one.Account(context.Background(), id); readErr == nil {
						check("failed: "+err.Error(), stored.Version)
					}
					continue
				}
				check("was confirmed", after.Version-1) // which the change was made to
				last, unanswered = after.Version, 0
				committed := time.Now()
				for {
					h.mu.Lock()
					now := h.versions[id]
					h.mu.Unlock()
					if now >= after.Version {
						break
					}
					if time.Since(committed) > pace.Allow(time.Second) {
						t.Errorf("version %d of %s did not arrive within a second", after.Version, id)
						return
					}
					time.Sleep(time.Millisecond)
				}
				mu.Lock()
				slowest = max(slowest, time.Since(committed))
				mu.Unlock()
				stored, err := one.Account(context.Background(), id)
				if err != nil {
					continue // cut off too often; the next will tell
				}
				if stored.Version < after.Version {
					t.Errorf("%s: version %d was confirmed, and %d is stored", id, after.Version, stored.Version)
				}
			}
		})
	}
	writing.Wait()
	cutting.Wait()
	if cuts < enough || confirmed < enough {
		t.Errorf("%d connections were cut and %d changes confirmed: too few to tell anything", cuts, confirmed)
	}
	if h.missed != 0 {
		t.Errorf("missed %d times", h.missed)
	}
	t.Logf("%d connections cut; %d changes confirmed, %d refused, %d with an unknown end; the slowest was heard after %v",
		cuts, confirmed, refused, unsure, slowest)
}

// TestMissedChanges: a server that was away for longer than changes are kept forgets all that it knows, as does one
// whose database is not what it was.
func TestMissedChanges(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, dsn string, one *Store){
		"pruned": func(t *testing.T, dsn string, one *Store) {
			pgtest.Exec(t, dsn, "UPDATE maps_changes SET made_at = made_at - interval '2 hours'")
			one.prune(t.Context())
			if n := pgtest.Query[int](t, dsn, "SELECT count(*) FROM maps_changes"); n != 1 {
				t.Errorf("%d changes are left, want the last alone", n)
			}
		},
		"restored": func(t *testing.T, dsn string, _ *Store) {
			pgtest.Exec(t, dsn, "DELETE FROM maps_changes WHERE id > 0")
			pgtest.Exec(t, dsn, "UPDATE maps_state SET value = 0 WHERE name = 'changes'")
		},
		"restored and changed again": func(t *testing.T, dsn string, one *Store) {
			pgtest.Exec(t, dsn, "DELETE FROM maps_changes WHERE id > 0")
			pgtest.Exec(t, dsn, "UPDATE maps_state SET value = 0 WHERE name = 'changes'")
			for range 5 {
				if _, _, err := one.UpdateAccount(t.Context(), "sa_1", toggle); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.DSN(t)
			proxy := pgtest.NewProxy(t, dsn)
			one, other := open(t, dsn), openQuiet(t, proxy.DSN)
			h := watch(t, other)
			addAccount(t, one, "sa_1")
			update := func() {
				t.Helper()
				if _, _, err := one.UpdateAccount(t.Context(), "sa_1", toggle); err != nil {
					t.Fatal(err)
				}
			}
			update()
			h.until(t, "a change", time.Second, func() bool { return h.versions["sa_1"] == 2 })
			proxy.Refuse()
			h.until(t, "the failure", 2*time.Second, func() bool { return len(h.errs) > 0 })
			update()
			update()
			lose(t, dsn, one)
			proxy.Accept()
			h.until(t, "having missed changes", 2*time.Second, func() bool { return h.missed == 1 })
			// And on from there.
			update()
			after, err := one.Account(t.Context(), "sa_1")
			if err != nil {
				t.Fatal(err)
			}
			h.until(t, "the next change", time.Second, func() bool { return h.versions["sa_1"] == after.Version })
			if h.missed != 1 {
				t.Errorf("missed %d times", h.missed)
			}
		})
	}
}

// TestShortAbsence: what happened while a server was away for a while arrives when it is back, and nothing is
// forgotten.
func TestShortAbsence(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	proxy := pgtest.NewProxy(t, dsn)
	one, other := open(t, dsn), open(t, proxy.DSN)
	h := watch(t, other)
	addAccount(t, one, "sa_1")
	proxy.Refuse()
	h.until(t, "the failure", 2*time.Second, func() bool { return len(h.errs) > 0 })
	const changes = pageSize*2 + 100 // several pages
	for range 20 {
		if _, _, err := one.UpdateAccount(t.Context(), "sa_1", toggle); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, dsn, `WITH n AS (UPDATE maps_state SET value = value + $1 WHERE name = 'changes'
		RETURNING value - $1 AS before)
		INSERT INTO maps_changes (id, kind, subject, version, nonce)
		SELECT before + i, 'grant ended', 'gr_' || i, 0, i FROM n, generate_series(1, $1) i`,
		int64(changes))
	proxy.Accept()
	h.until(t, "everything", 2*time.Second, func() bool { return len(h.ended) == changes && h.versions["sa_1"] == 21 })
	if h.missed != 0 {
		t.Errorf("missed %d times", h.missed)
	}
}

// TestAnswersInAnyOrder gives a watcher the answers to questions that were on their way at the same time. Every
// change is reported, none is passed over, and the cursor never goes back.
func TestAnswersInAnyOrder(t *testing.T) {
	changes := func(first, last int64) (list page) {
		for id := first; id <= last; id++ {
			list = append(list, change{id: id, nonce: 100 + id, kind: grantEnded, subject: fmt.Sprint(id)})
		}
		return list
	}
	at := func(id int64) cursor { return cursor{id, 100 + id} }
	another := changes(0, 5)
	another[4].nonce++
	for name, test := range map[string]struct {
		answers []answer
		says    []bool // whether each counts
		at      cursor
		missed  int
	}{
		"one after the other": {[]answer{{after: at(0), list: changes(0, 3)}, {after: at(3), list: changes(3, 5)}},
			[]bool{true, true}, at(5), 0},
		"the older one last": {[]answer{{after: at(0), list: changes(0, 5)}, {after: at(0), list: changes(0, 3)}},
			[]bool{true, false}, at(5), 0},
		"the older one first": {[]answer{{after: at(0), list: changes(0, 3)}, {after: at(0), list: changes(0, 5)}},
			[]bool{true, true}, at(5), 0},
		"the same twice": {[]answer{{after: at(0), list: changes(0, 3)}, {after: at(0), list: changes(0, 3)}},
			[]bool{true, true}, at(3), 0},
		"asked earlier, and nothing": {[]answer{{after: at(0), list: changes(0, 3)}, {after: at(0), list: changes(0, 0)}},
			[]bool{true, false}, at(3), 0},
		"missed": {[]answer{{after: at(0), missed: true, newest: at(9)}}, []bool{true}, at(9), 1},
		"missed, asked earlier": {[]answer{{after: at(0), list: changes(0, 3)},
			{after: at(0), missed: true, newest: at(9)}}, []bool{true, false}, at(3), 0},
		"missed, and an earlier one": {[]answer{{after: at(0), missed: true, newest: at(9)},
			{after: at(0), list: changes(0, 3)}}, []bool{true, false}, at(9), 1},
		"of a database that went back": {[]answer{{after: at(0), list: changes(0, 4)}, {after: at(0), list: another}},
			[]bool{true, false}, at(4), 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHeard()
			w := &watcher{store: &Store{logger: zap.NewNop()}, to: h, at: at(0)}
			for i := range test.answers {
				if says := w.take(&test.answers[i]); says != test.says[i] {
					t.Errorf("answer %d counts: %v, want %v", i, says, test.says[i])
				}
			}
			if w.at != test.at || h.missed != test.missed {
				t.Errorf("the cursor is at %v, missed %d times; want %v and %d", w.at, h.missed, test.at, test.missed)
			}
			if test.missed > 0 {
				return
			}
			for id := int64(1); id <= test.at.id; id++ {
				if n := h.ended[fmt.Sprint(id)]; n != 1 {
					t.Errorf("change %d was reported %d times", id, n)
				}
			}
		})
	}
}

// An answer that comes too late to count leaves the question open; the connection it came by is asked again.
func TestOutdatedAnswer(t *testing.T) {
	w := &watcher{store: &Store{logger: zap.NewNop()}, to: newHeard(), at: cursor{3, 103}, asking: true}
	l := &line{questions: make(chan cursor, 1), made: true}
	w.lines = append(w.lines, l)
	asked := time.Now().Add(-time.Second)
	w.hearAnswer(event{line: l, answer: &answer{after: cursor{2, 102}, asked: asked, list: page{{id: 2, nonce: 102}}}})
	select {
	case after := <-l.questions:
		if after != w.at || l.free || !w.asking {
			t.Errorf("asked after %v, free %v, asking %v", after, l.free, w.asking)
		}
	default:
		t.Error("nothing is asked")
	}
}

// TestDeadConnection: a connection that leads nowhere, without anybody having said so, must not cost the second.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	proxy := pgtest.NewProxy(t, dsn)
	one, other := open(t, dsn), open(t, proxy.DSN)
	h := watch(t, other)
	addAccount(t, one, "sa_1")
	for range 3 {
		proxy.FreezeOpen()
		_, after, err := one.UpdateAccount(t.Context(), "sa_1", toggle)
		if err != nil {
			t.Fatal(err)
		}
		took := h.until(t, "the change", time.Second, func() bool { return h.versions["sa_1"] == after.Version })
		t.Logf("heard after %v", took)
	}
}

// TestRefusedTogether: connections that were being made when something broke are one sign that the database is away.
// It takes another one, begun after that, to believe it.
func TestRefusedTogether(t *testing.T) {
	h := newHeard()
	w := &watcher{store: &Store{logger: zap.NewNop()}, to: h, asking: true, nextLine: time.Now().Add(time.Hour)}
	begin := func() *line {
		l := &line{begun: time.Now(), hangUp: func() {}}
		w.lines = append(w.lines, l)
		return l
	}
	broke := func(l *line) {
		w.hear(t.Context(), event{line: l, err: asDBError(errors.New("broken pipe")), refused: true})
	}
	one, two, three := begin(), begin(), begin()
	for _, l := range []*line{one, two, three} {
		broke(l)
	}
	if len(h.errs) > 0 {
		t.Errorf("connections that broke together: %v", h.errs)
	}
	broke(begin())
	if len(h.errs) != 1 {
		t.Errorf("a connection that broke after that: %v", h.errs)
	}
}
