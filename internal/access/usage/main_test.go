package usage_test

import (
	"os"
	"testing"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

func TestMain(m *testing.M) {
	usage.SetOpenStore(func(path string) (interface {
		usage.Store
		Close() error
	}, error) {
		return store.OpenSQLite(path, zap.NewNop())
	})
	os.Exit(m.Run())
}
