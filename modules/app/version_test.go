package app

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	const hash = "8e2107e0c0e5a1b2c3d4e5f60718293a4b5c6d7e"
	revision := debug.BuildSetting{Key: "vcs.revision", Value: hash}
	other := debug.Module{Path: "caddy", Version: "(devel)"}
	dependency := func(version string, replace *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: other, Settings: []debug.BuildSetting{revision}, Deps: []*debug.Module{
			{Path: module + "-more", Version: "v9.9.9"}, {Path: module, Version: version, Replace: replace},
		}}
	}
	program := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Path: module, Version: version}, Settings: settings}
	}
	for _, test := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"built from a tag", program("v0.2.0", revision), "v0.2.0"},
		{"built from a commit", program("v0.2.1-0.20261123081420-8e2107e0c0e5+dirty", revision),
			"v0.2.1-0.20261123081420-8e2107e0c0e5+dirty"},
		{"only a commit", program("(devel)", revision), "(devel) 8e2107e0c0e5"},
		{"with changes", program("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			"(devel) 8e2107e0c0e5+dirty"},
		{"without changes", program("", debug.BuildSetting{Key: "vcs.modified", Value: "false"}, revision),
			"(devel) 8e2107e0c0e5"},
		{"a directory that nothing is known of", program("(devel)"), "(devel)"},
		{"built by xcaddy", dependency("v0.2.0", nil), "v0.2.0"},
		// The commit is that of the main module, which is another.
		{"a directory in xcaddy", dependency("v0.2.0", &debug.Module{Path: "."}), "(devel)"},
		{"a fork", dependency("v0.2.0", &debug.Module{Path: "example.com/fork", Version: "v0.3.0"}),
			"v0.3.0 of example.com/fork"},
		{"not built in", &debug.BuildInfo{Main: other}, "unknown"},
		{"nothing is known", new(debug.BuildInfo), "unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := versionOf(test.info); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// This test is built from a directory of caddy-maps itself.
func TestOfThisProgram(t *testing.T) {
	if got := Version(); got == unknownVersion || got == "" {
		t.Errorf("%q", got)
	}
}
