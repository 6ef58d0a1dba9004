package usage_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// storm is some nodes with one store, and what happens to them.
type storm struct {
	*shaky
	kept          *restartable
	organizations []string // that no other has
	subjects      []usage.Subject
	meters        []*usage.Meter
	want          *model
	latest        time.Time // that the clock ever had
	moves         int       // of the clock, since all was handed over

	lists      [2][]account.Quota // of accounts, and of organizations
	limits     usage.Limits
	keep       usage.Retention
	unfinished []lateRequest
}

// lateRequest is one whose units are known late.
type lateRequest struct {
	usage.Entry
	usage.Subject
	node   int
	scopes account.ScopeSet
	at     time.Time
	lists  [2][]account.Quota
}

func newStorm(t *rapid.T, kept *restartable, name string) *storm {
	o, p := "o"+name, "p"+name
	s := &storm{shaky: newShakyOn(kept), kept: kept, organizations: []string{o, p}}
	s.subjects = []usage.Subject{{Organization: o, Account: "a"}, {Organization: o, Account: "b"},
		{Organization: p, Account: "a"}}
	s.meters = make([]*usage.Meter, rapid.IntRange(1, 3).Draw(t, "nodes"))
	for i := range s.meters {
		s.meters[i] = s.meter()
	}
	s.want, s.latest = newModel(len(s.meters)), s.Now()
	s.reload(t)
	return s
}

// reload sets other limits of the same quotas, and for how long usage is kept.
func (s *storm) reload(t *rapid.T) {
	limit := rapid.Int64Range(0, 40)
	for i := range s.lists {
		s.lists[i] = []account.Quota{
			{Scope: "*", Unit: account.UnitUnits, Window: account.WindowMonth, Limit: 5 * limit.Draw(t, "units")},
			{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowDay, Limit: limit.Draw(t, "requests")},
		}
	}
	s.limits = usage.Limits{Account: account.NewLimits(s.lists[0]), Organization: account.NewLimits(s.lists[1])}
	s.keep = rapid.SampledFrom([]usage.Retention{usage.DefaultRetention,
		{Hours: 25 * time.Hour, Days: 32 * 24 * time.Hour}}).Draw(t, "keep")
}

// judge compares what a node said of so many more requests and units with the quotas. It can be told for one node only:
// of several none knows what the others admit.
func (s *storm) judge(t *rapid.T, r *lateRequest, requests, units int64, refused bool) {
	if len(s.meters) > 1 {
		return
	}
	may, must := true, true // pass
	for i, subject := range []usage.Subject{r.Subject, {Organization: r.Organization}} {
		for _, q := range r.lists[i] {
			n := requests
			if q.Unit == account.UnitUnits {
				n = units
			}
			sum := int64(0)
			for _, scope := range account.AllScopes {
				if r.scopes.Has(scope.Set()) && (q.Scope == "*" || q.Scope == string(scope)) {
					sum += n
				}
			}
			low, high := s.want.used(subject, q, s.Now())
			may = may && (sum <= 0 || low+sum <= q.Limit)
			must = must && (sum <= 0 || high+sum <= q.Limit)
		}
	}
	if refused && must || !refused && !may {
		t.Fatalf("refused: %v, though it may pass: %v, and has to: %v", refused, may, must)
	}
}

func (s *storm) request(t *rapid.T) {
	r := lateRequest{Subject: rapid.SampledFrom(s.subjects).Draw(t, "subject"), lists: s.lists, at: s.Now(),
		scopes: account.ScopeSet(rapid.IntRange(1, 7).Draw(t, "scopes")),
		node:   rapid.IntRange(0, len(s.meters)-1).Draw(t, "node")}
	c := s.meters[r.node].Counter(r.Organization, r.Account)
	var err error
	r.Entry, err = c.Admit(context.Background(), r.scopes, s.limits, r.at.Unix())
	if err != nil && !isExceeded(err) {
		if s.fail == nil {
			t.Fatal(err)
		}
		return // nothing is counted of a request that nobody can judge
	}
	s.judge(t, &r, 1, 1, err != nil)
	u := account.Usage{Requests: 1, Units: 1}
	if err != nil {
		u = account.Usage{Refused: 1}
	} else if rapid.Bool().Draw(t, "failed") {
		r.Failed()
		u.Errors = 1
	}
	s.want.add(r.node, r.Subject, r.scopes, r.at, u)
	if err == nil {
		s.unfinished = append(s.unfinished, r)
		if rapid.Bool().Draw(t, "at once") {
			s.finishOne(t, len(s.unfinished)-1)
		}
	}
}

