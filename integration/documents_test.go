package integration

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// documents returns the paths of the repository's documents, relative to its root.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"docs", "examples"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".md" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, path := range paths {
		paths[i] = filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
	}
	return paths
}

// readBlocks returns the blocks of code of one kind in a document.
func readBlocks(t *testing.T, document, kind string) (blocks []testkit.FencedBlock) {
	t.Helper()
	all, err := testkit.FencedBlocks(readFile(t, document))
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
