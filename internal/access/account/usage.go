package account

import "time"

// Step is the period over which usage is summed up: an hour, day or month of the calendar, in UTC.
type Step string

// The steps.
const (
	StepMinute Step = "minute" // kept for a few minutes, for quotas only
	StepHour   Step = "hour"
	StepDay    Step = "day"
	StepMonth  Step = "month"
)

// Span returns the start of the period that contains a time, and the start of the next one.
func (s Step) Span(at time.Time) (start, end time.Time) {
	if s == StepHour {
		start = at.UTC().Truncate(time.Hour)
		return start, start.Add(time.Hour)
	}
	return Window(s).Span(at) // the other steps are windows of quotas, too
}

// Usage is the use of the service in a period.
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
