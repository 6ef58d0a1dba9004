package app

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// RegionNames returns an error for a name that is not a region in the global option of the Caddyfile, so that
// directives report it with its line. nil accepts any name.
type RegionNames func(name string) error

// RegionNamesOf returns the regions of a directive's Caddyfile.
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

// Check returns an error for the first name that is not a region.
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

// CheckModule is Check for the regions of a module from the Caddyfile, if it has any.
func (n RegionNames) CheckModule(module any) error {
	if regional, ok := module.(interface{ RegionNames() []string }); ok {
		return n.Check(regional.RegionNames()...)
	}
	return nil
}
