package app

import "runtime/debug"

const (
	// module is the path of caddy-maps as a main module or a dependency.
	module = "github.com/mapsedge/caddy-maps"
	// untagged is Go's name of a version without a tag, such as that of a directory.
	untagged       = "(devel)"
	unknownVersion = "unknown"

	commitLength = 12 // as in Go's pseudo-versions
)

// Version returns the version of caddy-maps in this program: a tag such as "v0.2.0" or a pseudo-version, of a fork
// followed by its path; "(devel)" of a directory without either, followed by the commit where that is known; or
// "unknownVersion".
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if info.Main.Path == module {
		if named(info.Main.Version) {
			return info.Main.Version
		}
		return untagged + commit(info.Settings)
	}
	for _, dependency := range info.Deps {
		if dependency.Path != module {
			continue
		}
		switch r := dependency.Replace; {
		case r == nil && named(dependency.Version):
			return dependency.Version
		case r != nil && named(r.Version):
			return r.Version + " of " + r.Path
		}
		// It is replaced by a directory, so the version is not the required one.
		return untagged
	}
	return unknownVersion
}

func named(version string) bool { return version != "" && version != untagged }

// commit is the commit of the main module, after a space, or "".
func commit(settings []debug.BuildSetting) string {
	var revision, dirty string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), commitLength)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return ""
	}
	return " " + revision + dirty
}
