package mapsapp

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"
)

// RegionConfig is one region of the configuration.
type RegionConfig struct {
	// The region file, made by `caddy maps build`.
	Path string `json:"path,omitempty"`
}

// Regions is the set of open regions.
type Regions struct{}

// Region is one open region.
type Region struct{}

// RegionStatus tells how a region stands.
type RegionStatus struct {
	Name string `json:"name"`
}

func (a *App) provisionRegions(caddy.Context) error {
	for name := range a.Regions {
		return fmt.Errorf("region %s: regions cannot be opened", name)
	}
	return nil
}

func (a *App) startRegions() error { return nil }

func (a *App) cleanupRegions() {}

// Region returns a region by its name.
func (a *App) Region(name string) (*Region, error) { return nil, fmt.Errorf("no region %q", name) }

// RegionStatus lists the regions.
func (a *App) RegionStatus() []RegionStatus { return []RegionStatus{} }

// ReloadRegions opens changed region files.
func (a *App) ReloadRegions() error { return nil }
