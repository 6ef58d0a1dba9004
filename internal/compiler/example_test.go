package compiler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// An extract becomes one file with all that the engines read.
func ExampleBuild() {
	dir, err := os.MkdirTemp("", "village")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	path := filepath.Join(dir, "village.region")
	report, err := compiler.Build(context.Background(), compiler.Options{
		Inputs: []string{filepath.Join("..", "testkit", "testdata", "village.osm")}, Output: path,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Counts.Nodes, "nodes,", report.Counts.Ways, "ways")

	file, err := region.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Release()
	info, err := file.Info()
	if err != nil {
		panic(err)
	}
	fmt.Println(info.Attribution)
	// Output:
	// 14 nodes, 4 ways
	// © OpenStreetMap contributors
}
