package app

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// RegionNames are the regions that the global option of a Caddyfile has. A directive asks them, so that a name that is
// none of them is reported with its line; nil knows no Caddyfile and takes any name.
type RegionNames func(name string) error

// RegionNamesOf returns the regions of the Caddyfile that a directive stands in.
func RegionNamesOf(h httpcaddyfile.Helper) RegionNames {
	var app App
	if option, ok := h.Option("maps").(httpcaddyfile.App); ok {
		_ = json.Unmarshal(option.Value, &app) // it was written by parseGlobalOption
	}
	known := slices.Sorted(maps.Keys(app.Regions))
	return func(name string) error {
		if slices.Contains(known, name) {
			return nil
		}
		return noRegion(name, known)
	}
}

// Check finds a name that no region has.
func (n RegionNames) Check(names ...string) error {
	if n == nil {
		return nil
	}
	for _, name := range names {
		if err := n(name); err != nil {
			return err
		}
	}
	return nil
}

// CheckModule is Check for a module that was read from the Caddyfile, if it works on regions.
func (n RegionNames) CheckModule(module any) error {
	if regional, ok := module.(interface{ RegionNames() []string }); ok {
		return n.Check(regional.RegionNames()...)
	}
	return nil
}
