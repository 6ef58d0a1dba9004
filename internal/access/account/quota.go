package account

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unit is what a quota counts.
type Unit string

// The units of quotas.
const (
	// UnitRequests counts requests that passed.
	UnitRequests Unit = "requests"
	// UnitUnits counts what requests ask for: the points of a trace, or else 1 for each request.
	UnitUnits Unit = "units"
)

// AllUnits lists every unit.
var AllUnits = [...]Unit{UnitRequests, UnitUnits}

// Window is the span of time for which a quota is given: a minute, day or month of the calendar, in UTC.
type Window string

// The windows of quotas.
const (
	WindowMinute Window = "minute"
	WindowDay    Window = "day"
	WindowMonth  Window = "month"
)

// AllWindows lists every window, from short to long.
var AllWindows = [...]Window{WindowMinute, WindowDay, WindowMonth}

// Span returns the window that a moment lies in, as the moments at which it begins and at which the next one does.
func (w Window) Span(at time.Time) (start, end time.Time) {
	at = at.UTC()
	year, month, day := at.Date()
	switch w {
	case WindowMinute:
		start = at.Truncate(time.Minute)
		return start, start.Add(time.Minute)
	case WindowDay:
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), time.Date(year, month, day+1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC), time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC)
}

// EveryScope stands in a quota for the sum over all scopes. A request that needs two scopes counts under both.
const EveryScope = "*"

// MaxQuotas is how many quotas an account, or an organization, may have: one for each scope and EveryScope, unit and
// window.
const MaxQuotas = (len(AllScopes) + 1) * len(AllUnits) * len(AllWindows)

// MaxQuotaLimit is the largest limit: the largest whole number that every JSON reader keeps.
const MaxQuotaLimit = 1<<53 - 1

// Quota is how much may be used in each window.
type Quota struct {
	Scope  string `json:"scope"` // one scope, or EveryScope
	Unit   Unit   `json:"unit"`
	Window Window `json:"window"`
	Limit  int64  `json:"limit"` // 0 to MaxQuotaLimit
}

// UnmarshalJSONFrom reads a quota for Check, which refuses what this makes of a missing field, and of a limit that is
// no whole number.
func (q *Quota) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	read := struct {
		Scope  string  `json:"scope"`
		Unit   Unit    `json:"unit"`
		Window Window  `json:"window"`
		Limit  float64 `json:"limit"` // which, unlike an int64, may be written as 1e3
	}{Limit: -1}
	err := json.UnmarshalDecode(dec, &read)
	*q = Quota{Scope: read.Scope, Unit: read.Unit, Window: read.Window, Limit: -1}
	if read.Limit == math.Trunc(read.Limit) && read.Limit <= MaxQuotaLimit {
		q.Limit = int64(max(-1, read.Limit))
	}
	return err
}

// Quotas is a list of them, which JSON shows as [] where it is empty.
type Quotas []Quota

// MarshalJSON writes an empty list as [] rather than null.
func (q Quotas) MarshalJSON() ([]byte, error) { return marshalList([]Quota(q)) }

// Check returns what is wrong with a quota, by the name of its field.
func (q Quota) Check() error {
	switch {
	case q.Scope != EveryScope && Scope(q.Scope).Set() == 0:
		return fmt.Errorf("scope: must be %q or one of %v", EveryScope, AllScopes)
	case q.Unit != UnitRequests && q.Unit != UnitUnits:
		return errors.New("unit: must be requests or units")
	case q.Window != WindowMinute && q.Window != WindowDay && q.Window != WindowMonth:
		return errors.New("window: must be minute, day or month")
	case q.Limit < 0 || q.Limit > MaxQuotaLimit:
		return fmt.Errorf("limit: must be a whole number from 0 to %d", MaxQuotaLimit)
	}
	return nil
}

// CheckQuotas returns what is wrong with a list of quotas. No two may be for the same scope, unit and window.
func CheckQuotas(list []Quota) error {
	if len(list) > MaxQuotas {
		return fmt.Errorf("must be at most %d", MaxQuotas)
	}
	for i, q := range list {
		if err := q.Check(); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		for _, other := range list[:i] {
			if q.Scope == other.Scope && q.Unit == other.Unit && q.Window == other.Window {
				return fmt.Errorf("element %d: there is another one for %s of %s in a %s", i, q.Unit, q.Scope, q.Window)
			}
		}
	}
	return nil
}

// Limits are the quotas of an account or an organization, in the form in which requests are compared with them. They
// never change; other quotas are other Limits.
type Limits struct {
	Quotas  []Quota
	Scopes  []ScopeSet // of each quota, in the same order
	minutes bool
}

// NewLimits returns nil where there are no quotas.
func NewLimits(quotas []Quota) *Limits {
	if len(quotas) == 0 {
		return nil
	}
	l := &Limits{Quotas: slices.Clone(quotas), Scopes: make([]ScopeSet, len(quotas))}
	for i, q := range quotas {
		if l.Scopes[i] = Scope(q.Scope).Set(); q.Scope == EveryScope {
			l.Scopes[i] = allScopes
		}
		l.minutes = l.minutes || q.Window == WindowMinute
	}
	return l
}

// String writes a quota as an operator reads it: 1000 requests of TILE a day.
func (q Quota) String() string {
	of := ""
	if q.Scope != EveryScope {
		of = " of " + q.Scope
	}
	return strconv.FormatInt(q.Limit, 10) + " " + string(q.Unit) + of + " a " + string(q.Window)
}

// marshalList writes an empty list as [] rather than null.
func marshalList[T any](list []T) ([]byte, error) {
	if list == nil {
		return []byte("[]"), nil
	}
	return json.Marshal(list)
}

// HasMinutes reports whether a quota is given for minutes. It is false for nil.
func (l *Limits) HasMinutes() bool { return l != nil && l.minutes }
