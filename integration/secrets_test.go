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

// searchSecrets reports every token that stands in clear in a file of the server: its log, its store, and what Caddy saves.
func (s *server) searchSecrets() error {
	used.Lock()
	defer used.Unlock()
	var found []error
	err := filepath.WalkDir(s.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || strings.HasSuffix(path, ".region") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for token := range used.tokens {
			for _, part := range revealing(token) {
				if i := bytes.Index(data, []byte(part)); i >= 0 {
					line := data[bytes.LastIndexByte(data[:i], '\n')+1 : i]
					found = append(found, fmt.Errorf("%s holds a token in clear, after %q", path, line[max(0, len(line)-300):]))
					break
				}
			}
		}
		return nil
	})
	return errors.Join(append(found, err)...)
}

// revealing lists the parts of a token that must not be seen: of a JWT the signature as well as the whole.
func revealing(token string) []string {
	if i := strings.LastIndexByte(token, '.'); i >= 0 {
		return []string{token, token[i+1:]}
	}
	return []string{token}
}

// Whoever searches must be able to find.
func TestSearchFindsSecrets(t *testing.T) {
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
