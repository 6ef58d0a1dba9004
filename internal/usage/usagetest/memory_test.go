package usagetest

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/usage"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) usage.Store { return NewMemory() })
}
