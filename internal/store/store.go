// Package store says what a store of the maps app keeps. Its subdirectories hold the stores.
package store

import (
	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Store keeps accounts, and what they used.
type Store interface {
	account.Store
	usage.Store
}
