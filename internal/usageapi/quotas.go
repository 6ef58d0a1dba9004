package usageapi

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Quotas reads the field quotas of a body. The error names the element and its field, and is fit for the client.
func Quotas(body httpjson.Object) (quotas account.Quotas, present bool, err error) {
	elements, present, err := body.Objects("quotas")
	if err != nil || !present {
		return nil, present, err
	}
	// Before they are read: each is compared with all before it.
	if len(elements) > account.MaxQuotas {
		return nil, true, fmt.Errorf("quotas: must be at most %d", account.MaxQuotas)
	}
	for i, element := range elements {
		quota, err := readQuota(element)
		if err != nil {
			return nil, true, fmt.Errorf("quotas: element %d: %w", i, err)
		}
		quotas = append(quotas, quota)
	}
	if err := account.CheckQuotas(quotas); err != nil {
		return nil, true, fmt.Errorf("quotas: %w", err)
	}
	return quotas, true, nil
}

func readQuota(element httpjson.Object) (q account.Quota, err error) {
	if err := element.Only("scope", "unit", "window", "limit"); err != nil {
		return q, err
	}
	var unit, window string
	for _, field := range []struct {
		name  string
		value *string
	}{{"scope", &q.Scope}, {"unit", &unit}, {"window", &window}} {
		text, present, err := element.String(field.name)
		if err != nil {
			return q, err
		}
		if !present {
			return q, fmt.Errorf("%s: missing", field.name)
		}
		*field.value = text
	}
	limit, present, err := element.Whole("limit", account.MaxQuotaLimit)
	if err != nil {
		return q, err
	}
	if !present {
		return q, fmt.Errorf("limit: missing")
	}
	q.Unit, q.Window, q.Limit = account.Unit(unit), account.Window(window), limit
	return q, nil
}

// Used is how much of a quota is used, by the totals of its subject in the present windows.
func Used(quota account.Quota, totals []usage.Total) (used int64) {
	for _, total := range totals {
		if total.Window != quota.Window || quota.Scope != account.EveryScope && quota.Scope != string(total.Scope) {
			continue
		}
		if quota.Unit == account.UnitUnits {
			used += total.Units
		} else {
			used += total.Requests
		}
	}
	return used
}
