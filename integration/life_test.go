package integration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// life is an account with what its owner was told about it, so that it can be held against what the server says later.
type life struct {
	account serviceAccount
	now     accountState
	asked   []accountState // asked for, with no answer: each may or may not stand
	grants  []*grant
}

// accountState is what can be changed of an account. wide is whether it has REVERSEGEOCODING beside DIRECTION.
type accountState struct {
	status, description string
	wide, deleted       bool
}

func (a accountState) active() bool { return a.status == "ACTIVE" && !a.deleted }

// mayBe reports whether a state is the confirmed one with any of the changes that got no answer. An account that lost
// its server in the middle of a change may be picked up by another worker, which asks the dying server for the next: so
// there can be several, and each stands or does not. Every request changes one thing, and leaves the others as they
// are.
func (l *life) mayBe(found accountState) bool {
	possible := append([]accountState{l.now}, l.asked...)
	some := func(holds func(accountState) bool) bool { return slices.ContainsFunc(possible, holds) }
	if found.deleted { // nothing else is known of it
		return some(func(a accountState) bool { return a.deleted })
	}
	return !l.now.deleted &&
		some(func(a accountState) bool { return a.status == found.status }) &&
		some(func(a accountState) bool { return a.description == found.description }) &&
		some(func(a accountState) bool { return a.wide == found.wide })
}

// grant is what became of one exchange.
type grant struct {
	access  []accessToken // all of them; they live as long as the grant does
	refresh string        // the newest
	rotated []string      // those before it
	wide    bool          // what the exchange gave
	ended   bool
	doubt   string // "refresh" or "revoke" that was asked for, with no answer
}

type accessToken struct {
	token string
	wide  bool
}

// tally counts for the report.
type tally struct{ confirmed, checked atomic.Int64 }

// begin makes an account. The error is that no answer came.
func begin(t *testing.T, s *server, user string, count *tally) (*life, error) {
	a, err := s.trySend(t, call{method: "POST", path: accounts, bearer: user, contentType: jsonType, body: `{"platform":"WEB","scopes":["DIRECTION","REVERSEGEOCODING"]}`})
	if err != nil {
		return nil, err
	}
	var created accountBody
	a.want(201).into(&created)
	secret(created.Data.ClientToken)
	secret(created.Data.ServerToken)
	count.confirmed.Add(1)
	return &life{account: created.Data, now: accountState{status: "ACTIVE", wide: true}}, nil
}

// over reports whether nothing can happen to the account any more.
func (l *life) over() bool { return l.now.deleted }

// step does one thing with the account. The error is that no answer came.
func (l *life) step(t *testing.T, s *server, user string, count *tally) error {
	var live []*grant
	for _, g := range l.grants {
		if !g.ended {
			live = append(live, g)
		}
	}
	next := l.now
	switch n := rand.IntN(20); {
	case n < 6 && l.now.active():
		return l.exchange(t, s, count)
	case n < 10 && len(live) > 0:
		return live[rand.IntN(len(live))].renew(t, s, l.now.wide, count)
	case n < 13 && len(live) > 0:
		return live[rand.IntN(len(live))].revoke(t, s, count)
	case n < 15:
		next.description = fmt.Sprintf("changed %d", rand.Uint64())
	case n < 16:
		next.wide = !next.wide
	case n < 18 && next.status == "ACTIVE":
		next.status = "SUSPENDED"
	case n < 18 && next.status == "SUSPENDED":
		next.status = "ACTIVE"
	case n < 19:
		next.status = "REVOKED"
	default:
		next.deleted = true
	}
	if l.now.status == "REVOKED" { // nothing else can be changed of one
		next = l.now
		next.deleted = true
	}
	return l.change(t, s, user, next, count)
}

func (l *life) exchange(t *testing.T, s *server, count *tally) error {
	a, err := s.trySend(t, exchangeCall(l.account.ClientToken, l.account.ServerToken))
	if err != nil {
		return err // if there is a grant, nobody has its tokens
	}
	var tokens tokensBody
	a.want(200).into(&tokens)
	l.grants = append(l.grants, &grant{wide: l.now.wide, refresh: secret(tokens.Data.RefreshToken),
		access: []accessToken{{secret(tokens.Data.AccessToken), l.now.wide}}})
	count.confirmed.Add(1)
	return nil
}

// renew refreshes; the refresh token rotates.
func (g *grant) renew(t *testing.T, s *server, wide bool, count *tally) error {
	g.doubt = "refresh"
	a, err := s.trySend(t, refreshCall(g.refresh))
	if err != nil {
		return err
	}
	g.doubt = ""
	g.renewed(a.want(200), wide)
	count.confirmed.Add(1)
	return nil
}

func (g *grant) renewed(a *answer, wide bool) {
	var tokens tokensBody
	a.into(&tokens)
	g.rotated = append(g.rotated, g.refresh)
	g.refresh = secret(tokens.Data.RefreshToken)
	g.access = append(g.access, accessToken{secret(tokens.Data.AccessToken), g.wide && wide})
}

func (g *grant) revoke(t *testing.T, s *server, count *tally) error {
	g.doubt = "revoke"
	a, err := s.trySend(t, call{method: "POST", path: external + "/revoke", contentType: jsonType, body: `{"refresh_token":"` + g.refresh + `"}`})
	if err != nil {
		return err
	}
	a.want(204)
	g.doubt, g.ended = "", true
	count.confirmed.Add(1)
	return nil
}

