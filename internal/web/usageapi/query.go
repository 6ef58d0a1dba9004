// Package usageapi reads requests for usage and writes pages of it as JSON or CSV, both for the members of an
// organization and for operators. It does not check who may read the usage: handlers do.
//
// Start with Parse and Request.Serve.
package usageapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

const (
	defaultLimit = 100
	maxLimit     = 1000
	// maxParameter is the maximum length of a parameter, in bytes.
	maxParameter = 512
	// maxID is the maximum length of the id of an account.
	maxID = 64
)

// Request is a request for one page of an organization's usage.
type Request struct {
	usage.Query
	given url.Values // the parameters except the cursor
}

var (
	parameters     = []string{"from", "to", "step", "account", "scope", "limit", "cursor"}
	withNamedOwner = append(slices.Clone(parameters), "organization")
)

// Parse reads the query of a request of a member of an organization. The error names an invalid or unknown parameter,
// and can be shown to clients. Unknown parameters are errors because ignoring one could make a bill wrong.
func Parse(query, organization string, now time.Time) (Request, error) {
	r, err := scan(query, parameters)
	if err != nil {
		return r, err
	}
	r.Organization = organization
	return r, r.read(now)
}

// ParseNamed is Parse for an operator, who names any organization in the parameter organization.
func ParseNamed(query string, now time.Time) (Request, error) {
	r, err := scan(query, withNamedOwner)
	if err != nil {
		return r, err
	}
	if r.Organization = r.given.Get("organization"); r.Organization == "" {
		return r, errors.New("organization: missing")
	}
	return r, r.read(now)
}

func scan(query string, names []string) (Request, error) {
	given, err := url.ParseQuery(query)
	if err != nil {
		return Request{}, errors.New("query: is not well-formed")
	}
	for name, values := range given {
		switch {
		case !slices.Contains(names, name):
			return Request{}, fmt.Errorf("%.64q: unknown parameter; there are %s", name, strings.Join(names, ", "))
		case len(values) > 1:
			return Request{}, fmt.Errorf("%s: appears more than once", name)
		case len(values[0]) > maxParameter:
			return Request{}, fmt.Errorf("%s: is too long", name)
		}
	}
	return Request{given: given}, nil
}

func (r *Request) read(now time.Time) error {
	r.Step, r.Limit = account.StepDay, defaultLimit
	if r.given.Has("step") {
		r.Step = account.Step(r.given.Get("step"))
	}
	if r.Step != account.StepHour && r.Step != account.StepDay && r.Step != account.StepMonth {
		return errors.New("step: must be hour, day or month")
	}
	r.Account, r.Scope = r.given.Get("account"), account.Scope(r.given.Get("scope"))
	if r.given.Has("account") && !isID(r.Account) {
		return errors.New("account: must be the id of a service account")
	}
	if r.given.Has("scope") && r.Scope.Set() == 0 {
		return fmt.Errorf("scope: must be %q, one of %v, or a declared scope", account.EveryScope, account.AllScopes)
	}
	if r.given.Has("limit") {
		limit, err := strconv.Atoi(r.given.Get("limit"))
		if err != nil || limit < 1 || limit > maxLimit {
			return fmt.Errorf("limit: must be a whole number from 1 to %d", maxLimit)
		}
		r.Limit = limit
	}
	if err := r.readTimes(now); err != nil {
		return err
	}
	cursor := r.given.Get("cursor") // an empty one is what a client has before the first page
	r.given.Del("cursor")
	if cursor == "" {
		return nil
	}
	return r.resume(cursor)
}

// isID reports whether a text has the form of an account's id.
func isID(text string) bool {
	return text != "" && len(text) <= maxID && !strings.ContainsFunc(text, func(c rune) bool {
		return !(c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
	})
}

// isScope reports whether usage can have the scope, which may no longer be declared.
func isScope(scope account.Scope) bool { return scope == account.EveryScope || scope.WellFormed() }

// readTimes reads from and to, and extends them to whole periods of the step.
func (r *Request) readTimes(now time.Time) (err error) {
	_, r.To = r.Step.Span(now)
	if r.given.Has("to") {
		to, err := parseTime("to", r.given.Get("to"))
		if err != nil {
			return err
		}
		var start time.Time
		if start, r.To = r.Step.Span(to); start.Equal(to) {
			r.To = to
		}
	}
	switch r.Step {
	case account.StepHour:
		r.From = r.To.Add(-24 * time.Hour)
	case account.StepDay:
		r.From = r.To.AddDate(0, 0, -30)
	default:
		r.From = r.To.AddDate(0, -12, 0)
	}
	if r.given.Has("from") {
		if r.From, err = parseTime("from", r.given.Get("from")); err != nil {
			return err
		}
	}
	if !r.From.Before(r.To) {
		return errors.New("from: must be before to")
	}
	// There is no usage before 1970.
	r.From, _ = r.Step.Span(time.Unix(max(r.From.Unix(), 0), 0))
	return nil
}

// parseTime reads a time, or a date, which means its start in UTC.
func parseTime(name, text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: must be a date such as 2026-05-01, or a time such as 2026-05-01T10:00:00Z", name)
}
