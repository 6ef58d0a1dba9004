package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
)

func TestTiles(t *testing.T) {
	region, dir := villageRegion(t), t.TempDir()
	var archives [2][]byte
	for i := range archives {
		target := filepath.Join(dir, "village.pmtiles")
		out, errs, err := run(t, "", "tiles", region, "--output", target, "--max-zoom", "16")
		if err != nil || !strings.Contains(out, "tiles up to zoom 16") || !strings.Contains(errs, "tiles: done") {
			t.Fatalf("%q, %q, %v", out, errs, err)
		}
		a := tilestest.ReadPMTiles(t, target)
		if a.MinZoom != 0 || a.MaxZoom != 16 || a.Metadata["name"] != "village" || a.Metadata["vector_layers"] == nil ||
			a.Metadata["attribution"] != "© OpenStreetMap contributors" {
			t.Errorf("%d to %d, %v", a.MinZoom, a.MaxZoom, a.Metadata)
		}
		if archives[i], err = os.ReadFile(target); err != nil {
			t.Fatal(err)
		}
	}
	if string(archives[0]) != string(archives[1]) {
		t.Error("one region makes two archives")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestTilesRefused(t *testing.T) {
	region, dir := villageRegion(t), t.TempDir()
	bare, target := filepath.Join(dir, "bare.region"), filepath.Join(dir, "out.pmtiles")
	testregion.Write(t, bare, time.Time{}, 1, testregion.Dover())
	link := filepath.Join(t.TempDir(), "link.region")
	if err := os.Link(region, link); err != nil {
		t.Fatal(err)
	}
	for says, args := range map[string][]string{
		"has no map":    {bare, "--output", target},
		"max-zoom":      {region, "--output", target, "--max-zoom", "17"},
		"output":        {region},
		"one region":    {region, region, "--output", target},
		"no such file":  {filepath.Join(dir, "none.region"), "--output", target},
		"not a region":  {os.Args[0], "--output", target},
		"no such file ": {region, "--output", filepath.Join(dir, "none", "out.pmtiles")},
		"made from":     {region, "--output", region},
		"made from ":    {link, "--output", region},
		"not a regular": {region, "--output", dir},
	} {
		_, _, err := run(t, "", append([]string{"tiles"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(says)) {
			t.Errorf("%q: %v", says, err)
		}
	}
	if _, _, err := run(t, "", "info", region, "--verify"); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := runContext(t, ended, "", "tiles", region, "--output", target); err == nil || err.Error() != "interrupted" {
		t.Errorf("interrupted: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
