package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// readBusy returns what one organization of busy used, by hour.
func readBusy(t *testing.T, s *Store) []usage.Row {
	t.Helper()
	rows, err := s.Usage(t.Context(), usage.Query{Organization: "organization-000", Step: account.StepHour, From: day.
		AddDate(0, -1, 0).Truncate(time.Hour), To: day.AddDate(0, 1, 0), Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// use counts hours of which some are folded, and sets the quotas of an organization.
func (d damageable) use(t *testing.T, s *Store) {
	t.Helper()
	for n := range uint64(3) {
		hour := day.Truncate(time.Hour).Add(time.Duration(n) * time.Hour)
		f := busy(n+1, 50, hour)
		f.Minutes = f.Hours[:20]
		if _, err := s.AddUsage(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if more, err := s.FoldUsage(t.Context(), hour, usage.DefaultRetention); more || err != nil {
			t.Fatalf("more to fold: %v, error %v", more, err)
		}
	}
	quotas := []account.Quota{{Scope: account.EveryScope, Limit: 5}}
	if _, err := s.SetOrganizationQuotas(t.Context(), "organization-000", quotas, day); err != nil {
		t.Fatal(err)
	}
	if _, err := s.MarkQuota(t.Context(), usage.Mark{Quota: quotas[0]}); err != nil {
		t.Fatal(err)
	}
}

// askUsage is ask for what was used, and for quotas.
func (d damageable) askUsage(s *Store, put func(err error, answer any, question string, args ...any)) {
	ctx := context.Background()
	for n := range 5 {
		organization := fmt.Sprintf("organization-%03d", n)
		for _, step := range keptSteps {
			rows, err := s.Usage(ctx, usage.Query{Organization: organization, Step: step, From: day.AddDate(0, -1, 0).
				Truncate(24 * time.Hour), To: day.AddDate(0, 1, 0), Limit: 1000})
			put(err, rows, "%s of %s", step, organization)
		}
		totals, err := s.AddUsage(ctx, &usage.Flush{At: day, Ask: []usage.Subject{{Organization: organization}}})
		put(err, totals, "totals of %s", organization)
		q, err := s.OrganizationQuotas(ctx, organization)
		put(err, q, "quotas of %s", organization)
	}
}

// TestFlushRepeated has flushes fail, before and after they are on the disk. Whoever repeats them until they succeed
// has them counted once.
func TestFlushRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		kept bool
		fail func(t *testing.T, s *Store, f *usage.Flush) error
	}{
		"the disk is full": {false, func(t *testing.T, s *Store, f *usage.Flush) error {
			release := occupy(t, s)
			s.db.MaxSize = 1 << 17
			release()
			_, err := s.AddUsage(t.Context(), f)
			release = occupy(t, s)
			s.db.MaxSize = 0
			release()
			return err
		}},
		"the answer is lost": {true, func(t *testing.T, s *Store, f *usage.Flush) error {
			ctx, cancel := context.WithCancel(t.Context())
			release := occupy(t, s)
			result := make(chan error)
			go func() {
				_, err := s.AddUsage(ctx, f)
				result <- err
			}()
			waitFor(t, "the flush to queue", func() bool { return s.group.length() == 1 })
			go func() {
				_ = s.write(context.Background(), func(*writeTx) error { // in the same commit
					cancel()
					return nil
				})
			}()
			waitFor(t, "the other change to queue", func() bool { return s.group.length() == 2 })
			release()
			return <-result
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "accounts.db"))
			f := busy(1, 2000, day.Truncate(time.Hour))
			if err := test.fail(t, s, f); !account.IsUnavailable(err) || test.kept && errors.Is(err, account.ErrUnchanged) {
				t.Fatalf("error %v", err)
			}
			if rows := readBusy(t, s); len(rows) > 0 != test.kept {
				t.Fatalf("%d rows are there after the failure", len(rows))
			}
			for range 2 {
				if _, err := s.AddUsage(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			rows := readBusy(t, s)
			if len(rows) != 80 {
				t.Fatalf("%d rows, want 80", len(rows))
			}
			for _, r := range rows {
				if r.Requests != 100 || r.Units != 100 {
					t.Fatalf("%+v, want 100", r)
				}
			}
		})
	}
}

// TestUsageExported folds a part, and compares what a copy and a backup have.
func TestUsageExported(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "accounts.db"))
	at := time.Date(2026, 3, 1, 1, 0, 0, 0, time.UTC)
	one := func(n uint64, hour time.Time, id string, requests int64) {
		t.Helper()
		subject := usage.Subject{Organization: "org", Account: id}
		count := usage.Count{Subject: subject, Scope: "TILE", Start: hour.Unix(), Usage: account.Usage{Requests: requests}}
		f := usage.Flush{Node: "node", Number: n, At: at, Hours: []usage.Count{count}, Minutes: []usage.Count{count}}
		if _, err := s.AddUsage(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
	}
	one(1, at.Add(-2*time.Hour), "sa_1", 1) // in February
	one(2, at.Add(-time.Hour), "sa_1", 10)
	one(3, at.Add(-time.Hour), "", 10)
	if more, err := s.FoldUsage(t.Context(), at, usage.DefaultRetention); more || err != nil {
		t.Fatalf("more to fold: %v, error %v", more, err)
	}
	one(4, at, "sa_1", 100)
	one(5, at.Add(-time.Hour), "sa_1", 1000)
	one(6, at, "sa_2", 5)
	one(7, at, "sa_2", -5)
	quotas, err := s.SetOrganizationQuotas(t.Context(), "org", []account.Quota{{Scope: account.EveryScope, Limit: 1}}, at)
	if err != nil {
		t.Fatal(err)
	}
	record := func(step account.Step, start time.Time, id string, requests int64) account.Record {
		return account.Record{Usage: &account.UsageRecord{Step: step, Start: start, Organization: "org", Account: id,
			Scope: "TILE", Usage: account.Usage{Requests: requests}}}
	}
	february, march := at.AddDate(0, -1, 0).Add(-time.Hour), at.Add(-time.Hour)
	want := []account.Record{
		{Organization: &quotas},
		record(account.StepHour, march.Add(-time.Hour), "sa_1", 1), record(account.StepHour, march, "", 10),
		record(account.StepHour, march, "sa_1", 1010), record(account.StepHour, at, "sa_1", 100),
		record(account.StepDay, march.AddDate(0, 0, -1), "sa_1", 1), record(account.StepDay, march, "", 10),
		record(account.StepDay, march, "sa_1", 1110),
		record(account.StepMonth, february, "sa_1", 1), record(account.StepMonth, march, "", 10),
		record(account.StepMonth, march, "sa_1", 1110),
	}
	backup := filepath.Join(dir, "backup.db")
	if _, err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	// As they are kept: two hours that are not folded, and three, two and three that are.
	r, err := Verify(backup, 10)
	if want := (account.Counts{Organizations: 1, Usage: 2 + 3 + 3 + 3}); err != nil || len(r.Faults) > 0 ||
		r.Counts != want {
		t.Errorf("the backup is %+v, error %v, want %v", r, err, want)
	}
	for name, from := range map[string]*Store{"store": s, "backup": open(t, backup)} {
		var got []account.Record
		if err := from.Export(t.Context(), func(r account.Record) error {
			got = append(got, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what the %s exports (-want +got):\n%s", name, diff)
		}
	}
}

// TestUsageForgotten lets time pass until nothing but sums is left.
func TestUsageForgotten(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "accounts.db"))
	f := busy(1, 2000, day.Truncate(time.Hour))
	f.At, f.Minutes = day, f.Hours // as good as any
	if _, err := s.AddUsage(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	mark := usage.Mark{Quota: account.Quota{Window: account.WindowDay}, Start: day.Unix()}
	if first, err := s.MarkQuota(t.Context(), mark); !first || err != nil {
		t.Fatalf("first: %v, error %v", first, err)
	}
	_, tomorrow := account.WindowDay.Span(day)
	all := int64(len(f.Hours))
	for _, step := range []struct {
		now  time.Time
		want map[string]int64
	}{
		{day.Add(usage.MinutesKept), map[string]int64{"usage_recent": all, "usage_minutes": all, "usage_kept": 0,
			"quota_marks": 1}},
		{day.Add(usage.MinutesKept + time.Second), map[string]int64{"usage_recent": all, "usage_minutes": 0}},
		{tomorrow.Add(usage.MarksKept), map[string]int64{"usage_recent": 0, "usage_kept": 3 * all, "quota_marks": 1}},
		{tomorrow.Add(usage.MarksKept + time.Second), map[string]int64{"quota_marks": 0}},
		{day.Add(35 * 24 * time.Hour), map[string]int64{"usage_kept": 3 * all}},
		{day.Add(36 * 24 * time.Hour), map[string]int64{"usage_kept": 2 * all}},
		{day.Add(usage.NumbersKept), map[string]int64{"usage_nodes": 1}},
		{day.Add(usage.NumbersKept + time.Second), map[string]int64{"usage_nodes": 0}},
		{day.AddDate(2, 0, 0), map[string]int64{"usage_kept": all}},
	} {
		for more := true; more; {
			var err error
			if more, err = s.FoldUsage(t.Context(), step.now, usage.DefaultRetention); err != nil {
				t.Fatal(err)
			}
		}
		for bucket, want := range step.want {
			got := int64(0)
			if err := s.view(t.Context(), func(v *view) error {
				return v.each([]byte(bucket), nil, func(_, _ []byte) error {
					got++
					return nil
				})
			}); err != nil || got != want {
				t.Errorf("at %v, %s has %d records, want %d, error %v", step.now, bucket, got, want, err)
			}
		}
	}
}

// impatient is a context that ends after it was asked some times.
type impatient struct {
	context.Context
	asked, most int
}

func (c *impatient) Err() error {
	if c.asked++; c.asked > c.most {
		return context.Canceled
	}
	return nil
}

// TestUsageEnds: a search that finds nothing ends with its context, in hours that are folded and in others.
func TestUsageEnds(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "accounts.db"))
	hour := day.Truncate(time.Hour)
	for number := range uint64(2) {
		if _, err := s.AddUsage(t.Context(), busy(number+1, 50*200, hour)); err != nil {
			t.Fatal(err)
		}
		ctx := &impatient{Context: t.Context(), most: 50}
		if _, err := s.Usage(ctx, usage.Query{Organization: "organization-000", Step: account.StepHour, From: hour,
			To: hour.Add(time.Hour), Scope: account.ScopeONM, Limit: 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("asked %d times: error %v", ctx.asked, err)
		}
		if _, err := s.FoldUsage(t.Context(), hour.Add(2*time.Hour), usage.DefaultRetention); err != nil {
			t.Fatal(err)
		}
	}
}
