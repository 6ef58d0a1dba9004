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

// Unit is the unit of a quota.
type Unit string

// The units of quotas.
const (
	// UnitRequests counts requests that passed.
	UnitRequests Unit = "requests"
	// UnitUnits counts the cost of requests: the points of a trace, or 1 for other requests.
	UnitUnits Unit = "units"
)

// AllUnits lists every unit.
var AllUnits = [...]Unit{UnitRequests, UnitUnits}

// Window is the period of a quota: a minute, day or month of the calendar, in UTC.
type Window string

// The windows of quotas.
const (
	WindowMinute Window = "minute"
	WindowDay    Window = "day"
	WindowMonth  Window = "month"
)

// AllWindows lists every window, from short to long.
var AllWindows = [...]Window{WindowMinute, WindowDay, WindowMonth}

// Span returns the start of the window that contains a time, and the start of the next one.
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

// EveryScope is the scope of a quota for the sum over all scopes. A request that needs two scopes counts twice. In
// usage, it is the scope of requests for which any scope is enough (AnyScope).
const EveryScope = "*"

// MaxQuotas is the maximum number of quotas of an account or organization.
const MaxQuotas = 48

// MaxQuotaLimit is the largest limit: the largest integer that all JSON readers represent exactly.
const MaxQuotaLimit = 1<<53 - 1

// Quota limits the use in each window.
type Quota struct {
	Scope  string `json:"scope"` // one scope, or EveryScope
	Unit   Unit   `json:"unit"`
	Window Window `json:"window"`
	Limit  int64  `json:"limit"` // 0 to MaxQuotaLimit
}

// UnmarshalJSONFrom reads a quota. Missing fields and a limit that is not a whole number become values that Check
// refuses.
func (q *Quota) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	read := struct {
		Scope  string  `json:"scope"`
		Unit   Unit    `json:"unit"`
		Window Window  `json:"window"`
		Limit  float64 `json:"limit"` // may be written as 1e3
	}{Limit: -1}
	err := json.UnmarshalDecode(dec, &read)
	*q = Quota{Scope: read.Scope, Unit: read.Unit, Window: read.Window, Limit: -1}
	if read.Limit == math.Trunc(read.Limit) && read.Limit <= MaxQuotaLimit {
		q.Limit = int64(max(-1, read.Limit))
	}
	return err
}

// Quotas is a list of quotas.
type Quotas []Quota

// MarshalJSON writes an empty list as [] rather than null.
func (q Quotas) MarshalJSON() ([]byte, error) { return marshalList([]Quota(q)) }

// Check returns an error that names the field that is wrong. The scope only needs the form of one: a quota may be for a
// scope that is no longer declared.
func (q Quota) Check() error {
	switch {
	case q.Scope != EveryScope && !Scope(q.Scope).WellFormed():
		return fmt.Errorf("scope: must be %q or a name such as %s", EveryScope, ScopeTile)
	case q.Unit != UnitRequests && q.Unit != UnitUnits:
		return errors.New("unit: must be requests or units")
	case q.Window != WindowMinute && q.Window != WindowDay && q.Window != WindowMonth:
		return errors.New("window: must be minute, day or month")
	case q.Limit < 0 || q.Limit > MaxQuotaLimit:
		return fmt.Errorf("limit: must be a whole number from 0 to %d", MaxQuotaLimit)
	}
	return nil
}

// CheckQuotas checks each quota of a list. No two may have the same scope, unit and window.
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

// CheckQuotaScopes refuses quotas for scopes that are not allowed.
func CheckQuotaScopes(list []Quota, allowed ScopeSet) error {
	for i, q := range list {
		if set := Scope(q.Scope).Set(); q.Scope != EveryScope && (set == 0 || !allowed.Has(set)) {
			return fmt.Errorf("element %d: scope: must be %q or one of [%v]", i, EveryScope, allowed)
		}
	}
	return nil
}

// Limits are the quotas of an account or an organization, prepared for comparing requests with them. They are
// immutable.
type Limits struct {
	Quotas  []Quota
	Scopes  []ScopeSet // of each quota, in the same order
	minutes bool
}

// NewLimits returns nil if there are no quotas.
func NewLimits(quotas []Quota) *Limits {
	if len(quotas) == 0 {
		return nil
	}
	l := &Limits{Quotas: slices.Clone(quotas), Scopes: make([]ScopeSet, len(quotas))}
	for i, q := range quotas {
		if l.Scopes[i] = Scope(q.Scope).Set(); q.Scope == EveryScope {
			l.Scopes[i] = ^ScopeSet(0)
		}
		l.minutes = l.minutes || q.Window == WindowMinute
	}
	return l
}

// String returns a quota for operators: 1000 requests of TILE a day.
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

// HasMinutes reports whether a quota has the window minute. It is false for nil.
func (l *Limits) HasMinutes() bool { return l != nil && l.minutes }
