package testregion

import (
	"context"
	"os"
	"path/filepath"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// Village compiles the village and returns the path of the region file, and a function that removes it. It panics if
// that fails, since examples have no testing.T.
func Village() (path string, remove func()) {
	dir, err := os.MkdirTemp("", "village")
	if err != nil {
		panic(err)
	}
	extract, path := filepath.Join(dir, "village.osm"), filepath.Join(dir, "village.region")
	if err := os.WriteFile(extract, testkit.Data("village.osm"), 0o600); err != nil {
		panic(err)
	}
	options := compiler.Options{Inputs: []string{extract}, Output: path}
	if _, err := compiler.Build(context.Background(), options); err != nil {
		panic(err)
	}
	return path, func() { os.RemoveAll(dir) }
}
