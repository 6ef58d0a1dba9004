// Command countrygen compiles the outlines of the world's countries (Natural Earth, 1:10 million, public domain) into
// the grid that internal/geo/country embeds, and draws positions with known answers for that package's tests. Same
// input, same bytes.
//
// Natural Earth comes as data of the Go module github.com/sams96/rgeo. The format of the grid is described where it is
// read, in internal/geo/country/grid.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	output := flag.String("output", "../internal/geo/country", "folder of the package that embeds the grid")
	flag.Parse()
	if err := generate(*output); err != nil {
		fmt.Fprintln(os.Stderr, "countrygen:", err)
		os.Exit(1)
	}
}

// generate writes countries.bin and testdata/samples.bin below a folder.
func generate(folder string) error {
	territories, err := readTerritories()
	if err != nil {
		return err
	}
	grid, stats := buildGrid(territories)
	if err := os.WriteFile(filepath.Join(folder, "countries.bin"), grid, 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "testdata"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "testdata", "samples.bin"), drawSamples(territories), 0o644); err != nil {
		return err
	}
	fmt.Printf("%d countries, %d bytes: %v\n", len(territories), len(grid), stats)
	return nil
}
