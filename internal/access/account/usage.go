package account

import "time"

// Step is the length of the spans of time into which usage is summed up, each of the calendar in UTC.
type Step string

// The steps.
const (
	StepMinute Step = "minute" // kept for a few minutes, for quotas only
	StepHour   Step = "hour"
	StepDay    Step = "day"
	StepMonth  Step = "month"
)

// Span returns the span that a moment lies in, as the moments at which it begins and at which the next one does.
func (s Step) Span(at time.Time) (start, end time.Time) {
	if s == StepHour {
		start = at.UTC().Truncate(time.Hour)
		return start, start.Add(time.Hour)
	}
	return Window(s).Span(at) // the others have a quota's window each
}

// Usage is how much was used.
type Usage struct {
	Requests int64 `json:"requests"` // that passed
	Refused  int64 `json:"refused"`  // by a quota
	Errors   int64 `json:"errors"`   // answered 5xx, of those that passed
	Units    int64 `json:"units"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{Requests: u.Requests + v.Requests, Refused: u.Refused + v.Refused, Errors: u.Errors + v.Errors,
		Units: u.Units + v.Units}
}
