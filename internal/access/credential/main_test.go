package credential

import (
	"os"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
