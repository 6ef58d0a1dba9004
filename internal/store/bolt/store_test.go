package bolt

import (
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/internal/usage/usagetest"
)

func TestStore(t *testing.T) {
	accounttest.Run(t, func(t *testing.T) account.Store { return open(t, filepath.Join(t.TempDir(), "accounts.db")) })
}

func TestUsage(t *testing.T) {
	usagetest.Run(t, func(t *testing.T) usage.Store { return open(t, filepath.Join(t.TempDir(), "accounts.db")) })
}

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
