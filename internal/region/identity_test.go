package region_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// A file whose header is that of another one, as two halves of a download make it, is found out, though each of its
// blocks matches its checksum.
func TestVerifyWhole(t *testing.T) {
	dir := t.TempDir()
	var contents [2][]byte
	for i := range contents {
		path := filepath.Join(dir, "x.region")
		testregion.Write(t, path, time.Date(2024+i, 1, 1, 0, 0, 0, 0, time.UTC), 1, testregion.Dover())
		var err error
		if contents[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	mixed := slices.Concat(contents[0][:region.AnnouncementSize], contents[1][region.AnnouncementSize:])
	for name, tc := range map[string]struct {
		content []byte
		damaged bool
	}{"whole": {contents[0], false}, "mixed": {mixed, true}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, tc.content, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := region.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Release()
		if err := file.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var damage *region.DamageError
		if err := file.VerifyWhole(t.Context()); errors.As(err, &damage) != tc.damaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}
