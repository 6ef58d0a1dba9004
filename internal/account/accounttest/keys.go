package accounttest

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func newKey(id string, use account.KeyUse, algorithm string, age int) account.Key {
	return account.Key{ID: id, Use: use, Algorithm: algorithm, Private: []byte("\x00private of " + id),
		Sealed: age%2 == 0, CreatedAt: epoch.Add(-time.Duration(age) * time.Hour)}
}

func testKeys(t *testing.T, s account.Store) {
	keys, err := s.Keys(t.Context())
	isError(t, "Keys", nil, err)
	same(t, "number of keys of a new store", 0, len(keys))

	// Ids that do not sort by age.
	a := newKey("z", account.KeyAccess, "EdDSA", 9)
	b := newKey("a", account.KeyUser, "EdDSA", 5)
	c := newKey("m", account.KeyAccess, "ES256", 7)
	for _, k := range []account.Key{a, b, c} {
		got, err := s.AddFirstKey(t.Context(), k)
		isError(t, "AddFirstKey", nil, err)
		same(t, "key that stands", k, got)
	}
	got, err := s.AddFirstKey(t.Context(), newKey("late", account.KeyAccess, "EdDSA", 1))
	isError(t, "AddFirstKey, second of its kind", nil, err)
	same(t, "key that stands", a, got)
	_, err = s.AddFirstKey(t.Context(), newKey("z", account.KeyUser, "ES256", 1))
	isError(t, "AddFirstKey with an id that is taken", account.ErrExists, err)

	sealed := b
	sealed.Private, sealed.Sealed = []byte("sealed"), true
	isError(t, "ReplaceKey", nil, s.ReplaceKey(t.Context(), sealed))
	isError(t, "ReplaceKey of none", account.ErrNotFound,
		s.ReplaceKey(t.Context(), newKey("none", account.KeyUser, "EdDSA", 1)))

	keys, err = s.Keys(t.Context())
	isError(t, "Keys", nil, err)
	same(t, "keys, oldest first", []account.Key{a, c, sealed}, keys)
	keys[0].Private[0] ^= 0xFF
	again, err := s.Keys(t.Context())
	isError(t, "Keys", nil, err)
	same(t, "key after the caller changed what it got", a, again[0])
}

func testNextKeys(t *testing.T, s account.Store) {
	first, user := newKey("z", account.KeyAccess, "EdDSA", 9), newKey("u", account.KeyUser, "EdDSA", 1)
	for _, k := range []account.Key{first, user} {
		_, err := s.AddFirstKey(t.Context(), k)
		isError(t, "AddFirstKey", nil, err)
	}
	second, third := newKey("a", account.KeyAccess, "EdDSA", 6), newKey("m", account.KeyAccess, "EdDSA", 3)
	got, err := s.AddNextKey(t.Context(), second, first.ID)
	isError(t, "AddNextKey", nil, err)
	same(t, "key that stands", second, got)
	got, err = s.AddNextKey(t.Context(), third, first.ID)
	isError(t, "AddNextKey after one that was followed", nil, err)
	same(t, "key that stands", second, got)
	_, err = s.AddNextKey(t.Context(), newKey("u", account.KeyAccess, "EdDSA", 3), second.ID)
	isError(t, "AddNextKey with an id that is taken", account.ErrExists, err)
	got, err = s.AddNextKey(t.Context(), third, second.ID)
	isError(t, "AddNextKey", nil, err)
	same(t, "key that stands", third, got)
	other := newKey("e", account.KeyAccess, "ES256", 2)
	got, err = s.AddNextKey(t.Context(), other, "")
	isError(t, "AddNextKey, first of its algorithm", nil, err)
	same(t, "key that stands", other, got)

	isError(t, "DeleteKey", nil, s.DeleteKey(t.Context(), second.ID))
	isError(t, "DeleteKey of none", nil, s.DeleteKey(t.Context(), second.ID))
	keys, err := s.Keys(t.Context())
	isError(t, "Keys", nil, err)
	same(t, "keys, oldest first", []account.Key{first, third, other, user}, keys)
}

