package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// readBlocks returns the blocks of code of one kind in a document of the repository.
func readBlocks(t *testing.T, document, kind string) (blocks []testkit.FencedBlock) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(document)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := testkit.FencedBlocks(string(text))
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	for _, b := range all {
		if b.Kind == kind {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("%s shows no %s", document, kind)
	}
	return blocks
}
