package credential

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// storedKeys are key pairs as a store has them, by names.
func storedKeys(t *testing.T, uses map[string]account.KeyUse) map[string]account.Key {
	t.Helper()
	all := make(map[string]account.Key, len(uses))
	for name, use := range uses {
		k, err := newKey(use, algEdDSA, start)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = k
	}
	return all
}

// ringOf is a keyring as it is read from a store with these keys, the last of each use being the one that signs.
func ringOf(t *testing.T, stored ...account.Key) *keyring {
	t.Helper()
	ring := &keyring{byID: make(map[string]*signingKey)}
	for _, s := range stored {
		k, err := openKey(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		ring.byID[k.id] = k
		if s.Use == account.KeyAccess {
			ring.access = k
		} else {
			ring.user = k
		}
		s.Private = nil
		ring.kept = append(ring.kept, s)
	}
	ring.jwks = publicSet(ring)
	return ring
}

// TestTakeKeys: a keyring that was read takes the place of the one before only if nothing was heard of keys that are
// gone since its reading began, whether this concerned a key of the ring or not.
func TestTakeKeys(t *testing.T) {
	stored := storedKeys(t, map[string]account.KeyUse{
		"old": account.KeyAccess, "new": account.KeyAccess, "user": account.KeyUser, "elsewhere": account.KeyAccess,
	})
	for _, test := range []struct {
		name  string
		heard func(keyNews)
		taken bool
		stale bool // the ring that is in use afterwards
	}{
		{"nothing was heard", func(keyNews) {}, true, false},
		{"keys were added", keyNews.KeysChanged, true, false},
		{"a key of the ring went", func(n keyNews) { n.KeyRemoved(stored["old"].ID) }, false, false},
		{"a key went that only what was read may have", func(n keyNews) { n.KeyRemoved(stored["new"].ID) }, false, false},
		{"a key went that nobody has", func(n keyNews) { n.KeyRemoved(stored["elsewhere"].ID) }, false, false},
		{"changes were missed", keyNews.KeysMissed, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := &keys{changed: make(chan struct{}, 1)}
			if !k.take(ringOf(t, stored["old"], stored["user"]), 0) {
				t.Fatal("the first keyring was not taken")
			}
			number := k.number
			read := ringOf(t, stored["old"], stored["new"], stored["user"])
			test.heard(keyNews{k})
			if got := k.take(read, number); got != test.taken {
				t.Errorf("taken: %v, want %v", got, test.taken)
			}
			ring := k.ring.Load()
			if _, has := ring.find(account.KeyAccess, stored["new"].ID); has != test.taken {
				t.Errorf("the ring in use has the new key: %v, want %v", has, test.taken)
			}
			if ring.stale != test.stale {
				t.Errorf("the ring in use is stale: %v, want %v", ring.stale, test.stale)
			}
			// What is read after the news is taken, and is not stale.
			if !k.take(ringOf(t, stored["new"], stored["user"]), k.number) || k.ring.Load().stale {
				t.Error("what was read afterwards is not in use")
			}
		})
	}
}

// TestKeepKeys: a key that is the same stays the same signingKey, so that tokens in the cache stay good; one that is
// not there any more, or is another under the same id, is marked as removed, and one that was marked stays so.
func TestKeepKeys(t *testing.T) {
	stored := storedKeys(t, map[string]account.KeyUse{
		"a": account.KeyAccess, "b": account.KeyAccess, "user": account.KeyUser,
	})
	swapped := stored["b"]
	swapped.ID = stored["a"].ID
	later := stored["a"]
	later.CreatedAt = later.CreatedAt.Add(time.Second)
	otherUse := stored["a"]
	otherUse.Use = account.KeyUser
	for _, test := range []struct {
		name    string
		before  func(*signingKey) // what happened to the key before
		read    []account.Key
		same    bool // the key is the one of before
		removed bool // the one of before is marked
	}{
		{"there still", nil, []account.Key{stored["a"], stored["user"]}, true, false},
		{"there still, beside a new one", nil, []account.Key{stored["a"], stored["b"], stored["user"]}, true, false},
		{"gone", nil, []account.Key{stored["b"], stored["user"]}, false, true},
		{"another key pair under its id", nil, []account.Key{swapped, stored["user"]}, false, true},
		{"made at another time", nil, []account.Key{later, stored["user"]}, false, true},
		{"for another use", nil, []account.Key{stored["b"], otherUse}, false, true},
		{"removed, and back", func(k *signingKey) { k.removed.Store(true) },
			[]account.Key{stored["a"], stored["user"]}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			earlier, ring := ringOf(t, stored["a"], stored["user"]), ringOf(t, test.read...)
			old := earlier.access
			if test.before != nil {
				test.before(old)
			}
			ring.keep(earlier)
			got := ring.byID[old.id]
			if (got == old) != test.same {
				t.Errorf("the key is the one of before: %v, want %v", got == old, test.same)
			}
			if old.removed.Load() != test.removed {
				t.Errorf("the key of before is removed: %v, want %v", old.removed.Load(), test.removed)
			}
			for id, k := range ring.byID {
				if k.removed.Load() {
					t.Errorf("%s is in use and removed", id)
				}
			}
			for _, use := range keyUses {
				if signs := ring.signs(use); signs != ring.byID[signs.id] {
					t.Errorf("what signs %s tokens is not the key of that id", use)
				}
			}
		})
	}
}