func testReplaceKeys(t *testing.T, s account.Store) {
	access, user := newKey("z", account.KeyAccess, "EdDSA", 9), newKey("u", account.KeyUser, "EdDSA", 8)
	other := newKey("e", account.KeyAccess, "ES256", 7)
	for _, k := range []account.Key{access, user, other} {
		_, err := s.AddFirstKey(t.Context(), k)
		isError(t, "AddFirstKey", nil, err)
	}
	rotated := newKey("r", account.KeyUser, "EdDSA", 6)
	_, err := s.AddNextKey(t.Context(), rotated, user.ID)
	isError(t, "AddNextKey", nil, err)
	kept := func(what string, want ...account.Key) {
		t.Helper()
		keys, err := s.Keys(t.Context())
		isError(t, "Keys", nil, err)
		same(t, what, want, keys)
	}

	// One that is not there, one of each use, and a key that nobody named, which stands.
	newAccess, newUser := newKey("a", account.KeyAccess, "EdDSA", 3), newKey("b", account.KeyUser, "EdDSA", 2)
	removed, err := s.ReplaceKeys(t.Context(), []string{access.ID, "none", user.ID, other.ID},
		[]account.Key{newAccess, newUser})
	isError(t, "ReplaceKeys", nil, err)
	slices.Sort(removed)
	same(t, "keys that were removed", []string{other.ID, user.ID, access.ID}, removed)
	kept("keys, oldest first", rotated, newAccess)

	removed, err = s.ReplaceKeys(t.Context(), []string{access.ID, user.ID},
		[]account.Key{newKey("late", account.KeyAccess, "EdDSA", 1)})
	isError(t, "ReplaceKeys of keys that are gone", nil, err)
	same(t, "number of keys that were removed", 0, len(removed))
	kept("keys after they were replaced a second time", rotated, newAccess)

	removed, err = s.ReplaceKeys(t.Context(), []string{newAccess.ID},
		[]account.Key{newKey(rotated.ID, account.KeyAccess, "EdDSA", 1)})
	isError(t, "ReplaceKeys by one with an id that is taken", account.ErrExists, err)
	same(t, "number of keys that were removed", 0, len(removed))
	kept("keys after that was refused", rotated, newAccess)
}

// testReplaceKeysByMany has many replace the same keys at the same moment. One does.
func testReplaceKeysByMany(t *testing.T, s account.Store) {
	_, err := s.AddFirstKey(t.Context(), newKey("first", account.KeyAccess, "EdDSA", 100))
	isError(t, "AddFirstKey", nil, err)
	var count atomic.Int64
	results := Together(8, func(i int) error {
		removed, err := s.ReplaceKeys(t.Context(), []string{"first"},
			[]account.Key{newKey(string(rune('a'+i)), account.KeyAccess, "EdDSA", i)})
		count.Add(int64(len(removed)))
		return err
	})
	isError(t, "ReplaceKeys", nil, errors.Join(results...))
	keys, err := s.Keys(t.Context())
	isError(t, "Keys", nil, err)
	if len(keys) != 1 || keys[0].ID == "first" || count.Load() != 1 {
		t.Errorf("the key was removed %d times, and %d keys stand", count.Load(), len(keys))
	}
}

// testNextKeysByMany has many follow one key at the same moment.
func testNextKeysByMany(t *testing.T, s account.Store) {
	_, err := s.AddFirstKey(t.Context(), newKey("first", account.KeyAccess, "EdDSA", 100))
	isError(t, "AddFirstKey", nil, err)
	stands := make([]string, 8)
	results := Together(len(stands), func(i int) error {
		k, err := s.AddNextKey(t.Context(), newKey(string(rune('a'+i)), account.KeyAccess, "EdDSA", i), "first")
		stands[i] = k.ID
		return err
	})
	isError(t, "AddNextKey", nil, errors.Join(results...))
	keys, err := s.Keys(t.Context())
	isError(t, "Keys", nil, err)
	if slices.Sort(stands); stands[0] != stands[len(stands)-1] || len(keys) != 2 {
		t.Errorf("of keys that were to follow one at once, several stand: %v, of %d keys", stands, len(keys))
	}
}

func testKeysByMany(t *testing.T, s account.Store) {
	stands := make([]string, 8)
	results := Together(len(stands), func(i int) error {
		k, err := s.AddFirstKey(t.Context(), newKey(string(rune('a'+i)), account.KeyAccess, "EdDSA", i))
		stands[i] = k.ID
		return err
	})
	isError(t, "AddFirstKey", nil, errors.Join(results...))
	if slices.Sort(stands); stands[0] != stands[len(stands)-1] {
		t.Errorf("of keys that were added at once, several stand: %v", stands)
	}
}
