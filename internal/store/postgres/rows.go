package postgres

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const accountColumns = "id, organization, platform, is_admin, description, scopes, status, created_by, client_hint, " +
	"server_hint, created_at, created_ns, updated_at, updated_ns, client_hash, server_hash, generation, version, " +
	"held_suspended, held_scopes, dropped_scopes, held_version, quotas, restrictions"

// accountWidth is the number of accountColumns.
const accountWidth = 24

func accountValues(a *account.Account) []any {
	scopes := make([]string, len(a.Scopes))
	for i, s := range a.Scopes {
		scopes[i] = string(s)
	}
	created, createdNs := split(a.CreatedAt)
	updated, updatedNs := split(a.UpdatedAt)
	return []any{
		toText(a.ID), toText(a.OrganizationID), toText(string(a.Platform)), a.IsAdmin, toText(a.Description),
		strings.Join(scopes, " "), toText(string(a.Status)), toText(a.CreatedBy), toText(a.ClientHint), toText(a.ServerHint),
		created, createdNs, updated, updatedNs, a.ClientHash[:], a.ServerHash[:], int64(a.Generation), int64(a.Version),
		a.Holds.Suspended, a.Holds.Scopes.String(), a.Holds.Dropped.String(), int64(a.Version),
		toJSON(a.Quotas), toJSON(a.Restrictions),
	}
}

func scanAccount(row pgx.Row) (account.Account, error) {
	var a account.Account
	var id, organization, platform, description, scopes, status, by, clientHint, serverHint string
	var created, updated time.Time
	var createdNs, updatedNs, generation, version, heldVersion int64
	var held, dropped, quotas, restrictions string
	var client, server []byte
	err := row.Scan(&id, &organization, &platform, &a.IsAdmin, &description, &scopes, &status, &by, &clientHint,
		&serverHint, &created, &createdNs, &updated, &updatedNs, &client, &server, &generation, &version,
		&a.Holds.Suspended, &held, &dropped, &heldVersion, &quotas, &restrictions)
	if err != nil {
		return a, err
	}
	if copy(a.ClientHash[:], client) != len(a.ClientHash) || copy(a.ServerHash[:], server) != len(a.ServerHash) {
		return a, damaged("account")
	}
	if fromJSON(quotas, &a.Quotas) != nil || fromJSON(restrictions, &a.Restrictions) != nil {
		return a, damaged("account")
	}
	a.Quotas = orNil(a.Quotas)
	a.Restrictions.Origins, a.Restrictions.Networks = orNil(a.Restrictions.Origins), orNil(a.Restrictions.Networks)
	a.ID, a.OrganizationID, a.Platform, a.Description = fromText(id), fromText(organization),
		account.Platform(fromText(platform)), fromText(description)
	a.Status, a.CreatedBy, a.ClientHint, a.ServerHint = account.Status(fromText(status)), fromText(by),
		fromText(clientHint), fromText(serverHint)
	for word := range strings.FieldsSeq(scopes) {
		a.Scopes = append(a.Scopes, account.Scope(word))
	}
	a.CreatedAt, a.UpdatedAt = join(created, createdNs), join(updated, updatedNs)
	a.Generation, a.Version = uint64(generation), uint64(version)
	if heldVersion != version { // a server of before changed it last
		a.Holds = account.UnknownHolds(&a)
		return a, nil
	}
	var err1, err2 error
	a.Holds.Scopes, err1 = account.ParseScopeSet(held)
	a.Holds.Dropped, err2 = account.ParseScopeSet(dropped)
	if err1 != nil || err2 != nil {
		return a, damaged("account")
	}
	return a, nil
}

// toJSON is the text of a list or a struct of strings and numbers, of which there always is one. It is kept as text
// rather than jsonb, which refuses some strings and writes others anew.
func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // there is nothing in it that has no JSON
	}
	return toText(string(text))
}

func fromJSON(text string, v any) error { return json.Unmarshal([]byte(fromText(text)), v) }

// orNil makes one of the two forms of an empty list.
func orNil[S ~[]E, E any](list S) S {
	if len(list) == 0 {
		return nil
	}
	return list
}

const grantColumns = "g.id, g.refresh_hash, g.client_account, g.server_account, g.client_generation, " +
	"g.server_generation, g.organization, g.scopes, g.created_at, g.created_ns, g.expires_at, g.expires_ns"

func grantValues(g *account.Grant) []any {
	created, createdNs := split(g.CreatedAt)
	expires, expiresNs := split(g.ExpiresAt)
	return []any{
		toText(g.ID), g.RefreshHash[:], toText(g.ClientAccount), toText(g.ServerAccount), int64(g.ClientGeneration),
		int64(g.ServerGeneration), toText(g.Organization), g.Scopes.String(), created, createdNs, expires, expiresNs,
	}
}

func scanGrant(row pgx.Row) (account.Grant, error) {
	var g account.Grant
	var id, client, server, organization, scopes string
	var hash []byte
	var created, expires time.Time
	var createdNs, expiresNs, clientGeneration, serverGeneration int64
	err := row.Scan(&id, &hash, &client, &server, &clientGeneration, &serverGeneration, &organization, &scopes,
		&created, &createdNs, &expires, &expiresNs)
	if err != nil {
		return g, err
	}
	set, err := account.ParseScopeSet(scopes)
	if err != nil || copy(g.RefreshHash[:], hash) != len(g.RefreshHash) {
		return g, damaged("grant")
	}
	g.ID, g.ClientAccount, g.ServerAccount, g.Organization = fromText(id), fromText(client), fromText(server),
		fromText(organization)
	g.ClientGeneration, g.ServerGeneration = uint64(clientGeneration), uint64(serverGeneration)
	g.Scopes, g.CreatedAt, g.ExpiresAt = set, join(created, createdNs), join(expires, expiresNs)
	return g, nil
}

const keyColumns = "id, key_use, algorithm, private, sealed, created_at, created_ns"

func keyValues(k *account.Key) []any {
	created, createdNs := split(k.CreatedAt)
	return []any{toText(k.ID), string(k.Use), k.Algorithm, privateOf(k), k.Sealed, created, createdNs}
}

// privateOf is never NULL.
func privateOf(k *account.Key) []byte { return append([]byte{}, k.Private...) }

func scanKey(row pgx.Row) (account.Key, error) {
	var k account.Key
	var id, use string
	var created time.Time
	var createdNs int64
	err := row.Scan(&id, &use, &k.Algorithm, &k.Private, &k.Sealed, &created, &createdNs)
	k.ID, k.Use, k.CreatedAt = fromText(id), account.KeyUse(use), join(created, createdNs)
	return k, err
}

// split takes the last three digits of the nanoseconds off, for which timestamptz has no room.
func split(t time.Time) (micro time.Time, rest int64) {
	rest = int64(t.Nanosecond() % 1000)
	return t.Add(-time.Duration(rest)).UTC(), rest
}

func join(micro time.Time, rest int64) time.Time { return micro.Add(time.Duration(rest)).UTC() }
