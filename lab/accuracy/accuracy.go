// Package accuracy compares a matcher's answers with drives whose true path is known, and sums them up by sampling
// interval and noise. It neither makes the drives (drives) nor prints or judges the results (cmd/eval).
// Start with Run and Tabulate; Calibrate compares confidence with accuracy.
package accuracy

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/mismatch"
)

// Outcome is what a matcher made of one drive.
type Outcome struct {
	drives.Cell
	mismatch.Mismatch
	Lost       bool    // there was no answer; all of the drive is missed
	LeftOut    int     // positions that were not matched
	Confidence float64 // 0 to 1; NaN where the answer has none
}

// Radius says which radius a drive's request has, in metres; 0 leaves it out.
type Radius func(d *drives.Drive) float64

// NoRadius leaves the radius out.
func NoRadius(*drives.Drive) float64 { return 0 }

// SigmaRadius is the radius that tells the matcher the noise, as the peers were told: max(5, σ).
func SigmaRadius(d *drives.Drive) float64 { return max(5, d.Sigma) }

// Run matches drives, several at once, and returns their outcomes in the same order. A trace that has no answer is an
// outcome; any other error of the matcher ends the run.
func Run(ctx context.Context, m matching.Matcher, ds []drives.Drive, radius Radius) ([]Outcome, error) {
	return run(ctx, m, ds, radius, func(d *drives.Drive) []trace.Point { return drives.Points(d.Trace) })
}

// RunTimed is Run with the positions' times.
func RunTimed(ctx context.Context, m matching.Matcher, ds []drives.Drive, radius Radius) ([]Outcome, error) {
	return run(ctx, m, ds, radius, (*drives.Drive).Timed)
}

func run(ctx context.Context, m matching.Matcher, ds []drives.Drive, radius Radius,
	points func(d *drives.Drive) []trace.Point) ([]Outcome, error) {
	outcomes := make([]Outcome, len(ds))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range ds {
		group.Go(func() error {
			d := &ds[i]
			o := &outcomes[i]
			o.Cell = d.Cell
			answer, err := m.Match(ctx, &matching.Request{Points: points(d), Radius: radius(d), Details: true})
			if errors.Is(err, matching.ErrNoRoute) || errors.Is(err, matching.ErrWork) {
				o.Mismatch, o.Lost, o.LeftOut = mismatch.Of(d.Truth, nil), true, len(d.Trace)
				return nil
			}
			if err != nil {
				return fmt.Errorf("drive %d (σ %v m, %v s): %w", i, d.Sigma, d.Interval, err)
			}
			o.Mismatch, o.Confidence = mismatch.Of(d.Truth, answer.Path), answer.Confidence
			for k := range answer.Tracepoints {
				if !answer.Tracepoints[k].Matched {
					o.LeftOut++
				}
			}
			return nil
		})
	}
	return outcomes, group.Wait()
}

// Summary is about all drives of a cell.
type Summary struct {
	mismatch.Mismatch // the lengths of all drives together
	Drives            int
	Lost              int // drives without an answer
	LeftOut           int // positions that were not matched
}

func (s *Summary) add(o *Outcome) {
	s.Mismatch = s.Plus(o.Mismatch)
	s.Drives++
	s.LeftOut += o.LeftOut
	if o.Lost {
		s.Lost++
	}
}

// Table has the summary of each cell that has drives.
type Table map[drives.Cell]*Summary

// Tabulate sums up outcomes.
func Tabulate(outcomes []Outcome) Table {
	t := Table{}
	for i := range outcomes {
		o := &outcomes[i]
		if t[o.Cell] == nil {
			t[o.Cell] = &Summary{}
		}
		t[o.Cell].add(o)
	}
	return t
}

// Mean is the mean of the cells' mismatches: each cell counts the same.
func (t Table) Mean() float64 {
	sum := 0.0
	for _, s := range t {
		sum += s.Share()
	}
	return sum / float64(max(1, len(t)))
}

// By asks a matcher for every drive by a profile.
func By(m matching.Matcher, p matching.Profile) matching.Matcher { return by{m, p} }

type by struct {
	matching.Matcher
	profile matching.Profile
}

// Match implements matching.Matcher.
func (b by) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	asked := *req
	asked.Profile = b.profile
	return b.Matcher.Match(ctx, &asked)
}
