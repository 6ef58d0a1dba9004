package app

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/mapsedge/caddy-maps/modules/options"
)

// RegionNames returns an error for a reference that is neither a region in the global option of the Caddyfile nor a
// file or URL, so that directives report it with its line. nil accepts all.
type RegionNames func(reference string) error

// IsRegionFile reports whether a directive's reference to a region is a file or a URL, rather than the name of a region
// of the global option.
func IsRegionFile(reference string) bool {
	return strings.ContainsAny(reference, `/\{`) || strings.HasSuffix(reference, regionExtension) ||
		extracts.MatchString(reference)
}

const regionExtension = ".region"

// RegionName is the name of a region that is given by its file or URL: the base name without `.region`.
func RegionName(file string) string {
	if where, err := options.Replace(file); err == nil {
		file = where
	}
	if u, err := url.Parse(file); err == nil && u.Host != "" {
		file = u.Path
	}
	return strings.TrimSuffix(path.Base(filepath.ToSlash(file)), regionExtension)
}

// checkRegionName refuses names that would be files, or could not be a part of a URL.
func checkRegionName(name string) error {
	if name == "" || IsRegionFile(name) || strings.ContainsAny(name, "%?#") {
		return fmt.Errorf("%q is not a name for a region: it must have none of / \\ { %% ? #, and not end like a file", name)
	}
	return nil
}

// RegionNamesOf returns the regions of a directive's Caddyfile.
func RegionNamesOf(h httpcaddyfile.Helper) RegionNames {
	known := slices.Sorted(maps.Keys(globalOption(h).Regions))
	return func(reference string) error {
		switch {
		case slices.Contains(known, reference):
			return nil
		case !IsRegionFile(reference):
			return noRegion(reference, known)
		case hasPlaceholder(reference):
			return nil // it is checked when the configuration is loaded
		}
		config := RegionConfig{Path: reference}
		_, err := config.check(reference)
		return withoutPath(err)
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
