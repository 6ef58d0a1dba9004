package bolt

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// OrganizationQuotas implements account.Store.
func (s *Store) OrganizationQuotas(ctx context.Context, organization string) (q account.OrganizationQuotas, err error) {
	err = s.view(ctx, func(v *view) error {
		q, err = organizationOf(v, organization)
		return err
	})
	return q, err
}

func organizationOf(v *view, organization string) (account.OrganizationQuotas, error) {
	record, err := v.get(quotasBucket, orgPrefix(organization))
	if record == nil || err != nil {
		return account.OrganizationQuotas{Organization: organization}, err
	}
	return decodeOrganization(record)
}

// SetOrganizationQuotas implements account.Store.
func (s *Store) SetOrganizationQuotas(ctx context.Context, organization string, quotas []account.Quota,
	at time.Time) (account.OrganizationQuotas, error) {
	var q account.OrganizationQuotas
	err := s.write(ctx, func(t *writeTx) error {
		before, err := organizationOf(t.view, organization)
		if err != nil {
			return err
		}
		q = account.OrganizationQuotas{Organization: organization, Quotas: slices.Clone(quotas),
			Version: before.Version + 1, UpdatedAt: at.UTC()}
		return t.put(quotasBucket, orgPrefix(organization), encodeOrganization(&q))
	})
	if err != nil {
		return account.OrganizationQuotas{}, err
	}
	return q, nil
}

func encodeOrganization(q *account.OrganizationQuotas) []byte {
	b := appendPart([]byte{recordVersion}, q.Organization)
	b = appendQuotas(b, q.Quotas)
	return appendInstant(binary.AppendUvarint(b, q.Version), q.UpdatedAt)
}

func decodeOrganization(record []byte) (account.OrganizationQuotas, error) {
	r := reader{rest: record}
	r.version()
	q := account.OrganizationQuotas{Organization: r.text(), Quotas: r.quotas(), Version: r.number(),
		UpdatedAt: r.instant()}
	return q, r.end()
}

func appendQuota(b []byte, q account.Quota) []byte {
	b = appendPart(appendPart(appendPart(b, q.Scope), string(q.Unit)), string(q.Window))
	return binary.AppendVarint(b, q.Limit)
}

func appendQuotas(b []byte, list []account.Quota) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, q := range list {
		b = appendQuota(b, q)
	}
	return b
}

func (r *reader) quotas() (list []account.Quota) {
	for range r.count() {
		list = append(list, account.Quota{Scope: r.text(), Unit: account.Unit(r.text()), Window: account.Window(r.text()),
			Limit: r.signed()})
	}
	return list
}