// finish tells the units of a request, whatever happened since it was admitted.
func (s *storm) finish(t *rapid.T) {
	if len(s.unfinished) > 0 {
		s.finishOne(t, rapid.IntRange(0, len(s.unfinished)-1).Draw(t, "which"))
	}
}

func (s *storm) finishOne(t *rapid.T, i int) {
	r := s.unfinished[i]
	s.unfinished = slices.Delete(s.unfinished, i, i+1)
	units := rapid.Int64Range(0, 9).Draw(t, "units")
	if rapid.Bool().Draw(t, "done") {
		r.Count(units)
	} else {
		switch err := r.Charge(units); {
		case isExceeded(err):
			s.judge(t, &r, 0, units-1, true)
			s.want.add(r.node, r.Subject, r.scopes, r.at, account.Usage{Requests: -1, Refused: 1, Units: -1})
			return
		case err != nil && s.fail == nil:
			t.Fatal(err)
		case err != nil:
			return // it counts 1
		}
		s.judge(t, &r, 0, units-1, false)
	}
	s.want.add(r.node, r.Subject, r.scopes, s.Now(), account.Usage{Units: units - 1})
}

// breakStore makes the store fail from now on, or not any more.
func (s *storm) breakStore(t *rapid.T) {
	err := rapid.SampledFrom([]error{nil, nil, errLost, errUnchanged}).Draw(t, "error")
	s.away(err, errors.Is(err, errLost) && rapid.Bool().Draw(t, "late"))
}

// flush lets all nodes flush at once, while others fold.
func (s *storm) flush(t *rapid.T) {
	done := make([]chan error, len(s.meters))
	for i, m := range s.meters {
		done[i] = make(chan error, 1)
		go func() { done[i] <- m.Flush(context.Background()) }()
	}
	if rapid.Bool().Draw(t, "fold") {
		s.foldAll(t)
	}
	for i := range done {
		switch err := <-done[i]; {
		case err == nil:
			s.want.handedOver(i)
		case s.fail == nil:
			t.Fatal(err)
		}
	}
	if s.fail == nil {
		s.moves = 0
	}
}

// settle hands over what all nodes counted.
func (s *storm) settle(t *rapid.T) {
	s.away(nil, false)
	s.flush(t)
}

func (s *storm) foldAll(t *rapid.T) {
	s.want.folded(s.Now(), s.keep)
	for more := true; more; {
		var err error
		if more, err = s.Store.FoldUsage(context.Background(), s.Now(), s.keep); err != nil {
			t.Fatal(err)
		}
	}
}

// fold folds, and nothing that is too old is left.
func (s *storm) fold(t *rapid.T) {
	s.foldAll(t)
	for k := range s.rowsOf(t, account.StepHour, account.StepDay) {
		if gone(k, s.Now(), s.keep) {
			t.Errorf("%+v is still there at %v", k, s.Now())
		}
	}
}

// setClock sets the clock or lets time pass.
func (s *storm) setClock(t *rapid.T) {
	if s.moves++; s.moves > 5 { // a node keeps so many hours apart, and a store its number for so long
		s.settle(t)
	}
	step := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour})
	by := step.Draw(t, "step") * time.Duration(rapid.IntRange(-2, 2).Draw(t, "times"))
	if by > 0 && rapid.Bool().Draw(t, "goes on") {
		s.pass(by)
	} else {
		s.Step(by)
	}
	if s.Now().After(s.latest) {
		s.latest = s.Now()
	}
}

// kill ends a node, and another takes its place.
func (s *storm) kill(t *rapid.T) { s.replace(rapid.IntRange(0, len(s.meters)-1).Draw(t, "node")) }

func (s *storm) replace(node int) {
	// A process that is gone knows no more that it had counted in windows that are yet to come.
	s.Step(max(0, s.latest.Sub(s.Now())))
	s.want.killed(node)
	s.meters[node] = s.meter()
	s.unfinished = slices.DeleteFunc(s.unfinished, func(r lateRequest) bool { return r.node == node })
}

// restart ends all nodes and the store, with notice or without.
func (s *storm) restart(t *rapid.T) {
	if rapid.Bool().Draw(t, "notice") {
		s.settle(t)
	}
	if err := s.kept.restart(); err != nil {
		t.Fatal(err)
	}
	for node := range s.meters {
		s.replace(node)
	}
}
