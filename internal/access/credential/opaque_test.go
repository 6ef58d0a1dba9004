package credential

import (
	"crypto/sha256"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestOpaque: tokens have their form, are unique, and are of one kind. Every mistake of one character in one is found.
func TestOpaque(t *testing.T) {
	t.Parallel()
	prefixes, seen := []string{clientPrefix, serverPrefix, refreshPrefix, publishablePrefix}, map[string]bool{}
	for i := range 600 {
		prefix := prefixes[i%len(prefixes)]
		token := newOpaque(prefix)
		if !regexp.MustCompile(`^mp[ckrs]_[0-9A-Za-z]{49}$`).MatchString(token) || seen[token] {
			t.Fatalf("token %q has the wrong form, or came twice", token)
		}
		seen[token] = true
		for _, kind := range prefixes {
			hash, ok := parseOpaque(kind, token)
			if ok != (kind == prefix) || ok && hash != sha256.Sum256([]byte(token)) {
				t.Errorf("token %q as %s: %v", token, kind, ok)
			}
		}
	}
	token := newOpaque(clientPrefix)
	wrong := []string{" " + token, token + "\n", strings.ToUpper(token)}
	for i := range token {
		wrong = append(wrong, token[:i]+token[i+1:], token[:i])
		if i > 0 {
			wrong = append(wrong, token[:i-1]+token[i:i+1]+token[i-1:i]+token[i+1:])
		}
		for _, c := range base62 + "_- é" {
			wrong = append(wrong, token[:i]+string(c)+token[i+1:], token[:i]+string(c)+token[i:])
		}
	}
	for _, text := range wrong {
		if _, ok := parseOpaque(clientPrefix, text); ok && text != token {
			t.Errorf("%q is taken for good", text)
		}
	}
}

// TestAccountIDs: ids have their form, and later ones sort later.
func TestAccountIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := start.Add(time.Duration(rapid.Int64Range(2e9, 1e18).Draw(t, "since")))
		var ids []string
		for _, step := range rapid.SliceOfN(rapid.Int64Range(1, 3), 2, 20).Draw(t, "steps") {
			at = at.Add(time.Duration(step))
			ids = append(ids, NewAccountID(at))
		}
		if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) || !IsAccountID(ids[0]) {
			t.Fatalf("ids %v", ids)
		}
	})
	id := NewAccountID(time.Now())
	for _, text := range []string{"", "sa_", id[:len(id)-1], id + "x", id[3:], "gr_" + id[3:], id[:10] + "-" + id[11:],
		id[:24] + "é"} {
		if IsAccountID(text) {
			t.Errorf("%q is one", text)
		}
	}
}

// TestNewAccountTokens: an account holds the hashes of its tokens, and their last four characters.
func TestNewAccountTokens(t *testing.T) {
	t.Parallel()
	var a account.Account
	client, server, err := NewAccountTokens(&a)
	succeeds(err)
	same(t, "account", account.Account{ClientHash: hashOf(client), ServerHash: hashOf(server),
		ClientHint: client[len(client)-4:], ServerHint: server[len(server)-4:]}, a)
}