func (l *life) change(t *testing.T, s *server, user string, next accountState, count *tally) error {
	l.asked = append(l.asked, next)
	c := call{method: "PATCH", path: accounts + "/" + l.account.ID, bearer: user, contentType: jsonType}
	status := 200
	switch {
	case next.deleted:
		c = call{method: "DELETE", path: c.path, bearer: user}
		status = 204
	case next.status != l.now.status:
		c.body = `{"status":"` + next.status + `"}`
	case next.wide != l.now.wide:
		scopes := []string{"DIRECTION", "REVERSEGEOCODING"}
		if !next.wide {
			scopes = scopes[:1]
		}
		c.body = asJSON(t, map[string]any{"scopes": scopes})
	default:
		c.body = `{"description":"` + next.description + `"}`
	}
	a, err := s.trySend(t, c)
	if err != nil {
		return err
	}
	a.want(status)
	l.asked = l.asked[:len(l.asked)-1]
	l.becomes(next)
	count.confirmed.Add(1)
	return nil
}

// becomes notes what the account is known to be. One that is not active loses its grants for good.
func (l *life) becomes(state accountState) {
	l.now = state
	if !state.active() {
		for _, g := range l.grants {
			g.ended, g.doubt = true, ""
		}
	}
}

// check holds everything that was confirmed against what the server says, and settles what was asked for without an answer.
func (l *life) check(t *testing.T, s *server, user string, count *tally) {
	t.Helper()
	id := l.account.ID
	a := s.send(t, call{path: accounts + "/" + id, bearer: user})
	found := accountState{deleted: true}
	if a.status == 200 {
		var got accountBody
		a.into(&got)
		found = accountState{status: got.Data.Status, description: got.Data.Description, wide: slices.Contains(got.Data.Scopes, "REVERSEGEOCODING")}
	} else {
		a.want(404)
		found.status, found.description, found.wide = l.now.status, l.now.description, l.now.wide
	}
	count.checked.Add(1)
	if !l.mayBe(found) {
		t.Errorf("%s is %+v; %+v was confirmed, %+v was asked for without an answer", id, found, l.now, l.asked)
	}
	l.becomes(found)
	l.asked = nil
	if !l.now.active() {
		s.send(t, exchangeCall(l.account.ClientToken, l.account.ServerToken)).want(401)
		count.checked.Add(1)
	}
	for _, g := range l.grants {
		g.check(t, s, l.now.wide, count)
	}
}

func (g *grant) check(t *testing.T, s *server, wide bool, count *tally) {
	t.Helper()
	a := s.send(t, refreshCall(g.refresh))
	count.checked.Add(1)
	switch {
	case a.status == 401 && g.doubt != "":
		// Revoked; or rotated, and then the old token was the second use that ends the grant.
		g.ended = true
	case g.ended:
		if a.status != 401 {
			t.Errorf("a grant that had ended gives tokens again: %d", a.status)
		}
	default:
		g.renewed(a.want(200), wide)
	}
	g.doubt = ""
	for _, one := range g.access {
		want := 200
		switch {
		case g.ended:
			want = 401
		case !one.wide || !wide:
			want = 403
		}
		if a := s.send(t, call{path: reverse + place, bearer: one.token}); a.status != want {
			t.Errorf("an access token is answered %d, want %d (grant ended: %v)", a.status, want, g.ended)
		}
		count.checked.Add(1)
	}
}

// checkReuse uses a refresh token that was replaced, too late for a retry: that ends its grant.
func (g *grant) checkReuse(t *testing.T, s *server, count *tally) {
	t.Helper()
	if g.ended || len(g.rotated) == 0 {
		return
	}
	s.send(t, refreshCall(g.rotated[rand.IntN(len(g.rotated))])).want(401)
	g.ended = true
	g.check(t, s, true, count)
}

// refusedWithin waits until a server refuses all tokens of grants that have ended, which it may hear of a moment later, and returns how
// many there were.
func (l *life) refusedWithin(t *testing.T, s *server, limit time.Duration) (n int) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for _, g := range l.grants {
		if !g.ended || g.doubt != "" || len(l.asked) > 0 {
			continue
		}
		for _, one := range g.access {
			for s.send(t, call{path: reverse + place, bearer: one.token}).status != 401 {
				if time.Now().After(deadline) {
					t.Errorf("a token whose grant had ended is still accepted by another server")
					return n
				}
				time.Sleep(10 * time.Millisecond)
			}
			n++
		}
	}
	return n
}

// Several changes may have been asked for without an answer: each of them may stand, and nothing else.
func TestUnansweredChanges(t *testing.T) {
	now := accountState{status: "ACTIVE", description: "kept", wide: true}
	changed := func(change func(*accountState)) accountState {
		state := now
		change(&state)
		return state
	}
	suspended := changed(func(a *accountState) { a.status = "SUSPENDED" })
	described := changed(func(a *accountState) { a.description = "changed" })
	deleted := changed(func(a *accountState) { a.deleted = true })
	both := changed(func(a *accountState) { a.status, a.description = "SUSPENDED", "changed" })
	l := &life{now: now, asked: []accountState{suspended, described}}
	for _, state := range []accountState{now, suspended, described, both} {
		if !l.mayBe(state) {
			t.Errorf("%+v may be, and is taken for a fault", state)
		}
	}
	for _, state := range []accountState{deleted, changed(func(a *accountState) { a.wide = false }),
		changed(func(a *accountState) { a.status = "REVOKED" })} {
		if l.mayBe(state) {
			t.Errorf("%+v was never asked for, and is taken for right", state)
		}
	}
	l = &life{now: deleted, asked: []accountState{suspended}}
	if l.mayBe(now) || l.mayBe(suspended) || !l.mayBe(deleted) {
		t.Error("what was deleted may be back")
	}
	l = &life{now: now, asked: []accountState{deleted, suspended}}
	if !l.mayBe(deleted) || !l.mayBe(suspended) || !l.mayBe(now) {
		t.Error("a deletion without an answer may stand or not")
	}
}
