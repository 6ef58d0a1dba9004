package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// A record begins with the version of its layout. Texts and byte strings are preceded by their length, numbers
// are varints.

const (
	recordVersion = 1
	// accountVersion is that of accounts. Before 2 they had no holds, and before 3 no quotas and no restrictions.
	accountVersion = 3
)

var errRecord = damaged("a record cannot be read")

func encodeAccount(a *account.Account) []byte {
	b := make([]byte, 0, 256+len(a.Description))
	b = append(b, accountVersion)
	b = appendPart(b, a.ID)
	b = appendPart(b, a.OrganizationID)
	b = appendPart(b, string(a.Platform))
	b = appendBool(b, a.IsAdmin)
	b = appendPart(b, a.Description)
	b = binary.AppendUvarint(b, uint64(len(a.Scopes)))
	for _, s := range a.Scopes {
		b = appendPart(b, string(s))
	}
	b = appendPart(b, string(a.Status))
	b = appendPart(b, a.CreatedBy)
	b = appendPart(b, a.ClientHint)
	b = appendPart(b, a.ServerHint)
	b = appendInstant(b, a.CreatedAt)
	b = appendInstant(b, a.UpdatedAt)
	b = append(b, a.ClientHash[:]...)
	b = append(b, a.ServerHash[:]...)
	b = binary.AppendUvarint(b, a.Generation)
	b = binary.AppendUvarint(b, a.Version)
	b = appendBool(b, a.Holds.Suspended)
	b = appendPart(b, a.Holds.Scopes.String())
	b = appendPart(b, a.Holds.Dropped.String())
	b = appendQuotas(b, a.Quotas)
	return appendTexts(appendTexts(b, a.Restrictions.Origins), a.Restrictions.Networks)
}

func decodeAccount(record []byte) (account.Account, error) {
	r := reader{rest: record}
	version := r.versionUpTo(accountVersion)
	a := account.Account{
		ID: r.text(), OrganizationID: r.text(), Platform: account.Platform(r.text()), IsAdmin: r.bool(),
		Description: r.text(),
	}
	if n := r.count(); n > 0 {
		a.Scopes = make(account.Scopes, n)
		for i := range a.Scopes {
			a.Scopes[i] = account.Scope(r.text())
		}
	}
	a.Status, a.CreatedBy = account.Status(r.text()), r.text()
	a.ClientHint, a.ServerHint = r.text(), r.text()
	a.CreatedAt, a.UpdatedAt = r.instant(), r.instant()
	a.ClientHash, a.ServerHash = r.hash(), r.hash()
	a.Generation, a.Version = r.number(), r.number()
	if version == 1 {
		a.Holds = account.UnknownHolds(&a)
	} else {
		a.Holds = account.Holds{Suspended: r.bool(), Scopes: r.scopes(), Dropped: r.scopes()}
	}
	if version >= 3 {
		a.Quotas = r.quotas()
		a.Restrictions = account.Restrictions{Origins: r.texts(), Networks: r.texts()}
	}
	return a, r.end()
}

// grantRecord is a grant with what only the store knows.
type grantRecord struct {
	account.Grant
	rotations uint64 // how often its refresh token was replaced
}

func encodeGrant(g *grantRecord) []byte {
	b := make([]byte, 0, 256)
	b = append(b, recordVersion)
	b = appendPart(b, g.ID)
	b = append(b, g.RefreshHash[:]...)
	b = appendPart(b, g.ClientAccount)
	b = appendPart(b, g.ServerAccount)
	b = binary.AppendUvarint(b, g.ClientGeneration)
	b = binary.AppendUvarint(b, g.ServerGeneration)
	b = appendPart(b, g.Organization)
	b = appendPart(b, g.Scopes.String()) // by name: the bits are an affair of the running program
	b = appendInstant(b, g.CreatedAt)
	b = appendInstant(b, g.ExpiresAt)
	return binary.AppendUvarint(b, g.rotations)
}

func decodeGrant(record []byte) (grantRecord, error) {
	r := reader{rest: record}
	r.version()
	var g grantRecord
	g.ID, g.RefreshHash, g.ClientAccount, g.ServerAccount = r.text(), r.hash(), r.text(), r.text()
	g.ClientGeneration, g.ServerGeneration, g.Organization = r.number(), r.number(), r.text()
	scopes, err := account.ParseScopeSet(r.text())
	g.Scopes, g.CreatedAt, g.ExpiresAt, g.rotations = scopes, r.instant(), r.instant(), r.number()
	return g, errors.Join(r.end(), err)
}

func encodeKey(k *account.Key) []byte {
	b := append(make([]byte, 0, 256), recordVersion)
	b = appendPart(b, k.ID)
	b = appendPart(b, string(k.Use))
	b = appendPart(b, k.Algorithm)
	b = appendPart(b, string(k.Private))
	b = appendBool(b, k.Sealed)
	return appendInstant(b, k.CreatedAt)
}

func decodeKey(record []byte) (account.Key, error) {
	r := reader{rest: record}
	r.version()
	k := account.Key{ID: r.text(), Use: account.KeyUse(r.text()), Algorithm: r.text(), Private: []byte(r.text()),
		Sealed: r.bool(), CreatedAt: r.instant()}
	return k, r.end()
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendInstant(b []byte, t time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
}

// reader takes a record apart. After the first fault it gives zero values, and end tells.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail() { r.rest, r.err = nil, errRecord }

func (r *reader) version() { r.versionUpTo(recordVersion) }

func (r *reader) versionUpTo(newest byte) byte {
	v := r.byte()
	if r.err == nil && (v < recordVersion || v > newest) {
		r.rest, r.err = nil, fmt.Errorf("the accounts database has a record of version %d, which this version of caddy-maps "+
			"cannot read", v)
	}
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		if r.err == nil {
			r.fail()
		}
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) bool() bool   { return r.byte() != 0 }
func (r *reader) text() string { return string(r.bytes(r.number())) }

func (r *reader) scopes() account.ScopeSet {
	set, err := account.ParseScopeSet(r.text())
	if err != nil {
		r.fail()
	}
	return set
}

func (r *reader) hash() (h account.Hash) {
	copy(h[:], r.bytes(uint64(len(h))))
	return h
}

func (r *reader) number() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) signed() int64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads the number of parts that follow, each at least a byte long.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func appendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, text := range list {
		b = appendPart(b, text)
	}
	return b
}

func (r *reader) texts() (list []string) {
	for range r.count() {
		list = append(list, r.text())
	}
	return list
}

func (r *reader) instant() time.Time {
	seconds := r.signed()
	nanoseconds := r.number()
	if r.err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, int64(nanoseconds)).UTC()
}

func (r *reader) end() error {
	if r.err == nil && len(r.rest) > 0 {
		r.fail()
	}
	return r.err
}
