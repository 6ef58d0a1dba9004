package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const quotasColumns = "organization, quotas, version, updated_at, updated_ns"

func quotasValues(q *account.OrganizationQuotas) []any {
	at, ns := split(q.UpdatedAt)
	return []any{toText(q.Organization), toJSON(account.Quotas(q.Quotas)), int64(q.Version), at, ns}
}

func scanQuotas(row pgx.Row) (account.OrganizationQuotas, error) {
	var q account.OrganizationQuotas
	var organization, quotas string
	var version, ns int64
	var at time.Time
	if err := row.Scan(&organization, &quotas, &version, &at, &ns); err != nil {
		return q, err
	}
	if fromJSON(quotas, &q.Quotas) != nil {
		return q, damaged("list of quotas")
	}
	q.Organization, q.Quotas, q.Version = fromText(organization), orNil(q.Quotas), uint64(version)
	q.UpdatedAt = join(at, ns)
	return q, nil
}

// OrganizationQuotas implements account.Store.
func (s *Store) OrganizationQuotas(ctx context.Context, organization string) (account.OrganizationQuotas, error) {
	q := account.OrganizationQuotas{Organization: organization}
	err := s.query(ctx, "SELECT "+quotasColumns+" FROM maps_organizations WHERE organization = $1",
		func(row pgx.Row) (err error) {
			q, err = scanQuotas(row)
			return err
		}, toText(organization))
	return q, err
}

// SetOrganizationQuotas implements account.Store.
func (s *Store) SetOrganizationQuotas(ctx context.Context, organization string, quotas []account.Quota,
	at time.Time) (account.OrganizationQuotas, error) {
	q := account.OrganizationQuotas{Organization: organization, Quotas: quotas, Version: 1, UpdatedAt: at}
	var stands account.OrganizationQuotas
	err := s.write(ctx, transaction{
		read: func(*pgx.Batch) {},
		write: func(b *pgx.Batch) ([]change, error) {
			b.Queue("INSERT INTO maps_organizations AS o ("+quotasColumns+") VALUES ("+parameters(1, 5)+`)
				ON CONFLICT (organization) DO UPDATE SET (quotas, version, updated_at, updated_ns) =
				(excluded.quotas, o.version + 1, excluded.updated_at, excluded.updated_ns)
				RETURNING `+quotasColumns, quotasValues(&q)...).QueryRow(func(row pgx.Row) (err error) {
				stands, err = scanQuotas(row)
				return err
			})
			return []change{{kind: quotasChanged, subject: organization}}, nil
		},
	})
	if err != nil {
		return account.OrganizationQuotas{}, err
	}
	return stands, nil
}