// TestWithoutKey: what is left of a keyring when a key goes; the ring of before is as it was, for whoever has it.
func TestWithoutKey(t *testing.T) {
	stored := storedKeys(t, map[string]account.KeyUse{
		"old": account.KeyAccess, "new": account.KeyAccess, "user": account.KeyUser, "none": account.KeyUser,
	})
	for _, test := range []struct {
		name             string
		left, published  []string
		hasAccess, hasUs bool
	}{
		{"old", []string{"new", "user"}, []string{"new"}, true, true},
		{"new", []string{"old", "user"}, []string{"old"}, false, true},
		{"user", []string{"old", "new"}, []string{"new", "old"}, true, false},
		{"none", []string{"old", "new", "user"}, []string{"new", "old"}, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			ring := ringOf(t, stored["old"], stored["new"], stored["user"])
			published := string(ring.jwks)
			next := ring.without(stored[test.name].ID)
			var left []string
			for _, k := range next.kept {
				left = append(left, k.ID)
			}
			var want []string
			for _, name := range test.left {
				want = append(want, stored[name].ID)
				if next.byID[stored[name].ID] != ring.byID[stored[name].ID] {
					t.Errorf("the %s key is another one", name)
				}
			}
			if !slices.Equal(left, want) || len(next.byID) != len(want) {
				t.Errorf("%d keys, kept %v, want %v", len(next.byID), left, want)
			}
			if (next.signs(account.KeyAccess) != nil) != test.hasAccess || (next.signs(account.KeyUser) != nil) != test.hasUs {
				t.Errorf("access tokens are signed: %v, user tokens: %v", next.access != nil, next.user != nil)
			}
			at := -1
			for _, name := range test.published { // newest first
				i := strings.Index(string(next.jwks), stored[name].ID)
				if i <= at {
					t.Errorf("%s is not in its place in %s", name, next.jwks)
				}
				at = i
			}
			if n := strings.Count(string(next.jwks), `"kid"`); n != len(test.published) {
				t.Errorf("%d keys are published, want %d", n, len(test.published))
			}
			if len(ring.byID) != 3 || len(ring.kept) != 3 || ring.access == nil || ring.user == nil ||
				string(ring.jwks) != published {
				t.Error("the keyring of before has changed")
			}
		})
	}
}

// TestFindKeyByUse: a key is good for what it was made for alone.
func TestFindKeyByUse(t *testing.T) {
	stored := storedKeys(t, map[string]account.KeyUse{"access": account.KeyAccess, "user": account.KeyUser})
	ring := ringOf(t, stored["access"], stored["user"])
	for _, test := range []struct {
		use  account.KeyUse
		id   string
		want bool
	}{
		{account.KeyAccess, stored["access"].ID, true},
		{account.KeyUser, stored["user"].ID, true},
		{account.KeyAccess, stored["user"].ID, false},
		{account.KeyUser, stored["access"].ID, false},
		{account.KeyAccess, "", false},
	} {
		if _, found := ring.find(test.use, test.id); found != test.want {
			t.Errorf("%s key %q is found: %v, want %v", test.use, test.id, found, test.want)
		}
	}
}

// TestLoadKeysRefused: a store whose keys cannot be used, or read, is an error that names the key, and never a keyring.
func TestLoadKeysRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		spoil      func(t *testing.T, w *world)
	}{
		{"the store does not answer", "reading the signing keys", func(_ *testing.T, w *world) {
			w.store.keysDown.Store(true)
		}},
		{"a key of an unknown use", "unknown use", func(t *testing.T, w *world) {
			addSpoilt(t, w, func(k *account.Key) { k.Use = "other" })
		}},
		{"a key of another algorithm", "stored for algorithm", func(t *testing.T, w *world) {
			addSpoilt(t, w, func(k *account.Key) { k.Algorithm = algES256 })
		}},
		{"a key that is none", "PKCS #8", func(t *testing.T, w *world) {
			addSpoilt(t, w, func(k *account.Key) { k.Private = []byte("none") })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			before := w.ring()
			test.spoil(t, w)
			ring, err := loadKeys(t.Context(), w.cfg, w.store)
			if ring != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("keyring %v, error %v, want one with %q", ring, err, test.want)
			}
			if err := w.reload(t.Context()); err == nil {
				t.Error("the keys were reloaded")
			}
			if w.ring() != before || errors.Is(err, refusedKey) {
				t.Errorf("the keyring in use has changed, or this is a refusal: %v", err)
			}
		})
	}
}

func addSpoilt(t *testing.T, w *world, spoil func(*account.Key)) {
	t.Helper()
	k, err := newKey(account.KeyAccess, algEdDSA, start.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	spoil(&k)
	if _, err := w.store.AddNextKey(t.Context(), k, w.ring().access.id); err != nil {
		t.Fatal(err)
	}
}
