package region_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// A region file is arrays by name, which are written once and then read where they lie in the file.
func Example() {
	dir, err := os.MkdirTemp("", "region")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "numbers.region")

	var w region.Writer
	region.Add(&w, "squares", []uint64{0, 1, 4, 9, 16})
	if err := w.Commit(context.Background(), path, region.Meta{Attribution: "© contributors"}); err != nil {
		panic(err)
	}

	file, err := region.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Release()
	squares, err := region.Section[uint64](file, "squares")
	if err != nil {
		panic(err)
	}
	fmt.Println(squares.Len(), *squares.At(3))
	fmt.Println(file.Verify(context.Background()))
	// Output:
	// 5 9
	// <nil>
}
