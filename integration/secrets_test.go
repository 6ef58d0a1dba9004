package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// used are all tokens that any test has seen.
var used struct {
	sync.Mutex
	tokens map[string]bool
}

// secret notes a token, so that what the servers leave behind is searched for it.
func secret(token string) string {
	for _, part := range revealing(token) {
		if len(part) < indexed || strings.ContainsFunc(part, func(c rune) bool { return c > 255 || !inTokens[byte(c)] }) {
			panic(fmt.Sprintf("%q cannot be searched for", part))
		}
	}
	used.Lock()
	defer used.Unlock()
	if used.tokens == nil {
		used.tokens = make(map[string]bool)
	}
	used.tokens[token] = true
	return token
}

// searchSecrets looks through all that the shared server left behind, after all tests.
func searchSecrets() error {
	if shared.server == nil {
		return nil
	}
	return shared.server.searchSecrets()
}

// searchSecrets reports every token that is in clear in a file of the server: its log, its store, and what Caddy saves.
func (s *server) searchSecrets() error {
	index := indexSecrets()
	var found []error
	err := filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(path, ".region") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if i := index.find(data); i >= 0 {
			line := data[bytes.LastIndexByte(data[:i], '\n')+1 : i]
			found = append(found, fmt.Errorf("%s holds a token in clear, after %q", path, line[max(0, len(line)-300):]))
		}
		return nil
	})
	return errors.Join(append(found, err)...)
}

// secretIndex finds any of many tokens in one pass, because thousands of tokens in a large log would take minutes.
type secretIndex map[[indexed]byte][][]byte

// indexed is the number of bytes at the beginning of what is searched for; nothing that is secret is shorter.
const indexed = 12

func indexSecrets() secretIndex {
	used.Lock()
	defer used.Unlock()
	index := make(secretIndex)
	for token := range used.tokens {
		for _, part := range revealing(token) {
			key := [indexed]byte([]byte(part))
			index[key] = append(index[key], []byte(part))
		}
	}
	return index
}

// find returns where the first token is, or -1. Tokens consist of letters, digits and a few signs; only runs of these are looked at.
func (x secretIndex) find(data []byte) int {
	run := 0
	for i, c := range data {
		if !inTokens[c] {
			run = 0
			continue
		}
		if run++; run < indexed {
			continue
		}
		at := i + 1 - indexed
		for _, part := range x[[indexed]byte(data[at:])] {
			if bytes.HasPrefix(data[at:], part) {
				return at
			}
		}
	}
	return -1
}

var inTokens = func() (in [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_." {
		in[c] = true
	}
	return in
}()

// revealing lists the parts of a token that must not be seen: of a JWT the signature as well as the whole.
func revealing(token string) []string {
	if i := strings.LastIndexByte(token, '.'); i >= 0 {
		return []string{token, token[i+1:]}
	}
	return []string{token}
}

// The search finds tokens.
func TestSearchFindsSecrets(t *testing.T) {
	t.Parallel()
	s := &server{dir: t.TempDir()}
	for i, text := range []string{"uri=/x?apiKey=%s&y", "body={\"client_token\":\"%s\"}"} {
		token := secret(fmt.Sprintf("mpc_search-%d", i))
		path := filepath.Join(s.dir, "some.log")
		if err := os.WriteFile(path, fmt.Appendf(nil, "one line\n"+text+"\n", token), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.searchSecrets(); err == nil {
			t.Errorf("%q was not found in %s", token, text)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := s.searchSecrets(); err != nil {
			t.Error(err)
		}
	}
}

// secretsOf notes the tokens of an answer to an exchange, a refresh or a creation.
func secretsOf(t testing.TB, body string) {
	t.Helper()
	var fields struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"accessToken", "refreshToken", "clientToken", "serverToken"} {
		if token, ok := fields.Data[name].(string); ok {
			secret(token)
		}
	}
}
