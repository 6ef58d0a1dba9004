// Package dataset finds, changes and compiles the maps that evaluations run on: Delaware from the Go modules, Porto
// from a directory, and larger maps made of copies. It makes no drives. Start with Compile.
package dataset

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// product is the module that is evaluated.
const product = "github.com/mapsedge/caddy-maps"

// osmModule ships an extract of Delaware among its test data.
const osmModule = "github.com/paulmach/osm"

// Delaware is the path of an extract of Delaware, which comes with the modules that the product is built of.
func Delaware(ctx context.Context) (string, error) {
	if out, err := exec.CommandContext(ctx, "go", "mod", "download", osmModule).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go mod download %s: %w: %s", osmModule, err, out)
	}
	directory, err := moduleDirectory(ctx, osmModule)
	return filepath.Join(directory, "testdata", "delaware-latest.osm.pbf"), err
}

// Caddy builds the product's own server, for testregion.Command, in a directory.
func Caddy(ctx context.Context, directory string) (binary string, err error) {
	source, err := moduleDirectory(ctx, product)
	if err != nil {
		return "", err
	}
	if directory, err = filepath.Abs(directory); err != nil {
		return "", err
	}
	binary = filepath.Join(directory, "caddy")
	// Its dependencies are those of its own go.mod.
	build := exec.CommandContext(ctx, "go", "-C", source, "build", "-o", binary, "./caddy")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return binary, nil
}

// moduleDirectory is where the source of a module is.
func moduleDirectory(ctx context.Context, module string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", module, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Files of a directory with benchmark data.
const (
	porto       = "porto.osm.pbf"
	portoDrives = "porto_drives.json.gz"
	portoTrips  = "porto_trips.json"
)

// Porto are the paths of an extract of greater Porto, of drives on it whose truth is known, and of recorded trips.
func Porto(directory string) (extract, drives, trips string) {
	return filepath.Join(directory, porto), filepath.Join(directory, portoDrives), filepath.Join(directory, portoTrips)
}

// Network is a compiled map, as far as roads go.
type Network struct {
	*roadgraph.Graph // for cars
	Networks         matching.Networks
	Build            testregion.Build
	Roads            int64 // bytes of the region file that matching reads

	file *region.File
}

// Compile writes a region file of an extract into a directory, opens it, and checks all of it, so that no later
// measurement pays for its first read.
func Compile(ctx context.Context, build testregion.Builder, extract, directory string) (*Network, error) {
	out, err := os.CreateTemp(directory, "*.region")
	if err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	n := &Network{}
	if n.Build, err = build(ctx, extract, out.Name()); err != nil {
		return nil, err
	}
	if n.file, err = region.Open(out.Name()); err != nil {
		return nil, err
	}
	if err := n.open(ctx); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

func (n *Network) open(ctx context.Context) error {
	if err := n.file.Verify(ctx); err != nil {
		return err
	}
	info, err := n.file.Info()
	if err != nil {
		return err
	}
	for _, s := range info.Sections {
		if strings.HasPrefix(s.Name, "roads.") {
			n.Roads += s.Bytes
		}
	}
	n.Networks, err = matching.OpenNetworks(n.file)
	n.Graph = n.Networks[matching.Car]
	return err
}

// Close unmaps the region file. The graph must not be used any more.
func (n *Network) Close() { n.file.Release() }
