package accounttest

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) account.Store { return NewMemory() })
}

// TestLive makes sure that a Live is as good a store as the one under it.
func TestLive(t *testing.T) {
	Run(t, func(*testing.T) account.Store { return account.NewLive(NewMemory()) })
}
