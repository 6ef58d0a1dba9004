package credential

import (
	"crypto/sha256"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

var prefixes = []string{clientPrefix, serverPrefix, refreshPrefix}

func TestOpaqueForm(t *testing.T) {
	form := regexp.MustCompile(`^mp[csr]_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for range 200 {
		for _, prefix := range prefixes {
			token := newOpaque(prefix)
			if !form.MatchString(token) || !strings.HasPrefix(token, prefix) {
				t.Fatalf("token %q has the wrong form", token)
			}
			if seen[token] {
				t.Fatal("a token came twice")
			}
			seen[token] = true
			hash, ok := parseOpaque(prefix, token)
			if !ok || hash != sha256.Sum256([]byte(token)) {
				t.Fatalf("token %q does not parse", token)
			}
			for _, other := range prefixes {
				if _, ok := parseOpaque(other, token); ok != (other == prefix) {
					t.Errorf("token %q as %s: %v", token, other, ok)
				}
			}
		}
	}
}

// TestOpaqueTypos makes every mistake of one character that a person can make, in one token.
func TestOpaqueTypos(t *testing.T) {
	token := newOpaque(clientPrefix)
	wrong := func(what, typo string) {
		if _, ok := parseOpaque(clientPrefix, typo); ok && typo != token {
			t.Errorf("%s: %q is taken for good", what, typo)
		}
	}
	for i := range token {
		wrong("left out", token[:i]+token[i+1:])
		wrong("cut", token[:i])
		if i > 0 {
			swapped := []byte(token)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			wrong("swapped", string(swapped))
		}
		for _, c := range base62 + "_- é" {
			wrong("changed", token[:i]+string(c)+token[i+1:])
			wrong("put in", token[:i]+string(c)+token[i:])
		}
	}
	wrong("space", " "+token)
	wrong("line", token+"\n")
	wrong("case", strings.ToUpper(token))
}

// TestRandomEvenly draws many characters: each of the 62 must come about as often as the others.
func TestRandomEvenly(t *testing.T) {
	const draws = 62 * 2000
	counts := map[byte]int{}
	for _, c := range appendRandom(nil, draws) {
		counts[c]++
	}
	for _, c := range []byte(base62) {
		// Six standard deviations of a fair draw around 2000.
		if n := counts[c]; n < 1730 || n > 2270 {
			t.Errorf("character %c came %d times in %d", c, n, draws)
		}
	}
}

func FuzzParseOpaque(f *testing.F) {
	for _, prefix := range prefixes {
		token := newOpaque(prefix)
		for _, seed := range []string{token, token[:20], token + token, strings.ToLower(token), prefix, prefix + strings.Repeat("0", 49)} {
			f.Add(prefix, seed)
		}
	}
	f.Fuzz(func(t *testing.T, prefix, token string) {
		if !slices.Contains(prefixes, prefix) {
			return
		}
		hash, ok := parseOpaque(prefix, token)
		if !ok {
			if hash != (account.Hash{}) {
				t.Error("a malformed token has a hash")
			}
			return
		}
		if len(token) != opaqueLen || !strings.HasPrefix(token, prefix) || hash != sha256.Sum256([]byte(token)) {
			t.Errorf("%q is taken for a token of kind %s", token, prefix)
		}
	})
}

func TestAccountIDsSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {

		at := start.Add(time.Duration(rapid.Int64Range(2e9, 1e18).Draw(t, "since")))
		var ids []string
		for _, step := range rapid.SliceOfN(rapid.Int64Range(1, 3), 2, 20).Draw(t, "steps") {
			at = at.Add(time.Duration(step))
			ids = append(ids, NewAccountID(at))
		}
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Fatalf("ids of later accounts do not sort later: %v", ids)
		}
		if !regexp.MustCompile(`^sa_[0-9A-Za-z]{22}$`).MatchString(ids[0]) {
			t.Fatalf("id %q has the wrong form", ids[0])
		}
	})
}

func TestNewAccountTokens(t *testing.T) {
	var a account.Account
	client, server, err := NewAccountTokens(&a)
	if err != nil {
		t.Fatal(err)
	}
	clientHash, ok := parseOpaque(clientPrefix, client)
	serverHash, ok2 := parseOpaque(serverPrefix, server)
	if !ok || !ok2 || a.ClientHash != clientHash || a.ServerHash != serverHash {
		t.Error("the account does not hold its tokens' hashes")
	}
	if !strings.HasSuffix(client, a.ClientHint) || !strings.HasSuffix(server, a.ServerHint) || len(a.ClientHint) != 4 || len(a.ServerHint) != 4 {
		t.Errorf("hints %q and %q are not the last four characters", a.ClientHint, a.ServerHint)
	}
}

func TestRefusalsMatchErrInvalid(t *testing.T) {
	if !errors.Is(refusedExpired, ErrInvalid) || errors.Is(refusedExpired, refusedSuspended) || !errors.Is(refusedExpired, refusedExpired) {
		t.Error("a refusal matches ErrInvalid and itself, and no other")
	}
	if !errors.Is(ErrReused, ErrInvalid) || errors.Is(refusedExpired, ErrReused) || errors.Is(ErrNoScope, ErrInvalid) || errors.Is(ErrInvalid, ErrReused) {
		t.Error("ErrReused must match ErrInvalid, ErrNoScope must not")
	}
}

func TestIsAccountID(t *testing.T) {
	id := NewAccountID(time.Now())
	if !IsAccountID(id) {
		t.Errorf("%s is none", id)
	}
	for _, text := range []string{"", "sa_", id[:len(id)-1], id + "x", id[3:], "gr_" + id[3:], id[:10] + "-" + id[11:],
		id[:24] + "é"} {
		if IsAccountID(text) {
			t.Errorf("%q is one", text)
		}
	}
}
