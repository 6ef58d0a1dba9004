package usagetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// queried are the counts of organization "org" in the tests of queries: some accounts under two scopes, in hours of two
// months, and the sums of the organization, which no query lists.
func queried() *usage.Flush {
	var counts []usage.Count
	for i, hour := range []int{0, -1, -13, -24, -24 * 14, -24*14 - 13, -24 * 40} {
		for n, id := range []string{"", "sa_1", "sa_2", "sa_20", "sa_x\x00", "sa_", "ä"} {
			for k, scope := range []account.Scope{account.ScopeTile, account.ScopeTSS} {
				counts = append(counts, count("org", id, scope, hourOf(hour), int64(100*i+10*n+k+1)))
			}
		}
	}
	return flush("node", 1, counts...)
}

// testQuery compares answers with the model's, before, while and after parts are folded.
func testQuery(t *testing.T, s usage.Store) {
	model := NewMemory()
	apply(t, s, queried())
	apply(t, model, queried())
	at := func(hour int) time.Time { return time.Unix(hourOf(hour), 0).UTC() }
	month, _ := account.WindowMonth.Span(noon)
	day, _ := account.WindowDay.Span(noon)
	compare := func(what string) {
		t.Helper()
		for _, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
			for _, id := range []string{"", "sa_1", "sa_2", "sa_", "sa_x\x00", "ä", "sa_none"} {
				for _, scope := range []account.Scope{"", account.ScopeTSS, account.ScopeONM} {
					for _, span := range [][2]time.Time{{}, {month, noon}, {day, at(0)}, {at(-24), at(-1)}, {at(-24), at(-24)},
						{noon, at(-24)}, {at(0), at(1)}, {month, month.AddDate(0, 1, 0)},
						{time.Unix(0, 0).UTC(), noon.AddDate(10_000-noon.Year(), 0, 0)}, {time.Unix(0, 0).UTC(), time.Time{}.Add(1)}} {
						q := always("org", step)
						if !span[1].IsZero() {
							q.From, q.To = span[0], span[1]
						}
						q.Account, q.Scope = id, scope
						same(t, fmt.Sprintf("%s, %s of %q, scope %q, from %v to %v", what, step, id, scope, q.From, q.To),
							read(t, model, q), read(t, s, q))
					}
				}
			}
		}
	}
	compare("not folded")
	fold(t, s, noon.AddDate(0, 0, -1), forever)
	compare("partly folded")
	fold(t, s, noon.Add(time.Hour), forever)
	compare("folded")
	again := queried()
	again.Number++
	apply(t, s, again)
	apply(t, model, again)
	compare("folded, and as much again")
}

// testPages reads everything by pages, at every step, also where parts are folded.
func testPages(t *testing.T, s usage.Store) {
	apply(t, s, queried())
	fold(t, s, noon.AddDate(0, 0, -1), forever)
	for _, q := range []usage.Query{always("org", account.StepHour), always("org", account.StepDay),
		always("org", account.StepMonth)} {
		for _, id := range []string{"", "sa_1"} {
			q.Account = id
			whole := read(t, s, q)
			for _, limit := range []int{1, 5, len(whole), len(whole) + 1} {
				q.Limit, q.After = limit, nil
				var all []usage.Row
				for {
					rows := read(t, s, q)
					all = append(all, rows...)
					if len(rows) < limit || len(all) > len(whole) {
						break
					}
					last := rows[len(rows)-1]
					q.After = &usage.Position{Start: last.Start.Unix(), Account: last.Account, Scope: last.Scope}
				}
				same(t, fmt.Sprintf("%s of %q by %d", q.Step, id, limit), whole, all)
			}
			q.Limit, q.After = 1000, nil
		}
	}
	// A position need not exist.
	q := always("org", account.StepHour)
	q.After = &usage.Position{Start: hourOf(-1) + 7, Account: "x"}
	same(t, "after a position where nothing is", 12, len(read(t, s, q)))
	q.After = &usage.Position{Start: hourOf(1)}
	same(t, "after the last", []usage.Row{}, read(t, s, q))
}

// testOrganizations uses names that would run into each other if a store joined them carelessly.
func testOrganizations(t *testing.T, s usage.Store) {
	names := []string{"a", "a\x00", "a\x00b", "ab", "", "a/", "a%", "A", "\xff", "\xff\xff", "\x01a", "aTILE", "ä"}
	// No order between two of them depends on how a store writes bytes that are no text.
	ids := []string{"\x00", "a", "a\x00", "a\x00\x01", "a\x00\xff", "ab", "b", "b\xff"}
	var counts []usage.Count
	var ask []usage.Subject
	for i, name := range names {
		for k, id := range append([]string{""}, ids...) {
			counts = append(counts, count(name, id, account.ScopeTile, hourOf(-1), int64(1+i+100*k)))
			ask = append(ask, usage.Subject{Organization: name, Account: id})
		}
	}
	f := flush("node", 1, counts...)
	f.Ask = ask
	model := NewMemory()
	same(t, "totals", apply(t, model, f), apply(t, s, f))
	for _, folded := range []bool{false, true} {
		if folded {
			fold(t, s, noon, forever)
		}
		for _, name := range append(names, "none") {
			for _, id := range append([]string{""}, ids...) {
				q := always(name, account.StepDay)
				q.Account = id
				same(t, fmt.Sprintf("%q in %q, folded: %v", id, name, folded), read(t, model, q), read(t, s, q))
			}
		}
	}
}
